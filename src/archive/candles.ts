// Builds candles from trades. Each trade counts once, however many fills it has. Periods without trades have no candle,
// unless flat candles are added. Weeks start on Thursdays, because days are counted from 1970-01-01. Months are calendar months. Both are in UTC.

import { INTERVAL_MS, type Interval } from '../core/candle-interval.ts'
import type { Coin } from '../core/coin.ts'
import { compareDecimals, fromScaled, toScaled, trimDecimal, UNSIGNED_DECIMAL } from '../core/decimal.ts'
import { DAY_MS } from '../core/time.ts'
import type { UserFill } from '../protocol/feed/block.ts'
import type { HeightAndTime } from '../protocol/feed/durable-api.ts'
import { type Trade, tradesOf } from '../protocol/feed/trades.ts'

const MAX_MONTH_MS = 31 * DAY_MS

/** Stored intervals. Every other interval consists of whole candles of one of these. */
export const BASE_INTERVALS = ['1m', '15m', '1h', '4h', '1d'] as const
export type BaseInterval = (typeof BASE_INTERVALS)[number]

/** The longest base interval that divides an interval, and the maximum number of base candles in one candle. */
export function baseOf(interval: Interval): { readonly base: BaseInterval; readonly parts: number } {
  const length = INTERVAL_MS[interval] ?? DAY_MS
  const base = BASE_INTERVALS.findLast((one) => length % INTERVAL_MS[one] === 0) ?? BASE_INTERVALS[0]
  return { base, parts: (INTERVAL_MS[interval] ?? MAX_MONTH_MS) / INTERVAL_MS[base] }
}

/** A candle in the exchange's format: first and last ms, coin, interval, prices, base volume, number of trades. */
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

/** First and last ms of the candle that contains a time, in UTC. */
export function spanOf(interval: Interval, timeMs: number): { readonly t: number; readonly T: number } {
  const length = INTERVAL_MS[interval]
  if (length !== null) {
    const t = Math.floor(timeMs / length) * length
    return { t, T: t + length - 1 }
  }
  const at = new Date(timeMs)
  const year = at.getUTCFullYear()
  const month = at.getUTCMonth()
  return { t: Date.UTC(year, month), T: Date.UTC(year, month + 1) - 1 }
}

/** A candle built from some of its trades. Parts of a candle can be merged. `t`: start of the candle. */
export type CandlePart = Omit<Candle, 'T' | 's' | 'i'>

export function partOf({ px, sz, time }: Pick<Trade, 'px' | 'sz' | 'time'>, interval: Interval): CandlePart {
  return { t: spanOf(interval, time).t, o: px, c: px, h: px, l: px, v: trimDecimal(sz), n: 1 }
}

/** Merges two parts of a candle; `b` has the later trades. */
export function mergeParts(a: CandlePart, b: CandlePart): CandlePart {
  return {
    t: a.t,
    o: a.o,
    c: b.c,
    h: compareDecimals(b.h, a.h) > 0 ? b.h : a.h,
    l: compareDecimals(b.l, a.l) < 0 ? b.l : a.l,
    v: fromScaled(toScaled(a.v) + toScaled(b.v)),
    n: a.n + b.n,
  }
}

/** Wire format of a candle. */
export function candleOf({ t, o, c, h, l, v, n }: CandlePart, coin: Coin, interval: Interval): Candle {
  return { t, T: spanOf(interval, t).T, s: coin, i: interval, o, c, h, l, v, n }
}

/** Maximum number of flat candles after a candle with trades. */
const MAX_FLAT_CANDLES = 5_000

/** The window before `fromMs` whose last candle with trades determines the flat candles at `fromMs`. */
export function windowBefore(interval: Interval, fromMs: number): TimeSpan {
  const earliestMs = fromMs - MAX_FLAT_CANDLES * (INTERVAL_MS[interval] ?? MAX_MONTH_MS)
  return { fromMs: spanOf(interval, Math.max(0, earliestMs)).t, toMs: fromMs - 1 }
}

/**
 * The first `limit` candles of a window, with a flat candle for each period without trades between two of `candles`.
 * `candles` may also contain the nearest candles outside the window. After an incomplete period, no period is filled
 * until the next candle, because its price is unknown.
 */
