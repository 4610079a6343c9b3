// Logs by an ABI: known ones, those that do not fit, and those that were made to hurt.

import { describe, expect, it } from 'vitest'
import { readAbi } from '../../../src/pipelines/evm/abi.ts'
import { AbiDecoder } from '../../../src/pipelines/evm/decode.ts'

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const word = (value: bigint | number | string) =>
  typeof value === 'string' ? value.padStart(64, '0') : BigInt(value).toString(16).padStart(64, '0')
const topic = (value: bigint | number | string) => `0x${word(value)}`
const event = (name: string, ...inputs: object[]) => ({ type: 'event', name, inputs })
const input = (name: string, type: string, more = {}) => ({ name, type, ...more })
const indexed = { indexed: true }
const decoder = (...abi: object[]) => {
  const read = readAbi({ abi })
  if (!read.ok) throw new Error(read.error.message)
  return new AbiDecoder(read.value)
}
const from = input('from', 'address', indexed)
const to = input('to', 'address', indexed)
const COIN = event('Transfer', from, to, input('value', 'uint256'))
const THING = event('Transfer', from, to, input('tokenId', 'uint256', indexed))
const ALICE = 'aA'.repeat(20)
const BOB = 'bb'.repeat(20)
const sent = [TRANSFER, topic(ALICE.toLowerCase()), topic(BOB)]

/** Of an event with one input: what its data are read as. */
const one = (type: string, data: string, more = {}) => {
  const own = decoder(event('E', input('a', type, more)))
  return own.decode([own.selectors[0]!], data)?.args.a
}

describe('a log', () => {
  it('of a known token of either standard is decoded, whatever its size', () => {
    const both = decoder(COIN, THING)
    expect(both.selectors).toEqual([TRANSFER])
    expect(both.decode(sent, topic(2n ** 256n - 1n))).toEqual({
      event: 'Transfer',
      signature: 'Transfer(address,address,uint256)',
      args: { from: `0x${'aa'.repeat(20)}`, to: `0x${BOB}`, value: String(2n ** 256n - 1n) },
    })
    expect(both.decode([...sent, topic(7)], '0x')?.args).toMatchObject({ tokenId: '7' })
  })

  it.each([
    ['data that are too short', sent, '0x01'],
    ['no data', sent, '0x'],
    ['too few topics', sent.slice(0, 2), topic(1)],
    ['too many topics', [...sent, topic(1)], topic(1)],
    ['another topic', [topic(1)], topic(1)],
    ['no topic', [], topic(1)],
  ])('with %s does not match', (_, topics, data) => expect(decoder(COIN).decode(topics, data)).toBeNull())

  // PIPE-24
  it('shows every type as JSON that keeps it', () => {
    expect(one('uint8', topic(255))).toBe('255')
    expect(one('int64', `0x${'f'.repeat(64)}`)).toBe('-1')
    expect(one('bool', topic(1))).toBe(true)
    expect(one('bytes4', `0xdeadbeef${'0'.repeat(56)}`)).toBe('0xdeadbeef')
    const text = Buffer.from('a\0b').toString('hex').padEnd(64, '0')
    expect(one('string', `0x${word(32)}${word(3)}${text}`)).toBe('a\ufffdb')
    expect(one('uint256[]', `0x${word(32)}${word(2)}${word(1)}${word(2n ** 200n)}`)).toEqual(['1', String(2n ** 200n)])
    expect(one('uint8[2]', `0x${word(1)}${word(2)}`)).toEqual(['1', '2'])
    const parts = { components: [input('', 'address'), input('n', 'uint16')] }
    expect(one('tuple', `0x${word(ALICE)}${word(9)}`, parts)).toEqual({ _0: `0x${'aa'.repeat(20)}`, n: '9' })
    const own = decoder(event('E', input('a', 'uint8[]', indexed)))
    expect(own.decode([own.selectors[0]!, topic(5)], '0x')?.args).toEqual({ a: topic(5) })
    const none = decoder(event('E'))
    expect(none.decode(none.selectors, '0x')?.args).toEqual({})
  })

  it('that would decode to a huge value is not decoded', () => {
    // Each pointer leads to the same text.
    const bomb = (pointers: number, bytes: number) =>
      `0x${word(32)}${word(pointers)}${word(pointers * 32).repeat(pointers)}${word(bytes)}${'61'.repeat(bytes)}`
    expect(one('string[]', bomb(50, 1_000))).toHaveLength(50)
    expect(one('string[]', bomb(100, 1_000))).toBeUndefined()
    expect(one('string[]', bomb(400, 16_000))).toBeUndefined()
    expect(one('bool', `${topic(1)}${'00'.repeat(32_000)}`)).toBe(true)
    expect(one('bool', `${topic(1)}${'00'.repeat(33_000)}`)).toBeUndefined()
    expect(one('uint256[]', `0x${word(32)}${'f'.repeat(64)}`)).toBeUndefined()
    expect(one('bool[9999][9999]', topic(1))).toBeUndefined()
  })
})
