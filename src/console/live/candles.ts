// Candles of a chart, merged from pages and updates. Invariants: one candle per time, oldest first; a later update replaces an
// earlier one; the next page always ends before the oldest stored candle.

import { spanOf } from '../../archive/candles.ts'
import { INTERVAL_MS, type Interval } from '../../core/candle-interval.ts'
import type { WireTrade } from './recent.ts'

export interface WireCandle {
  readonly t: number
  readonly o: string
  readonly h: string
  readonly l: string
  readonly c: string
  readonly v: string
}

export interface ChartCandle {
  /** Open time, Unix ms. */
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** The length of the longest month, because a page must not be too short. */
const MONTH_MS = 31 * 86_400_000

export const isInterval = (text: string): text is Interval => Object.hasOwn(INTERVAL_MS, text)

const PAGE_SIZE = 500
/** Bounds the memory of a page that stays open for weeks. */
const CANDLES_MAX = 20_000

export function parseCandle({ t, o, h, l, c, v }: WireCandle): ChartCandle | null {
  const candle = { time: t, open: +o, high: +h, low: +l, close: +c, volume: +v }
  return Object.values(candle).every(Number.isFinite) ? candle : null
}

export function mergeCandles(stored: readonly ChartCandle[], newer: readonly ChartCandle[]): ChartCandle[] {
  const byTime = new Map(stored.map((candle) => [candle.time, candle]))
  for (const candle of newer) byTime.set(candle.time, candle)
  return [...byTime.values()].sort((a, b) => a.time - b.time).slice(-CANDLES_MAX)
}

/** The candle that several candles of its time make; null if there are none. `time`: its open time. */
export function foldedCandle(time: number, parts: readonly ChartCandle[]): ChartCandle | null {
  const [first] = parts
  const last = parts.at(-1)
  if (!first || !last) return null
  return { ...highAndLow(parts), time, open: first.open, close: last.close, volume: parts.reduce(addVolume, 0) }
}

const addVolume = (sum: number, { volume }: ChartCandle) => sum + volume

/** Highest and lowest price of candles; infinite if there are none. */
export const highAndLow = (candles: readonly ChartCandle[]) => ({
  high: Math.max(...candles.map(({ high }) => high)),
  low: Math.min(...candles.map(({ low }) => low)),
})

/** The candles that trades change or begin, oldest first; trades before `last` are left out. */
export function candlesOfTrades(
  last: ChartCandle | undefined,
  trades: readonly Pick<WireTrade, 'px' | 'sz' | 'time'>[],
  interval: Interval,
): ChartCandle[] {
  const changed: ChartCandle[] = []
  let current = last
  for (const { px, sz, time: timeMs } of trades) {
    const time = spanOf(interval, timeMs).t
    if (current && time < current.time) continue
    const trade = { time, open: +px, high: +px, low: +px, close: +px, volume: +sz }
    const isSame = current?.time === time
    current = (isSame && current && foldedCandle(time, [current, trade])) || trade
    if (isSame) changed.pop()
    changed.push(current)
  }
  return changed
}

/** The time window before the oldest stored candle; the newest window if there is none. */
export function pageBefore(stored: readonly ChartCandle[], interval: Interval, nowMs: number) {
  const endTime = stored[0] ? stored[0].time - 1 : nowMs
  return { startTime: Math.max(0, endTime - PAGE_SIZE * (INTERVAL_MS[interval] ?? MONTH_MS)), endTime }
}

/** After this many consecutive empty windows, the market is known to have no older candles. */
export const EMPTY_PAGES_MAX = 3
