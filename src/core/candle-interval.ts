// Candle intervals of the exchange.

import { DAY_MS, HOUR_MS, MINUTE_MS } from './time.ts'

/** Interval lengths in ms. Null stands for a calendar month in UTC. */
export const INTERVAL_MS = {
  '1m': MINUTE_MS,
  '3m': 3 * MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': HOUR_MS,
  '2h': 2 * HOUR_MS,
  '4h': 4 * HOUR_MS,
  '8h': 8 * HOUR_MS,
  '12h': 12 * HOUR_MS,
  '1d': DAY_MS,
  '3d': 3 * DAY_MS,
  '1w': 7 * DAY_MS,
  '1M': null,
} as const

export type Interval = keyof typeof INTERVAL_MS
/** All intervals, shortest first. */
export const INTERVALS = Object.keys(INTERVAL_MS) as [Interval, ...Interval[]]
