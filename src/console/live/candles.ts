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

const PAGE_SIZE = 500
/** Kept at most: a page that is left open for weeks does not grow. */
const CANDLES_MAX = 20_000

export function parseCandle({ t, o, h, l, c, v }: WireCandle): ChartCandle | null {
  const candle = { time: t, open: +o, high: +h, low: +l, close: +c, volume: +v }
  return Object.values(candle).every(Number.isFinite) ? candle : null
}

/** Both together. */
export function mergeCandles(stored: readonly ChartCandle[], newer: readonly ChartCandle[]): ChartCandle[] {
  const byTime = new Map(stored.map((candle) => [candle.time, candle]))
  for (const candle of newer) byTime.set(candle.time, candle)
  return [...byTime.values()].sort((a, b) => a.time - b.time).slice(-CANDLES_MAX)
}

/** The window of the page before all that is held; of the newest page where nothing is. */
export function pageBefore(stored: readonly ChartCandle[], interval: Interval, nowMs: number) {
  const endTime = stored[0] ? stored[0].time - 1 : nowMs
  return { startTime: Math.max(0, endTime - PAGE_SIZE * (INTERVAL_MS[interval] ?? MONTH_MS)), endTime }
}

/** Windows without a candle that a search for older ones goes back, each wider than the last; a market begins somewhere. */
export const EMPTY_PAGES_MAX = 3
