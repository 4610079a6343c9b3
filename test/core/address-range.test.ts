import { BlockList, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { holdsAddress, parseRange } from '../../src/core/address-range.ts'

/** 16-bit groups with many zeros, so that shortenable runs are common. */
const group = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(0xffff) })
/** Two bits of the first group are set, so one flip keeps it above zero: leading zeros could turn it into IPv4. */
const ipv6 = fc
  .tuple(fc.nat(0xffff), fc.array(group, { minLength: 7, maxLength: 7 }))
  .map(([first, rest]) => [first | 0x6000, ...rest])
const ipv4 = fc.array(fc.nat(0xffff), { minLength: 2, maxLength: 2 })

/** Address text without shortening. */
const plain = (groups: readonly number[]) =>
  groups.length === 2
    ? groups.flatMap((each) => [each >> 8, each & 255]).join('.')
    : groups.map((each) => each.toString(16)).join(':')
/** The groups with all bits beyond the prefix cleared, computed on text. */
const networkOf = (groups: readonly number[], prefix: number) => {
  const bits = groups.map((each) => each.toString(2).padStart(16, '0')).join('')
  const kept = bits.slice(0, prefix).padEnd(bits.length, '0')
  return groups.map((_, i) => Number.parseInt(kept.slice(i * 16, i * 16 + 16), 2))
}
const withBitFlipped = (groups: readonly number[], at: number) =>
  groups.map((each, i) => (i === at >> 4 ? each ^ (0x8000 >> (at & 15)) : each))

describe('address range', () => {
  it.each([
    [ipv4, 32, 'ipv4'],
    [ipv6, 128, 'ipv6'],
  ] as const)('holds what Node’s own lists hold (%#)', (addresses, bits, family) => {
    fc.assert(
      fc.property(addresses, fc.nat(bits), fc.nat(bits - 1), addresses, (base, prefix, flipped, other) => {
        const network = plain(networkOf(base, prefix))
        const parsed = parseRange(`${network}/${prefix}`)
        const list = new BlockList()
        list.addSubnet(network, prefix, family)
        for (const address of [base, withBitFlipped(base, flipped), other].map(plain)) {
          expect(holdsAddress([parsed.ok ? parsed.value : ''], address)).toBe(list.check(address, family))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('has one stored form for every notation, with the same meaning', () => {
    fc.assert(
      fc.property(ipv6, fc.nat(128), (base, prefix) => {
        const network = networkOf(base, prefix)
        const kept = parseRange(`${plain(network)}/${prefix}`)
        const [text = ''] = kept.ok ? kept.value.split('/') : []
        expect(isIPv6(text)).toBe(true)
        expect(new URL(`http://[${plain(network)}]`).hostname).toBe(`[${text}]`)
        expect(parseRange(`${text.toUpperCase()}/${prefix}`)).toEqual(kept)
      }),
    )
  })

  it('has no bits beyond its prefix', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), fc.nat(127), (base, at) => {
        const bit = at % (base.length * 16)
        const wrong = withBitFlipped(networkOf(base, bit), bit)
        const parsed = parseRange(`${plain(wrong)}/${bit}`)
        expect(parsed.ok).toBe(false)
        const named = parsed.ok ? '' : (/Write (\S+)$/.exec(parsed.error)?.[1] ?? '')
        expect(parseRange(named)).toEqual({ ok: true, value: named })
      }),
    )
  })

  it.each([
    ['192.0.2.7', '192.0.2.7/32'],
    ['2001:DB8::1', '2001:db8::1/128'],
    ['::/0', '::/0'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['64:ff9b::192.0.2.0/120', '64:ff9b::c000:200/120'],
  ])('%s is kept as %s', (text, kept) => {
    expect(parseRange(text)).toEqual({ ok: true, value: kept })
  })

  it.each([
    ...['', ' 10.0.0.1'],
    ...'x 10.0.0.0/33 10.0.0.0/-1 10.0.0.0/08 10.0.0.0/8/8 10.0.0 010.0.0.1 256.0.0.1'.split(' '),
    ...'::/129 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4:5:6:7::8 1::2::3 :1:: 12345:: fe80::1%eth0'.split(' '),
    ...'1.2.3.4:: ::1.2.3.4:5 ::ffff:10.0.0.0/8'.split(' '),
  ])('%j is none', (text) => {
    expect(parseRange(text).ok).toBe(false)
    expect(holdsAddress(['0.0.0.0/0', '::/0'], text.split('/')[0] ?? '')).toBe(
      ['10.0.0.0', '::', '::ffff:10.0.0.0'].includes(text.split('/')[0] ?? ''),
    )
  })

  it('never matches the other address family', () => {
    expect(holdsAddress(['::/0'], '192.0.2.1')).toBe(false)
    expect(holdsAddress(['::/0'], '::ffff:192.0.2.1')).toBe(false)
    expect(holdsAddress(['0.0.0.0/0'], '::ffff:c000:201')).toBe(true)
    expect(holdsAddress(['0.0.0.0/0'], '2001:db8::1')).toBe(false)
    expect(holdsAddress([], '192.0.2.1')).toBe(false)
  })
})
