// What is kept of a coin's candles within a window: files, and what the log has behind them. Laws: a candle is told of which no
// trade is missing, as far as the blocks have come; each other one is named as missing, or there was no trade.

import type { Interval } from '../core/candle-interval.ts'
import type { HeightAndTime } from '../protocol/feed/durable-api.ts'
import type { CandlesRequest, FileCandles, TimeSpan } from './candles.ts'
import { type Candle, candleOf, foldCandles, partOf, spanOf, validTrades } from './candles.ts'
import type { FillHistory } from './funding-spans.ts'

export interface CandleHistory {
  readonly candles: readonly Candle[]
  /** Whether trades of this candle may be missing. */
  readonly isIncomplete: (candle: Pick<Candle, 't' | 'T'>) => boolean
  /** All of these candles are among them. */
  readonly incomplete: TimeSpan | null
  /** Of the candles of the window those that end before this time were read; null: all. */
  readonly untilMs: number | null
  /** What is behind the files was wanted, and is not told now. */
  readonly isLogUnavailable: boolean
  /** The last block that is in them; null where the newest may lack some. */
  readonly head: HeightAndTime | null
  /** From this block on nothing is missing. */
  readonly since: HeightAndTime
}

/** The candles that overlap a window, from the beginning of the first to the end of the last. */
export function candlesWithin(interval: Interval, { fromMs, toMs }: TimeSpan): TimeSpan {
  return { fromMs: spanOf(interval, fromMs).t, toMs: spanOf(interval, toMs).T }
}

/** Whether the log is to be asked, for blocks above the last of the files. */
export function needsLog({ to, untilMs }: FileCandles, { toMs }: TimeSpan): boolean {
  return untilMs === null && toMs >= to.time
}

/** `held`: fills of the coin down to the files; null where the log was not asked, or does not tell. */
export function candleHistory(filed: FileCandles, held: FillHistory | null, request: CandlesRequest): CandleHistory {
  const { coin, interval, fromMs } = request
  const toMs = Math.min(request.toMs, (filed.untilMs ?? Number.POSITIVE_INFINITY) - 1)
  const behind = candlesFromLog(filed, held, request)
  const holes = [{ fromMs: Number.NEGATIVE_INFINITY, toMs: filed.from.time }, ...filed.holes, ...behind.holes]
  const isHoled = ({ t, T }: Pick<Candle, 't' | 'T'>) => holes.some((hole) => hole.fromMs <= T && hole.toMs >= t)
  const isTold = (candle: Candle) => candle.t >= fromMs && candle.T <= toMs && !isHoled(candle)
  const candles = foldCandles([...filed.parts, ...behind.parts], interval).map((part) => candleOf(part, coin, interval))
  const { head, since } = behind
  return {
    candles: candles.filter(isTold),
    isIncomplete: isHoled,
    incomplete: incompleteWithin(holes, { fromMs, toMs }, interval),
    since,
    untilMs: filed.untilMs,
    isLogUnavailable: held === null && needsLog(filed, request),
    head: head && isHoled(spanOf(interval, head.time)) ? null : head,
  }
}

interface LogCandles extends Pick<CandleHistory, 'head' | 'since'>, Pick<FileCandles, 'parts' | 'holes'> {}

/** What is not in the files, where the window reaches beyond them. */
function candlesFromLog(filed: FileCandles, held: FillHistory | null, request: CandlesRequest): LogCandles {
  const { to, since } = filed
  if (!needsLog(filed, request)) return { parts: [], holes: [], head: to, since }
  if (!held) return { parts: [], holes: [{ fromMs: to.time, toMs: Number.POSITIVE_INFINITY }], head: null, since }
  const { coin, interval } = request
  const blocks = held.runs.flat().filter(({ height }) => height > to.height)
  const trades = blocks.flatMap(({ fills }) => validTrades(fills)).filter((trade) => trade.coin === coin)
  const parts = [{ height: to.height + 1, parts: trades.map((trade) => partOf(trade, interval)) }]
  const head = held.head.height > to.height ? held.head : to
  if (held.since.height <= to.height + 1) return { parts, holes: [], head, since }
  return { parts, holes: [{ fromMs: to.time, toMs: held.since.time }], head, since: held.since }
}

/** From the first candle of a window that has a hole to the last. */
function incompleteWithin(holes: readonly TimeSpan[], { fromMs, toMs }: TimeSpan, interval: Interval): TimeSpan | null {
  const inside = holes.filter((hole) => hole.fromMs <= toMs && hole.toMs >= fromMs)
  if (inside.length === 0) return null
  return candlesWithin(interval, {
    fromMs: Math.max(fromMs, Math.min(...inside.map((hole) => hole.fromMs))),
    toMs: Math.min(toMs, Math.max(...inside.map((hole) => hole.toMs))),
  })
}
