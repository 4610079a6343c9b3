import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aggregateFills } from '../../src/archive/fill-rows.ts'
import { fromScaled, toScaled } from '../../src/core/decimal.ts'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'
import { fillWith } from '../kit/fills.ts'

const USER = `0x${'a'.repeat(40)}`
const fill = (over: Partial<Fill> = {}) => fillWith({ px: '100.0', oid: 7, ...over })
const ofUser = (...fills: Partial<Fill>[]) => fills.map((over): UserFill => [USER, fill(over)])

// WS-28
test('partial fills of one order become one, at the volume-weighted price', () => {
  const fills = ofUser(
    { px: '100.0', sz: '1.0', startPosition: '2.0', tid: 11, builderFee: '0.01' },
    { oid: 8, tid: 12 },
    { px: '103.0', sz: '2.0', startPosition: '3.0', tid: 13, fee: '-0.05', closedPnl: '-1.5' },
  )
  const sums = { px: '102.0', sz: '3.0', fee: '0.05', closedPnl: '-1.5' }
  const merged = { ...sums, startPosition: '2.0', tid: 11, builderFee: '0.01' }
  expect(aggregateFills(fills)).toEqual(ofUser(merged, { oid: 8, tid: 12 }))
})

test('a field that no part has is omitted, and fills without size are unchanged', () => {
  const parts = ofUser({ tid: 1 }, { tid: 2 })
  expect(Object.keys(aggregateFills(parts)[0]![1])).toEqual(Object.keys(fill()))
  const empty: UserFill[] = parts.map(([user, one]) => [user, { ...one, sz: '0.0' }])
  expect(aggregateFills(empty)).toEqual(empty)
})

test('a price with infinite decimals is rounded to four more decimals than the prices in it', () => {
  const fills = ofUser({ px: '1.5', sz: '1.0' }, { px: '1.0', sz: '2.0' })
  expect(aggregateFills(fills)[0]![1].px).toBe('1.16667')
})

test.each([
  ['coin', { coin: 'ETH' }],
  ['order', { oid: 8 }],
  ['side', { side: 'A' as const }],
  ['crossed', { crossed: false }],
  ['dir', { dir: 'Long > Short' }],
  ['feeToken', { feeToken: 'HYPE' }],
])('fills with a different %s are not merged', (_, over) => {
  const fills = ofUser({}, over)
  expect(aggregateFills(fills)).toEqual(fills)
})

test('fills of another wallet, or with invalid amounts, are unchanged', () => {
  const odd = { fee: 'n/a' }
  const fills = ofUser({}, {}, odd, odd).with(1, [`0x${'b'.repeat(40)}`, fill()])
  expect(aggregateFills(fills)).toEqual(fills)
})

test('invariant: sums are exact, the price lies between the prices, and equal prices are unchanged', () => {
  const amount = fc.integer({ min: 1, max: 10 ** 9 }).map((n) => fromScaled(BigInt(n) * 10n ** 12n))
  const partial = fc.record({ px: amount, sz: amount, fee: amount, closedPnl: amount })
  fc.assert(
    fc.property(fc.array(partial, { minLength: 2, maxLength: 20 }), (partials) => {
      const [merged] = aggregateFills(partials.map((over): UserFill => [USER, fill(over)]))
      const sum = (key: 'sz' | 'fee' | 'closedPnl') => partials.reduce((total, p) => total + toScaled(p[key]), 0n)
      for (const key of ['sz', 'fee', 'closedPnl'] as const) expect(toScaled(merged![1][key])).toBe(sum(key))
      const prices = partials.map(({ px }) => toScaled(px)).sort((a, b) => (a < b ? -1 : 1))
      const px = toScaled(merged![1].px)
      expect(px >= prices[0]! && px <= prices.at(-1)!).toBe(true)
    }),
  )
})
