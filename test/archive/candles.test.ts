import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Candle, spanOf, withTrade } from '../../src/archive/candles.ts'
import { INTERVALS } from '../../src/core/candle-interval.ts'
import type { Trade } from '../../src/protocol/feed/trades.ts'

const trade = (time: number, px: number, sz = '1.0') => ({ coin: 'BTC', px: `${px}.0`, sz, time }) as Trade
const candleOf = (trades: readonly Trade[], interval = INTERVALS[0]) =>
  trades.reduce((candle: Candle | null, one) => withTrade(candle, interval, one), null)!

test('a candle has the first, last, highest and lowest price, the volume and the number of its trades', () => {
  const all = [trade(60_000, 10), trade(60_001, 12, '0.25'), trade(119_000, 9, '2'), trade(119_999, 11)]
  const first = { t: 60_000, T: 119_999, s: 'BTC', i: '1m', o: '10.0', c: '11.0', h: '12.0', l: '9.0', v: '4.25', n: 4 }
  expect(JSON.stringify(candleOf(all))).toBe(JSON.stringify(first))
  const next = { ...first, t: 120_000, T: 179_999, o: '7.0', c: '7.0', h: '7.0', l: '7.0', v: '3.0', n: 1 }
  expect(candleOf([...all, trade(120_000, 7, '3')])).toEqual(next)
  expect(candleOf([...all, trade(120_000, 7, '3'), trade(119_999, 99)])).toEqual(next)
})

test.each([
  ['1m', Date.UTC(2026, 1, 3, 4, 5, 6), Date.UTC(2026, 1, 3, 4, 5), Date.UTC(2026, 1, 3, 4, 6) - 1],
  ['4h', Date.UTC(2026, 1, 3, 5), Date.UTC(2026, 1, 3, 4), Date.UTC(2026, 1, 3, 8) - 1],
  ['1M', Date.UTC(2028, 1, 29, 23), Date.UTC(2028, 1, 1), Date.UTC(2028, 2, 1) - 1],
  ['1M', Date.UTC(2026, 11, 31), Date.UTC(2026, 11, 1), Date.UTC(2027, 0, 1) - 1],
] as const)('a candle of %s that contains %i', (interval, timeMs, t, T) => {
  expect(spanOf(interval, timeMs)).toEqual({ t, T })
})

test('the candles of every interval follow each other without a hole', () => {
  fc.assert(
    fc.property(fc.constantFrom(...INTERVALS), fc.integer({ min: 0, max: 4e12 }), (interval, timeMs) => {
      const { t, T } = spanOf(interval, timeMs)
      expect(t <= timeMs && timeMs <= T).toBe(true)
      expect(spanOf(interval, T + 1).t).toBe(T + 1)
      expect(spanOf(interval, t).T).toBe(T)
    }),
  )
})
