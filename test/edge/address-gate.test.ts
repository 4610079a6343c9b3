import { describe, expect, it } from 'vitest'
import { AddressGate, LOOKUPS_PER_SECOND, SHARED_LOOKUPS_PER_SECOND } from '../../src/edge/address-gate.ts'

describe('the gate of an address', () => {
  it.each([
    ['192.0.2.1', LOOKUPS_PER_SECOND],
    [null, SHARED_LOOKUPS_PER_SECOND],
  ])('lets %s look up so many keys a second, and says how long to wait', (address, perSecond) => {
    const gate = new AddressGate()
    let let_in = 0
    for (let i = 0; i < perSecond * 3; i++) if (gate.waitMs(address, 0) === 0) let_in++
    expect(let_in).toBe(perSecond)
    const wait = gate.waitMs(address, 0)
    expect(wait).toBeGreaterThan(0)
    expect(gate.waitMs(address, wait)).toBe(0)
    expect(gate.waitMs('198.51.100.7', 0)).toBe(0)
  })

  it('takes the /64 of an IPv6 caller for one, however it is written', () => {
    const gate = new AddressGate()
    for (let i = 0; i < LOOKUPS_PER_SECOND; i++) gate.waitMs(`2001:DB8::${i.toString(16)}`, 0)
    expect(gate.waitMs('2001:0db8:0:0:ffff::1', 0)).toBeGreaterThan(0)
    expect(gate.waitMs('2001:db8:0:1::1', 0)).toBe(0)
  })

  it('stays bounded under a flood of addresses', () => {
    const gate = new AddressGate()
    for (let i = 0; i < 30_000; i++) gate.waitMs(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 0)
    expect(gate.size).toBeLessThanOrEqual(10_000)
  })
})
