// Candles of a chart: pages of the past before those that are there, the running one after them. Laws: one for each time,
// oldest first; of the same time the later news counts; what is asked for next always lies before all that is there.

import { INTERVAL_MS, type Interval } from '../../core/candle-interval.ts'

export interface WireCandle {
  readonly t: number
  readonly o: string
  readonly h: string
  readonly l: string
  readonly c: string
  readonly v: string
}

export interface ChartCandle {
  /** Beginning, Unix ms. */
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** A month is as long as the longest. */
const MONTH_MS = 31 * 86_400_000

export const isInterval = (text: string): text is Interval => Object.hasOwn(INTERVAL_MS, text)

const PAGE = 500
/** Kept at most: a page that is left open for weeks does not grow. */
const KEPT = 20_000

export function readCandle({ t, o, h, l, c, v }: WireCandle): ChartCandle | null {
  const candle = { time: t, open: +o, high: +h, low: +l, close: +c, volume: +v }
  return Object.values(candle).every(Number.isFinite) ? candle : null
}

/** Both together. */
export function mergedCandles(held: readonly ChartCandle[], news: readonly ChartCandle[]): ChartCandle[] {
  const byTime = new Map(held.map((candle) => [candle.time, candle]))
  for (const candle of news) byTime.set(candle.time, candle)
  return [...byTime.values()].sort((a, b) => a.time - b.time).slice(-KEPT)
}

/** The window of the page before all that is held; of the newest page where nothing is. */
export function pageBefore(held: readonly ChartCandle[], interval: Interval, nowMs: number) {
  const endTime = held[0] ? held[0].time - 1 : nowMs
  return { startTime: Math.max(0, endTime - PAGE * (INTERVAL_MS[interval] ?? MONTH_MS)), endTime }
}

/** Windows without a candle that a search for older ones goes back, each wider than the last; a market begins somewhere. */
export const EMPTY_PAGES = 3
