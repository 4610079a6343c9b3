import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Candle,
  EVER_MS,
  spanOf,
  validTrades,
  windowBefore,
  withFlatCandles,
  withTrade,
} from '../../src/archive/candles.ts'
import { INTERVALS } from '../../src/core/candle-interval.ts'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'
import type { Trade } from '../../src/protocol/feed/trades.ts'
import { fillWith } from '../kit/fills.ts'

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

test('no candle contains a settlement at 0 or dust, and one contains an auto-deleveraging', () => {
  const both = (fill: Partial<Fill>): UserFill[] =>
    (['A', 'B'] as const).map((side, at) => [`0x${at}`, fillWith({ coin: '#40', time: 60_000, side, ...fill })])
  const settled = both({ px: '0.0', tid: 2, dir: 'Settlement' })
  const dust = both({ px: '1.0', tid: 0, dir: 'Spot Dust Conversion' })
  const deleveraged = both({ px: '0.5', tid: 3, dir: 'Auto-Deleveraging' })
  expect(validTrades([...settled, ...dust])).toEqual([])
  expect(candleOf(validTrades([...settled, ...deleveraged, ...dust]))).toMatchObject({ l: '0.5', h: '0.5', n: 1 })
})

const ALL = { fromMs: 0, toMs: EVER_MS, limit: Number.POSITIVE_INFINITY }
const complete = () => false
/** Candles of some of the first periods since a time. */
const sparse = fc
  .tuple(fc.constantFrom(...INTERVALS), fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 12 }))
  .map(([interval, numbers]) => {
    const spans = [spanOf(interval, 1_790_000_000_000)]
    while (spans.length <= 60) spans.push(spanOf(interval, spans.at(-1)!.T + 1))
    const trades = numbers.sort((a, b) => a - b).map((number) => trade(spans[number]!.t + 1, 10 + number))
    return { spans, numbers, candles: trades.map((one) => candleOf([one], interval)) }
  })

test('flat candles fill exactly the periods between two candles, at the previous close', () => {
  fc.assert(
    fc.property(sparse, ({ spans, numbers, candles }) => {
      const filled = withFlatCandles(candles, ALL, complete)
      expect(filled.map(({ t, T }) => ({ t, T }))).toEqual(spans.slice(numbers[0], numbers.at(-1)! + 1))
      expect(filled.filter(({ n }) => n > 0)).toEqual(candles)
      filled.forEach((row, at) => {
        const { c } = filled[at - 1] ?? row
        if (row.n === 0) expect(row).toMatchObject({ o: c, c, h: c, l: c, v: '0.0' })
      })
      expect(withFlatCandles(filled, ALL, complete)).toEqual(filled)
    }),
  )
})

test('pages of flat candles join without a gap, wherever they begin', () => {
  fc.assert(
    fc.property(sparse, fc.integer({ min: 1, max: 30 }), ({ candles }, limit) => {
      const rows: Candle[] = []
      for (let fromMs = 0; ; fromMs = rows.at(-1)!.T + 1) {
        const page = withFlatCandles(candles, { ...ALL, fromMs, limit }, complete)
        rows.push(...page)
        if (page.length < limit) break
      }
      expect(rows).toEqual(withFlatCandles(candles, ALL, complete))
    }),
  )
})

test('no flat candle follows missing trades, and at most 5,000 follow a candle', () => {
  const minute = (number: number) => candleOf([trade(number * 60_000, 10)])
  const isIncomplete = ({ t }: { t: number }) => t === 3 * 60_000
  const around = withFlatCandles([minute(1), minute(6), minute(8)], ALL, isIncomplete)
  expect(around.map(({ t }) => t / 60_000)).toEqual([1, 2, 6, 7, 8])
  expect(withFlatCandles([minute(1), minute(20_000)], ALL, complete)).toHaveLength(5_002)
  const { fromMs, toMs } = windowBefore('1m', 5_001 * 60_000)
  expect([fromMs / 60_000, (toMs + 1) / 60_000]).toEqual([1, 5_001])
})
