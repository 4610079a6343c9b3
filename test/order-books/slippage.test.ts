import Big from 'big.js'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { isZero } from '../../src/core/decimal.ts'
import { slippageOf } from '../../src/order-books/slippage.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'

const level = (px: string, sz: string): Level => ({ px, sz, n: 1 })
const BOOK: Levels = [
  [level('99.0', '1.0'), level('98.0', '2.0')],
  [level('101.0', '1.0'), level('103.0', '3.0')],
]

it('walks the levels of the other side', () => {
  expect(slippageOf(BOOK, 'B', '2')).toEqual({
    mid: '100.0',
    avgPx: '102.0',
    worstPx: '103.0',
    levels: 2,
    filledSz: '2.0',
    unfilledSz: '0.0',
    notional: '204.0',
    slippageBps: '200.0',
  })
  expect(slippageOf(BOOK, 'A', '3')).toMatchObject({ avgPx: '98.3333333333', worstPx: '98.0', slippageBps: '166.6667' })
})

it('uses only the level that fills the order exactly', () => {
  expect(slippageOf(BOOK, 'B', '1')).toMatchObject({ levels: 1, worstPx: '101.0', unfilledSz: '0.0' })
})

it('reports what the book cannot fill, and assumes no price for it', () => {
  expect(slippageOf(BOOK, 'B', '10')).toMatchObject({ levels: 2, filledSz: '4.0', unfilledSz: '6.0', avgPx: '102.5' })
  const nothing = {
    mid: null,
    avgPx: null,
    worstPx: null,
    levels: 0,
    filledSz: '0.0',
    notional: '0.0',
    slippageBps: null,
  }
  expect(slippageOf([[], []], 'B', '1')).toEqual({ ...nothing, unfilledSz: '1.0' })
  expect(slippageOf([BOOK[0], []], 'A', '1')).toMatchObject({ mid: null, avgPx: '99.0', slippageBps: null })
})

it('is exact for the largest sizes and the most decimals', () => {
  const sz = `${'9'.repeat(38)}.${'9'.repeat(18)}`
  const unit = `0.${'0'.repeat(17)}1`
  expect(slippageOf([[], [level(unit, sz), level('1.5', '1')]], 'B', sz)).toMatchObject({
    levels: 1,
    filledSz: sz,
    unfilledSz: '0.0',
    notional: `1${'0'.repeat(20)}.0`,
  })
  expect(slippageOf([[], [level('2', unit)]], 'B', sz)).toMatchObject({
    levels: 1,
    filledSz: unit,
    unfilledSz: `${'9'.repeat(38)}.${'9'.repeat(17)}8`,
    notional: `0.${'0'.repeat(17)}2`,
  })
})

/** Whole numbers of ticks and lots, scaled as the exchange scales them. */
const decimal = (digits: number, max: number) =>
  fc.integer({ min: 1, max }).map((units) => new Big(units).div(10 ** digits).toFixed())

const book: fc.Arbitrary<Levels> = fc
  .record({
    mid: fc.integer({ min: 500, max: 1_000_000 }),
    bids: fc.array(fc.tuple(fc.integer({ min: 1, max: 499 }), decimal(5, 1_000_000)), { minLength: 1, maxLength: 12 }),
    asks: fc.array(fc.tuple(fc.integer({ min: 1, max: 499 }), decimal(5, 1_000_000)), { minLength: 1, maxLength: 12 }),
  })
  .map(({ mid, bids, asks }) => {
    const side = (levels: readonly (readonly [number, string])[], sign: number) =>
      [...new Map(levels)]
        .sort(([a], [b]) => a - b)
        .map(([away, sz]) => level(new Big(mid + sign * away).div(100).toFixed(), sz))
    return [side(bids, -1), side(asks, 1)]
  })
const order = fc.record({ book, side: fc.constantFrom('B' as const, 'A' as const), sz: decimal(5, 5_000_000) })

it('splits a size into filled and unfilled, and its notional is the sum over the levels', () => {
  fc.assert(
    fc.property(order, ({ book, side, sz }) => {
      const cost = slippageOf(book, side, sz)
      expect(new Big(cost.filledSz).plus(cost.unfilledSz).eq(sz)).toBe(true)
      const used = book[side === 'B' ? 1 : 0].slice(0, cost.levels)
      const before = used.slice(0, -1).reduce((sum, one) => sum.plus(one.sz), new Big(0))
      const notional = used
        .slice(0, -1)
        .reduce((sum, one) => sum.plus(new Big(one.px).times(one.sz)), new Big(0))
        .plus(new Big(cost.filledSz).minus(before).times(used.at(-1)!.px))
      expect(notional.eq(cost.notional)).toBe(true)
      expect(isZero(cost.unfilledSz) || used.length === book[side === 'B' ? 1 : 0].length).toBe(true)
    }),
  )
})

it('never gets cheaper with size, and never beats the mid', () => {
  fc.assert(
    fc.property(order, decimal(5, 1_000_000), ({ book, side, sz }, more) => {
      const cost = slippageOf(book, side, sz)
      const larger = slippageOf(book, side, new Big(sz).plus(more).toFixed())
      expect(new Big(larger.slippageBps!).gte(cost.slippageBps!)).toBe(true)
      expect(new Big(cost.slippageBps!).gte(0)).toBe(true)
      const sign = side === 'B' ? 1 : -1
      expect(new Big(cost.worstPx!).minus(cost.avgPx!).times(sign).gte(0)).toBe(true)
      expect(new Big(cost.avgPx!).minus(cost.mid!).times(sign).gte(0)).toBe(true)
    }),
  )
})
