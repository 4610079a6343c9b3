// Intervals of candles, as the exchange has them.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long each is, in ms. Null: a month of the calendar, UTC. */
export const INTERVAL_MS = {
  '1m': MINUTE,
  '3m': 3 * MINUTE,
  '5m': 5 * MINUTE,
  '15m': 15 * MINUTE,
  '30m': 30 * MINUTE,
  '1h': HOUR,
  '2h': 2 * HOUR,
  '4h': 4 * HOUR,
  '8h': 8 * HOUR,
  '12h': 12 * HOUR,
  '1d': DAY,
  '3d': 3 * DAY,
  '1w': 7 * DAY,
  '1M': null,
} as const

export type Interval = keyof typeof INTERVAL_MS
/** The shortest first. */
export const INTERVALS = Object.keys(INTERVAL_MS) as [Interval, ...Interval[]]
