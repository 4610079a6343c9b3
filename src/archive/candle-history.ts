// A coin's candles within a window, from files and the log. Invariants: a returned candle contains every trade of the
// available blocks; a candle that may lack trades is reported as incomplete.

import type { Interval } from '../core/candle-interval.ts'
import type { HeightAndTime } from '../protocol/feed/durable-api.ts'
import type { CandlesRequest, FileCandles, TimeSpan } from './candles.ts'
import { type Candle, candleOf, foldCandles, partOf, spanOf, validTrades } from './candles.ts'
import type { FillHistory } from './funding-spans.ts'

export interface CandleHistory {
  readonly candles: readonly Candle[]
  /** Whether trades may be missing from the candle. */
  readonly isIncomplete: (candle: Pick<Candle, 't' | 'T'>) => boolean
  /** The span that contains all incomplete candles; null if there are none. */
  readonly incomplete: TimeSpan | null
  /** Only candles that end before this time were read; null if all were read. */
  readonly untilMs: number | null
  /** True if the log was needed but is unavailable. */
  readonly isLogUnavailable: boolean
  /** The last block that was read; null if it is unknown, and then the newest candles may be incomplete. */
  readonly head: HeightAndTime | null
  /** The first block after the last missing data. */
  readonly since: HeightAndTime
}

/** The span of all candles that overlap a window. */
export function candlesWithin(interval: Interval, { fromMs, toMs }: TimeSpan): TimeSpan {
  return { fromMs: spanOf(interval, fromMs).t, toMs: spanOf(interval, toMs).T }
}

/** Whether the window needs blocks of the log, which follow the last block of the files. */
export function needsLog({ to, untilMs }: FileCandles, { toMs }: TimeSpan): boolean {
  return untilMs === null && toMs >= to.time
}

/** `logFills`: the coin's fills from the log; null if they were not requested or are unavailable. */
export function candleHistory(
  filed: FileCandles,
  logFills: FillHistory | null,
  request: CandlesRequest,
): CandleHistory {
  const { coin, interval, fromMs } = request
  const toMs = Math.min(request.toMs, (filed.untilMs ?? Number.POSITIVE_INFINITY) - 1)
  const behind = candlesFromLog(filed, logFills, request)
  const holes = [{ fromMs: Number.NEGATIVE_INFINITY, toMs: filed.from.time }, ...filed.holes, ...behind.holes]
  const isHoled = ({ t, T }: Pick<Candle, 't' | 'T'>) => holes.some((hole) => hole.fromMs <= T && hole.toMs >= t)
  const isIncluded = (candle: Candle) => candle.t >= fromMs && candle.T <= toMs && !isHoled(candle)
  const candles = foldCandles([...filed.parts, ...behind.parts], interval).map((part) => candleOf(part, coin, interval))
  const { head, since } = behind
  return {
    candles: candles.filter(isIncluded),
    isIncomplete: isHoled,
    incomplete: incompleteWithin(holes, { fromMs, toMs }, interval),
    since,
    untilMs: filed.untilMs,
    isLogUnavailable: logFills === null && needsLog(filed, request),
    head: head && isHoled(spanOf(interval, head.time)) ? null : head,
  }
}

interface LogCandles extends Pick<CandleHistory, 'head' | 'since'>, Pick<FileCandles, 'parts' | 'holes'> {}

/** Candle parts from the log, if the window extends beyond the files. */
function candlesFromLog(filed: FileCandles, logFills: FillHistory | null, request: CandlesRequest): LogCandles {
  const { to, since } = filed
  if (!needsLog(filed, request)) return { parts: [], holes: [], head: to, since }
  if (!logFills) return { parts: [], holes: [{ fromMs: to.time, toMs: Number.POSITIVE_INFINITY }], head: null, since }
  const { coin, interval } = request
  const blocks = logFills.runs.flat().filter(({ height }) => height > to.height)
  const trades = blocks.flatMap(({ fills }) => validTrades(fills)).filter((trade) => trade.coin === coin)
  const parts = [{ height: to.height + 1, parts: trades.map((trade) => partOf(trade, interval)) }]
  const head = logFills.head.height > to.height ? logFills.head : to
  if (logFills.since.height <= to.height + 1) return { parts, holes: [], head, since }
  return { parts, holes: [{ fromMs: to.time, toMs: logFills.since.time }], head, since: logFills.since }
}

/** The span from the first to the last incomplete candle of a window. */
function incompleteWithin(holes: readonly TimeSpan[], { fromMs, toMs }: TimeSpan, interval: Interval): TimeSpan | null {
  const inside = holes.filter((hole) => hole.fromMs <= toMs && hole.toMs >= fromMs)
  if (inside.length === 0) return null
  return candlesWithin(interval, {
    fromMs: Math.max(fromMs, Math.min(...inside.map((hole) => hole.fromMs))),
    toMs: Math.min(toMs, Math.max(...inside.map((hole) => hole.toMs))),
  })
}
