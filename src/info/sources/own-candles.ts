// Candles of the public API: our own if no trade is missing, an upstream's for the rest. Invariant: each candle comes
// entirely from one of the two; if neither has it, it is absent, and the response states the time at which completeness starts.

import { type CandleHistory, candlesWithin } from '../../archive/candle-history.ts'
import { type Candle, EVER_MS } from '../../archive/candles.ts'
import type { Interval } from '../../core/candle-interval.ts'
import type { Coin } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Sources } from '../ports.ts'
import { type InfoAnswer, latenessOf } from '../query.ts'
import { historyAnswer } from './own-history.ts'
import { hasNoSource } from './own-rows.ts'
import { passThrough, rowsIn } from './pass-through.ts'

interface CandleSnapshotRequest {
  readonly type: 'candleSnapshot'
  readonly req: {
    readonly coin: Coin
    readonly interval: Interval
    readonly startTime: number
    readonly endTime?: number | undefined
  }
}
type AnswerResult = Result<InfoAnswer, Failure>

/** Minimum JSON length of a candle. If a body is short enough, its candles must fit on one page. */
const CANDLE_MIN_LENGTH = 60
/** The log rejected the read because of load. */
const LATE: Failure = {
  kind: 'unavailable',
  what: 'The newest candles are temporarily unavailable',
  retryAfterMs: 1_000,
}

/** First `limit` candles that overlap a window; the upstream's bytes if we have none. */
export async function candlesAnswer(
  query: CandleSnapshotRequest,
  limit: number,
  from: Pick<Sources, 'events' | 'upstream'>,
): Promise<AnswerResult> {
  const { coin, interval, startTime, endTime = EVER_MS } = query.req
  const window = candlesWithin(interval, { fromMs: Math.min(startTime, EVER_MS), toMs: Math.min(endTime, EVER_MS) })
  const kept = await from.events.candles({ coin, interval, ...window, limit })
  if (!kept) return upstreamCandles(query, limit, from)
  if (!kept.ok) return upstreamCandlesFrom(window.fromMs, query, limit, from, kept.error)
  const candles = kept.value.candles.slice(0, limit)
  const isPage = candles.length === limit
  const { untilMs } = kept.value
  if (untilMs !== null && !isPage) return upstreamCandlesFrom(window.fromMs, query, limit, from, windowTooLong(untilMs))
  const last = candles.at(-1)
  if (!last) return withoutOwnCandles(query, limit, kept.value, from)
  const { incomplete } = kept.value
  if (!incomplete || (isPage && incomplete.fromMs > last.t)) return ok(ownAnswer(candles, kept.value))
  const { type, req } = query
  const fromMs = Math.max(startTime, incomplete.fromMs)
  const toMs = incomplete.toMs < window.toMs ? incomplete.toMs : req.endTime
  const upstream = await passThrough({ type, req: { ...req, startTime: fromMs, endTime: toMs } }, from)
  if (!upstream.ok) return hasNoSource(upstream.error) ? ownOnly(candles, kept.value) : upstream
  const rows = rowsIn<Candle>(upstream.value.body)
  if (rows === null) return upstream
  const all = [...candles, ...rows.filter((candle) => kept.value.isIncomplete(candle) && candle.T >= startTime)]
  const page = all.sort((a, b) => a.t - b.t).slice(0, limit)
  return ok({ ...ownAnswer(page, kept.value), ...latenessOf([upstream]) })
}

function ownAnswer(candles: readonly Candle[], { head, since }: CandleHistory): InfoAnswer {
  return head ? historyAnswer(candles, { head, since }) : { body: JSON.stringify(candles), since }
}

/** Result if no upstream has the missing candles. */
function ownOnly(candles: readonly Candle[], kept: CandleHistory): AnswerResult {
  return kept.isLogUnavailable ? err(LATE) : ok(ownAnswer(candles, kept))
}

function windowTooLong(untilMs: number): Failure {
  const message = `must be at most ${untilMs - 1}: a later end covers too many days`
  return { kind: 'bad_field', issues: [{ path: 'req.endTime', message }] }
}

/** If we have no candles, only the upstream knows which candles are missing and whether the coin exists. */
async function withoutOwnCandles(
  query: CandleSnapshotRequest,
  limit: number,
  kept: CandleHistory,
  from: Pick<Sources, 'upstream'>,
): Promise<AnswerResult> {
  const upstream = await upstreamCandles(query, limit, from)
  if (!upstream.ok && hasNoSource(upstream.error)) return ownOnly([], kept)
  if (kept.incomplete !== null || (!upstream.ok && upstream.error.kind === 'bad_field')) return upstream
  return ok(ownAnswer([], kept))
}

/**
 * Returns upstream candles only if they cover the start of the window. Upstreams return their newest candles, and a
 * caller that reads the next page would not notice the gap.
 */
async function upstreamCandlesFrom(
  fromMs: number,
  query: CandleSnapshotRequest,
  limit: number,
  from: Pick<Sources, 'upstream'>,
  failure: Failure,
): Promise<AnswerResult> {
  const upstream = await upstreamCandles(query, limit, from)
  if (!upstream.ok) return upstream.error.kind === 'bad_field' ? upstream : err(failure)
  const first = rowsIn<Candle>(upstream.value.body)?.[0]
  return first && first.t <= fromMs ? upstream : err(failure)
}

/**
 * Upstream candles, unchanged if they fit on one page. Cutting is lossless, because candles contain only strings and
 * integers.
 */
async function upstreamCandles(
  query: CandleSnapshotRequest,
  limit: number,
  from: Pick<Sources, 'upstream'>,
): Promise<AnswerResult> {
  const answer = await passThrough(query, from)
  if (!answer.ok || answer.value.body.length < limit * CANDLE_MIN_LENGTH) return answer
  const candles = rowsIn(answer.value.body) ?? []
  return candles.length > limit ? ok({ ...answer.value, body: JSON.stringify(candles.slice(0, limit)) }) : answer
}
