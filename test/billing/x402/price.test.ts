// Prices of payments, and the settings that they come from.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoteForCall, quoteForUsd, usdText } from '../../../src/billing/x402/price.ts'
import { X402 } from '../../../src/billing/x402/settings.ts'

const NETWORK = {
  payTo: `0x${'C0'.repeat(20)}`,
  network: 'eip155:8453',
  asset: { address: `0x${'A5'.repeat(20)}`, symbol: 'USDC', decimals: 6, name: 'USD Coin', version: '2' },
  facilitator: 'https://facilitator.example/x402/',
  creditsPerUsd: '1000',
  leastUsd: '0.005',
  multiple: '1.5',
  topUp: { leastUsd: '1', mostUsd: '1000' },
  plan: 'entry',
}
const settings = (more: object = {}) => X402.safeParse(JSON.stringify({ ...NETWORK, ...more }))
const prices = (more: object = {}) => X402.parse(JSON.stringify({ ...NETWORK, ...more }))[0]!

describe('the price of a call', () => {
  it('is the least price, or a multiple of its credits', () => {
    expect(quoteForCall(1_000_000, prices())).toEqual({ micro: 5_000_000, minor: 5_000, currency: 'usdc' })
    expect(quoteForCall(20_000_000, prices())).toEqual({ micro: 30_000_000, minor: 30_000, currency: 'usdc' })
  })

  it('grants no more than was paid, and less than one smallest unit less', () => {
    const decimal = (max: number) => fc.integer({ min: 1, max }).map((millionths) => usdText(millionths))
    const terms = fc.record({
      leastUsd: decimal(1e9),
      multiple: decimal(1e9),
      creditsPerUsd: fc.integer({ min: 1e6, max: 1e9 }).map(usdText),
      topUp: fc.constant({ leastUsd: '1', mostUsd: '1' }),
    })
    fc.assert(
      fc.property(fc.nat(1e9), terms, (price, more) => {
        const { creditsPerUsd, leastUsd, multiple, ...rest } = prices(more)
        const { micro, minor } = quoteForCall(price, { creditsPerUsd, leastUsd, multiple, ...rest })
        const worth = BigInt(minor) * BigInt(creditsPerUsd)
        expect(worth).toBeGreaterThanOrEqual(BigInt(micro) * 1_000_000n)
        expect(worth - BigInt(micro) * 1_000_000n).toBeLessThan(BigInt(creditsPerUsd))
        expect(BigInt(micro) * 1_000_000n).toBeGreaterThanOrEqual(BigInt(price) * BigInt(multiple))
        expect(minor).toBeGreaterThanOrEqual(leastUsd)
        expect([micro, minor].every(Number.isSafeInteger)).toBe(true)
      }),
    )
  })
})

describe('the price of credits', () => {
  it.each([
    ['1', 1_000_000, 1_000_000_000],
    ['2.5', 2_500_000, 2_500_000_000],
    ['1000.00', 1_000_000_000, 1_000_000_000_000],
  ])('%s dollars', (usd, minor, micro) => {
    expect(quoteForUsd(usd, prices())).toEqual({ ok: true, value: { minor, micro, currency: 'usdc' } })
  })

  it.each(['', '0', '0.99', '1000.01', '-5', '5.001', '1e3', '0x10', ' 5', '5 ', '٥', 'NaN', '9999999'])(
    'is refused for %j',
    (usd) => {
      expect(quoteForUsd(usd, prices())).toEqual({ ok: false, error: expect.stringMatching(/from 1 to 1000$/) })
    },
  )
})

describe('X402', () => {
  it('is empty, one network, or up to four that share a facilitator', () => {
    expect(X402.parse('')).toEqual([])
    expect(prices()).toMatchObject({ payTo: `0x${'c0'.repeat(20)}`, facilitator: 'https://facilitator.example/x402' })
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ ...NETWORK, network: `eip155:${i + 1}` }))
    expect(X402.parse(JSON.stringify(many(4)))).toHaveLength(4)
    expect(X402.safeParse(JSON.stringify(many(5))).success).toBe(false)
    expect(X402.safeParse(JSON.stringify([NETWORK, NETWORK])).error?.message).toMatch(/each network once/)
    const other = { ...NETWORK, network: 'eip155:1', facilitator: 'https://other.example' }
    expect(X402.safeParse(JSON.stringify([NETWORK, other])).error?.message).toMatch(/one facilitator/)
  })

  it.each([
    [{ payTo: 'me' }, /payTo must be an address/],
    [{ network: 'base' }, /network must be an EVM chain/],
    [{ asset: { ...NETWORK.asset, decimals: 18 } }, /asset.decimals must be 6/],
    [{ facilitator: 'http://facilitator.example' }, /facilitator must be an https URL/],
    [{ facilitator: 'http://127.0.0.1.example' }, /facilitator must be an https URL/],
    [{ rpcUrl: 'ftp://node.example' }, /rpcUrl must be an https URL/],
    [{ creditsPerUsd: '0.5' }, /creditsPerUsd must be at least/],
    [{ creditsPerUsd: 1000 }, /creditsPerUsd must be a string/],
    [{ leastUsd: '0' }, /leastUsd must be a string such as/],
    [{ multiple: '1.1234567' }, /multiple must be a string such as/],
    [{ topUp: { leastUsd: '5', mostUsd: '1' } }, /topUp.mostUsd must be at least/],
    [{ creditsPerUsd: '1000000', topUp: { leastUsd: '1', mostUsd: '1001' } }, /buys more than a billion/],
    [{ more: 1 }, /0.more unknown field/],
    [{ plan: '' }, /plan must not be empty/],
  ])('names what is wrong: %j', (more, message) => {
    expect(settings(more).error?.issues[0]?.message).toMatch(message)
  })

  it.each(['http://localhost:1234/x', 'http://127.0.0.1:1', 'http://[::1]:1'])(
    'accepts %s on this machine',
    (facilitator) => {
      expect(settings({ facilitator }).success).toBe(true)
    },
  )
})
