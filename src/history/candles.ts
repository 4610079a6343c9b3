// Candles out of trades, each counted once however many fills it has. A stretch without trades has no candle.

import { compareDecimals, fromScaled, toScaled, trimDecimal } from '../core/decimal.ts'
import type { Trade } from '../feed/trades.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A month is that of the calendar. */
const LENGTHS = {
  ...{ '1m': MINUTE, '3m': 3 * MINUTE, '5m': 5 * MINUTE, '15m': 15 * MINUTE, '30m': 30 * MINUTE },
  ...{ '1h': HOUR, '2h': 2 * HOUR, '4h': 4 * HOUR, '8h': 8 * HOUR, '12h': 12 * HOUR },
  ...{ '1d': DAY, '3d': 3 * DAY, '1w': 7 * DAY, '1M': null },
} as const

export type Interval = keyof typeof LENGTHS
/** The shortest first. */
export const INTERVALS = Object.keys(LENGTHS) as [Interval, ...Interval[]]

/** As the exchange writes it: first and last millisecond, coin, interval, prices, base volume, number of trades. */
export interface Candle {
  readonly t: number
  readonly T: number
  readonly s: string
  readonly i: string
  readonly o: string
  readonly c: string
  readonly h: string
  readonly l: string
  readonly v: string
  readonly n: number
}

/** First and last millisecond of the candle that a time falls in, in UTC. */
export function spanOf(interval: Interval, timeMs: number): { readonly t: number; readonly T: number } {
  const length = LENGTHS[interval]
  if (length !== null) {
    const t = Math.floor(timeMs / length) * length
    return { t, T: t + length - 1 }
  }
  const at = new Date(timeMs)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return { t: Date.UTC(year, month), T: Date.UTC(year, month + 1) - 1 }
}

/** The candle with one more trade, or the next one where the trade came after its end. Older trades change nothing. */
export function withTrade(candle: Candle | null, interval: Interval, { coin, px, sz, time }: Trade): Candle {
  if (candle && time < candle.t) return candle
  if (!candle || time > candle.T)
    return { ...spanOf(interval, time), s: coin, i: interval, o: px, c: px, h: px, l: px, v: trimDecimal(sz), n: 1 }
  return {
    ...candle,
    c: px,
    h: compareDecimals(px, candle.h) > 0 ? px : candle.h,
    l: compareDecimals(px, candle.l) < 0 ? px : candle.l,
    v: fromScaled(toScaled(candle.v) + toScaled(sz)),
    n: candle.n + 1,
  }
}
