// Candles of one coin in every interval, made trade by trade. A stretch without trades has no candle.

import { INTERVAL_MS, INTERVALS, type Interval } from '../../core/candle-interval.ts'
import { min } from '../exchange/fixed-point.ts'
import { Tail } from './tail.ts'

/** Candles kept per interval, as the public API answers at most. */
const KEPT = 5_000

interface Candle {
  readonly openMs: number
  /** Last millisecond. */
  readonly closeMs: number
  readonly open: bigint
  close: bigint
  high: bigint
  low: bigint
  /** Base units traded. */
  volume: bigint
  /** USDC traded. */
  ntl: bigint
  trades: number
}

/** First and last millisecond of the candle that a time falls in. Months are those of the calendar, in UTC. */
export function candleSpan(interval: Interval, timeMs: number): { openMs: number; closeMs: number } {
  if (interval === '1M') {
    const at = new Date(timeMs)
    const year = at.getUTCFullYear()
    const month = at.getUTCMonth()
    return { openMs: Date.UTC(year, month), closeMs: Date.UTC(year, month + 1) - 1 }
  }
  const length = INTERVAL_MS[interval]
  const openMs = Math.floor(timeMs / length) * length
  return { openMs, closeMs: openMs + length - 1 }
}

export class Candles {
  readonly #series = new Map<Interval, Tail<Candle>>(INTERVALS.map((interval) => [interval, new Tail(KEPT)]))

  /** Times never fall. */
  trade(timeMs: number, px: bigint, sz: bigint, ntl: bigint): void {
    for (const [interval, series] of this.#series) {
      const current = series.last()
      if (current === undefined || timeMs > current.closeMs)
        series.push({
          ...candleSpan(interval, timeMs),
          open: px,
          close: px,
          high: px,
          low: px,
          volume: sz,
          ntl,
          trades: 1,
        })
      else extend(current, px, sz, ntl)
    }
  }

  /** Oldest first: those that overlap [fromMs, toMs]. */
  within(interval: Interval, fromMs: number, toMs: number): Candle[] {
    const series = this.#series.get(interval)!.toArray()
    return series.filter(({ openMs, closeMs }) => closeMs >= fromMs && openMs <= toMs)
  }
}

function extend(candle: Candle, px: bigint, sz: bigint, ntl: bigint): void {
  candle.close = px
  if (px > candle.high) candle.high = px
  candle.low = min(candle.low, px)
  candle.volume += sz
  candle.ntl += ntl
  candle.trades++
}
