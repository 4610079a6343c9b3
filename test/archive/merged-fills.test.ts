import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aggregateFills } from '../../src/archive/fill-rows.ts'
import { fromScaled, toScaled } from '../../src/core/decimal.ts'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'

const USER = `0x${'a'.repeat(40)}`
const fill = (over: Partial<Fill> = {}): Fill => ({
  coin: 'BTC',
  px: '100.0',
  sz: '1.0',
  side: 'B',
  time: 5,
  startPosition: '0.0',
  dir: 'Open Long',
  closedPnl: '0.0',
  hash: '0x1',
  oid: 7,
  crossed: true,
  fee: '0.1',
  tid: 1,
  feeToken: 'USDC',
  ...over,
})

// WS-28
test('partial fills of one order become one, at the volume-weighted price', () => {
  const fills: UserFill[] = [
    [USER, fill({ px: '100.0', sz: '1.0', startPosition: '2.0', tid: 11, builderFee: '0.01' })],
    [USER, fill({ oid: 8, tid: 12 })],
    [USER, fill({ px: '103.0', sz: '2.0', startPosition: '3.0', tid: 13, fee: '-0.05', closedPnl: '-1.5' })],
  ]
  expect(aggregateFills(fills)).toEqual([
    [
      USER,
      fill({
        px: '102.0',
        sz: '3.0',
        startPosition: '2.0',
        tid: 11,
        fee: '0.05',
        closedPnl: '-1.5',
        builderFee: '0.01',
      }),
    ],
    [USER, fill({ oid: 8, tid: 12 })],
  ])
})

test('a field that no part has does not appear, and fills of no size are left as they are', () => {
  const parts: UserFill[] = [
    [USER, fill({ tid: 1 })],
    [USER, fill({ tid: 2 })],
  ]
  expect(Object.keys(aggregateFills(parts)[0]![1])).toEqual(Object.keys(fill()))
  const empty: UserFill[] = parts.map(([user, one]) => [user, { ...one, sz: '0.0' }])
  expect(aggregateFills(empty)).toEqual(empty)
})

test('a price that does not end is rounded four decimals beyond the prices in it', () => {
  const fills: UserFill[] = [
    [USER, fill({ px: '1.5', sz: '1.0' })],
    [USER, fill({ px: '1.0', sz: '2.0' })],
  ]
  expect(aggregateFills(fills)[0]![1].px).toBe('1.16667')
})

test.each([
  ['coin', { coin: 'ETH' }],
  ['order', { oid: 8 }],
  ['side', { side: 'A' as const }],
  ['crossed', { crossed: false }],
  ['dir', { dir: 'Long > Short' }],
  ['feeToken', { feeToken: 'HYPE' }],
])('fills of another %s stay apart', (_, over) => {
  const fills: UserFill[] = [
    [USER, fill()],
    [USER, fill(over)],
  ]
  expect(aggregateFills(fills)).toEqual(fills)
})

test('fills of another wallet, or with amounts that are no decimals, are passed on untouched', () => {
  const odd = fill({ fee: 'n/a' })
  const fills: UserFill[] = [
    [USER, fill()],
    [`0x${'b'.repeat(40)}`, fill()],
    [USER, odd],
    [USER, odd],
  ]
  expect(aggregateFills(fills)).toEqual(fills)
})

test('law: sums are exact, the price lies between the prices, equal prices stay as they are', () => {
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