export function withFlatCandles(
  candles: readonly Candle[],
  { fromMs, toMs, limit }: Pick<CandlesRequest, 'fromMs' | 'toMs' | 'limit'>,
  isIncomplete: (span: Pick<Candle, 't' | 'T'>) => boolean,
): Candle[] {
  const found: Candle[] = []
  for (const row of withFlatBetween(candles, isIncomplete)) {
    if (row.t > toMs || found.length >= limit) break
    if (row.t >= fromMs) found.push(row)
  }
  return found
}

function* withFlatBetween(
  candles: readonly Candle[],
  isIncomplete: (span: Pick<Candle, 't' | 'T'>) => boolean,
): Generator<Candle> {
  for (const [index, candle] of candles.entries()) {
    yield candle
    const { s, i, c } = candle
    const interval = i as Interval
    const untilMs = candles[index + 1]?.t ?? candle.t
    let span = spanOf(interval, candle.T + 1)
    for (let count = 0; count < MAX_FLAT_CANDLES && span.t < untilMs && !isIncomplete(span); count++) {
      yield { ...span, s, i, o: c, c, h: c, l: c, v: '0.0', n: 0 }
      span = spanOf(interval, span.T + 1)
    }
  }
}

/** Adds a trade, or starts the next candle if the trade is later. Older trades are ignored. */
export function withTrade(candle: Candle | null, interval: Interval, trade: Trade): Candle {
  if (candle && trade.time < candle.t) return candle
  const part = partOf(trade, interval)
  return candleOf(candle?.t === part.t ? mergeParts(candle, part) : part, trade.coin, interval)
}

// Combines candle parts into candles. Invariants: the candles do not depend on how the trades are split into parts;
// within a candle, parts of lower blocks come first.

/** Consecutive candle parts. `height`: block of the first trade. */
export interface CandleParts {
  readonly height: number
  readonly parts: readonly CandlePart[]
}

export class CandleFold {
  readonly #interval: Interval
  readonly #candles = new Map<number, CandlePart>()

  constructor(interval: Interval) {
    this.#interval = interval
  }

  /** Parts must be in chain order. */
  add(part: CandlePart): void {
    const { t } = spanOf(this.#interval, part.t)
    const known = this.#candles.get(t)
    this.#candles.set(t, known ? mergeParts(known, part) : { ...part, t })
  }

  get candles(): CandlePart[] {
    return [...this.#candles.values()].sort((a, b) => a.t - b.t)
  }
}

/** Combines parts that may be in any order. */
export function foldCandles(parts: readonly CandleParts[], interval: Interval): CandlePart[] {
  const fold = new CandleFold(interval)
  for (const some of [...parts].sort((a, b) => a.height - b.height)) for (const part of some.parts) fold.add(part)
  return fold.candles
}

/** Returns the trades whose amounts are valid. */
export function validTrades(fills: readonly UserFill[]): readonly Trade[] {
  return tradesOf(fills).filter(({ px, sz }) => UNSIGNED_DECIMAL.test(px) && UNSIGNED_DECIMAL.test(sz))
}

/** Stored form of a part. */
export type CandleRow = readonly [t: number, o: string, c: string, h: string, l: string, v: string, n: number]

export function rowsOfParts(parts: readonly CandlePart[]): CandleRow[] {
  return parts.map(({ t, o, c, h, l, v, n }) => [t, o, c, h, l, v, n])
}

export function partsOfRows(text: string): CandlePart[] {
  return (JSON.parse(text) as readonly CandleRow[]).map(([t, o, c, h, l, v, n]) => ({ t, o, c, h, l, v, n }))
}

/** A time after all blocks that is still a valid date. */
export const EVER_MS = 8e15

/** Unix ms, inclusive. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** A range of whole candles. */
export interface CandlesRequest extends TimeSpan {
  readonly coin: Coin
  readonly interval: Interval
  /** Reading stops once this many complete candles have been read. */
  readonly limit: number
}

export interface FileCandles {
  /** Parts in any order. They may be shorter than the requested interval. */
  readonly parts: readonly CandleParts[]
  /** Only candles that end before this time are included; null if all are. */
  readonly untilMs: number | null
  /** The first and last block of the files. */
  readonly from: HeightAndTime
  readonly to: HeightAndTime
  /** Periods in which trades may be missing. */
  readonly holes: readonly TimeSpan[]
  /** The first block after the last height that is missing from the files. */
  readonly since: HeightAndTime
}
