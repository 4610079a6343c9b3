// Candles that the public API shows, too: our own of which no trade is missing, and a source's in the places of the others.
// Law: a candle is one or the other's; of what neither knows there is none, and the answer says since when nothing is missing.

import { type CandleHistory, candlesWithin } from '../../archive/candle-history.ts'
import type { Candle } from '../../archive/candles.ts'
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

/** Later than all blocks, and still a date. */
const EVER = 8e15
/** No candle is shorter as text; most answers are known to fit a page by their length alone. */
const CANDLE_MIN_LENGTH = 60
/** The log has had enough questions. */
const LATE: Failure = {
  kind: 'unavailable',
  what: 'The newest candles cannot be read at the moment',
  retryAfterMs: 1_000,
}

/** The first `limit` candles that overlap a window; a source's bytes where we have none of them. */
export async function candlesAnswer(
  asked: CandleSnapshotRequest,
  limit: number,
  from: Pick<Sources, 'events' | 'upstream'>,
): Promise<AnswerResult> {
  const { coin, interval, startTime, endTime = EVER } = asked.req
  const window = candlesWithin(interval, { fromMs: Math.min(startTime, EVER), toMs: Math.min(endTime, EVER) })
  const kept = await from.events.candles({ coin, interval, ...window, limit })
  if (!kept) return upstreamCandles(asked, limit, from)
  if (!kept.ok) return upstreamCandlesFrom(window.fromMs, asked, limit, from, kept.error)
  const candles = kept.value.candles.slice(0, limit)
  const isPage = candles.length === limit
  const { untilMs } = kept.value
  if (untilMs !== null && !isPage) return upstreamCandlesFrom(window.fromMs, asked, limit, from, windowTooLong(untilMs))
  const last = candles.at(-1)
  if (!last) return withoutOwnCandles(asked, limit, kept.value, from)
  const { incomplete } = kept.value
  if (!incomplete || (isPage && incomplete.fromMs > last.t)) return ok(ownAnswer(candles, kept.value))
  const { type, req } = asked
  const fromMs = Math.max(startTime, incomplete.fromMs)
  const toMs = incomplete.toMs < window.toMs ? incomplete.toMs : req.endTime
  const told = await passThrough({ type, req: { ...req, startTime: fromMs, endTime: toMs } }, from)
  if (!told.ok) return hasNoSource(told.error) ? ownOnly(candles, kept.value) : told
  const rows = rowsIn<Candle>(told.value.body)
  if (rows === null) return told
  const all = [...candles, ...rows.filter((candle) => kept.value.isIncomplete(candle) && candle.T >= startTime)]
  const page = all.sort((a, b) => a.t - b.t).slice(0, limit)
  return ok({ ...ownAnswer(page, kept.value), ...latenessOf([told]) })
}

function ownAnswer(candles: readonly Candle[], { head, since }: CandleHistory): InfoAnswer {
  return head ? historyAnswer(candles, { head, since }) : { body: JSON.stringify(candles), since }
}

/** There is nobody to ask for the others. */
function ownOnly(candles: readonly Candle[], kept: CandleHistory): AnswerResult {
  return kept.isLogUnavailable ? err(LATE) : ok(ownAnswer(candles, kept))
}

function windowTooLong(untilMs: number): Failure {
  const message = `must be at most ${untilMs - 1}: up to a later one there are too many days to go through`
  return { kind: 'bad_field', issues: [{ path: 'req.endTime', message }] }
}

/** A source knows what we lack, and whether there is such a coin. */
async function withoutOwnCandles(
  asked: CandleSnapshotRequest,
  limit: number,
  kept: CandleHistory,
  from: Pick<Sources, 'upstream'>,
): Promise<AnswerResult> {
  const told = await upstreamCandles(asked, limit, from)
  if (!told.ok && hasNoSource(told.error)) return ownOnly([], kept)
  if (kept.incomplete !== null || (!told.ok && told.error.kind === 'bad_field')) return told
  return ok(ownAnswer([], kept))
}

/** A source tells its newest candles: where they begin behind the window, who pages on would never miss those between. */
async function upstreamCandlesFrom(
  fromMs: number,
  asked: CandleSnapshotRequest,
  limit: number,
  from: Pick<Sources, 'upstream'>,
  failure: Failure,
): Promise<AnswerResult> {
  const told = await upstreamCandles(asked, limit, from)
  if (!told.ok) return told.error.kind === 'bad_field' ? told : err(failure)
  const first = rowsIn<Candle>(told.value.body)?.[0]
  return first && first.t <= fromMs ? told : err(failure)
}

/** The same bytes where they fit a page; candles hold nothing but strings and integers. */
async function upstreamCandles(
  asked: CandleSnapshotRequest,
  limit: number,
  from: Pick<Sources, 'upstream'>,
): Promise<AnswerResult> {
  const answer = await passThrough(asked, from)
  if (!answer.ok || answer.value.body.length < limit * CANDLE_MIN_LENGTH) return answer
  const candles = rowsIn(answer.value.body) ?? []
  return candles.length > limit ? ok({ ...answer.value, body: JSON.stringify(candles.slice(0, limit)) }) : answer
}
