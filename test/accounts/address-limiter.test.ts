import { describe, expect, it } from 'vitest'
import {
  AddressLimiter,
  callerAddress,
  KEY_LOOKUPS,
  REST_REQUESTS,
  WRONG_TOKENS,
} from '../../src/accounts/address-limiter.ts'

describe('address limiter', () => {
  it.each([
    ['192.0.2.1', KEY_LOOKUPS, KEY_LOOKUPS.each],
    [null, KEY_LOOKUPS, KEY_LOOKUPS.unknown],
    ['192.0.2.1', REST_REQUESTS, REST_REQUESTS.each],
    [null, WRONG_TOKENS, WRONG_TOKENS.unknown],
  ])('lets %s through so many times at once, and says how long to wait', (address, rates, limit) => {
    const gate = new AddressLimiter(rates)
    expect(gate.take(address, 0)).toEqual({ waitMs: 0, remaining: limit.quota - 1, limit })
    let passed = 1
    for (let i = 0; i < limit.quota * 3; i++) if (gate.take(address, 0).waitMs === 0) passed++
    expect(passed).toBe(limit.quota)
    const { waitMs, remaining } = gate.take(address, 0)
    expect([waitMs > 0, remaining]).toEqual([true, 0])
    expect(gate.take(address, waitMs).waitMs).toBe(0)
    expect(gate.take('198.51.100.7', 0).waitMs).toBe(0)
  })

  it('counts an IPv6 /64 as one caller in any notation', () => {
    const gate = new AddressLimiter(KEY_LOOKUPS)
    for (let i = 0; i < KEY_LOOKUPS.each.quota; i++) gate.take(`2001:DB8::${i.toString(16)}`, 0)
    expect(gate.take('2001:0db8:0:0:ffff::1', 0).waitMs).toBeGreaterThan(0)
    expect(gate.take('2001:db8:0:1::1', 0).waitMs).toBe(0)
  })

  it('counts an IPv4 caller and its IPv6-mapped form as one', () => {
    const gate = new AddressLimiter(KEY_LOOKUPS)
    for (let i = 0; i < KEY_LOOKUPS.each.quota; i++) gate.take('::ffff:192.0.2.1', 0)
    expect(gate.take('192.0.2.1', 0).waitMs).toBeGreaterThan(0)
    expect(gate.take('::FFFF:192.0.2.2', 0).waitMs).toBe(0)
  })

  it('evicts the least recently seen caller, and only when full', () => {
    const gate = new AddressLimiter(KEY_LOOKUPS)
    const flood = (network: number) => {
      for (let i = 0; i < 9_999; i++) gate.take(`10.${network}.${i >> 8}.${i & 255}`, 0)
    }
    for (let i = 0; i < KEY_LOOKUPS.each.quota; i++) gate.take('192.0.2.1', 0)
    flood(1)
    expect(gate.take('192.0.2.1', 0).waitMs).toBeGreaterThan(0)
    flood(2)
    expect(gate.take('192.0.2.1', 0).waitMs).toBeGreaterThan(0)
  })
})

it.each([
  [true, '192.0.2.1', '192.0.2.1'],
  [false, '192.0.2.1', null],
  [true, null, null],
  // One address for the Workers of all other zones: one caller must not use up the limit of others.
  [true, '2a06:98c0:3600::103', null],
])('with a trusted proxy (%s), the address %s counts as %s', (isProxyTrusted, address, expected) => {
  expect(callerAddress(isProxyTrusted, { get: () => address })).toBe(expected)
})
