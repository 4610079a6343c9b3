// Lists of the public API: our own rows, and an upstream's for older or missing ones. Invariants: each row appears
// once; if neither source covers a period, the response states the time at which completeness starts, or the request
// fails.

import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Address } from '../../protocol/feed/block.ts'
import type { EventBlock } from '../../protocol/feed/durable-api.ts'
import type { EventQuery, EventRead, OpenEventHistory, Sources } from '../ports.ts'
import type { InfoAnswer } from '../query.ts'
import { EVER, historyAnswer, WINDOW_TOO_LONG } from './own-history.ts'
import { passThrough, rowsIn } from './pass-through.ts'

/** Request of the caller. It is also sent to the upstream if needed. */
export interface RowsRequest {
  readonly type: string
  readonly user: Address
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
  /** Only types that page by row have one (`row-pages.ts`). */
  readonly cursor?: string | undefined
}

export interface RowsQuery<Row> extends Pick<EventQuery, 'kind'>, Pick<MergeRules<Row>, 'order' | 'timeOf' | 'idOf'> {
  readonly request: RowsRequest
  /** Whether the type has a time window. If it has one, the upstream is queried only up to a time. */
  readonly isWindowed: boolean
  readonly limit: number
  /** Rows of one block, in block order. */
  readonly rowsOf: (block: EventBlock) => readonly Row[]
  /**
   * Set for types whose upstream rows merge several of our rows. Rows starting at this time are ours; earlier rows come
   * from the upstream.
   */
  readonly ownFrom?: (known: Pick<EventRead, 'since' | 'head'>) => number
  /** Maximum delay between a row and its block. */
  readonly lateMs?: number
}

/** Merges own and upstream rows; returns the upstream's bytes if we have no files or nothing to add. */
export async function rowsAnswer<Row>(
  query: RowsQuery<Row>,
  from: Pick<Sources, 'events' | 'upstream'>,
): Promise<Result<InfoAnswer, Failure>> {
  const { kind, request, order, limit } = query
  if (!from.events.isDeep) return passThrough(request, from)
  const past = await from.events.open({ kind, scope: { by: 'user', address: request.user } })
  const own = past.ok ? await ownRows(past.value, query, query.ownFrom?.(past.value)) : past
  if (!past.ok || !own.ok) return passThrough(request, from)
  const { rows, read } = own.value
  const theirsMs = query.ownFrom ? query.ownFrom(read) - 1 : read.since.time
  if (isComplete(rows, read.ended, theirsMs, query)) return ok(historyAnswer(rows.slice(0, limit), read))
  if (read.ended === 'work' && order === 'oldest') return err(WINDOW_TOO_LONG)
  const untilMs = Math.min(request.endTime ?? EVER, theirsMs)
  const theirs = await passThrough(query.isWindowed ? { ...request, endTime: untilMs } : request, from)
  if (!theirs.ok) {
    // If rows are newest first, the missing rows are older, and the caller requests them with a later page. If rows are
    // oldest first, the caller would never notice missing rows.
    const isAnswer = hasNoSource(theirs.error) || (order === 'newest' && rows.length > 0)
    if (!isAnswer) return theirs
    const all = query.ownFrom ? await ownRows(past.value, query) : own
    return all.ok ? ok(historyAnswer(all.value.rows.slice(0, limit), all.value.read)) : all
  }
  const { body } = theirs.value
  const upstreamRows = rowsIn<Row>(body)
  if (upstreamRows === null) return theirs
  const ours = query.ownFrom ? rows.filter((row) => query.timeOf(row) > theirsMs) : rows
  const all = mergeRows(ours, upstreamRows, { ...query, untilMs }).slice(0, Math.max(limit, upstreamRows.length))
  return ok(
    all.length === upstreamRows.length && ours.length === 0
      ? { ...historyAnswer(null, read), body }
      : historyAnswer(all, read),
  )
}

/** Own rows of the window starting at `sinceMs`, in response order. */
async function ownRows<Row>(
  past: OpenEventHistory,
  { request: { startTime = 0, endTime: toMs = EVER }, order, limit, rowsOf, timeOf, lateMs }: RowsQuery<Row>,
  sinceMs = startTime,
): Promise<Result<{ readonly rows: readonly Row[]; readonly read: EventRead }, Failure>> {
  const window = { fromMs: Math.max(startTime, sinceMs), toMs, order }
  const isWithin = (row: Row) => timeOf(row) >= window.fromMs && timeOf(row) <= toMs
  const rows: Row[] = []
  const read = await past.read({ ...window, toMs: toMs + (lateMs ?? 0) }, (block) => {
    const own = lateMs === undefined ? rowsOf(block) : rowsOf(block).filter(isWithin)
    rows.push(...(order === 'newest' ? own.toReversed() : own))
    return rows.length < limit
  })
  return read.ok ? ok({ rows, read: read.value }) : read
}

/** True if the upstream has nothing to add, because the whole page is later than its range. */
function isComplete<Row>(
  rows: readonly Row[],
  ended: EventRead['ended'],
  theirsMs: number,
  { request: { startTime = 0 }, order, limit, timeOf }: RowsQuery<Row>,
) {
  const last = rows[limit - 1]
  if (last === undefined && ended === 'work') return false
  return startTime > theirsMs || (order === 'newest' && last !== undefined && timeOf(last) > theirsMs)
}

/** True if no source serves the type, so that waiting is pointless. */
export function hasNoSource(failure: Failure): boolean {
  return failure.kind === 'unavailable' && failure.retryAfterMs === undefined
}

// Merges own and upstream rows. Invariants: each row appears once, and rows are ordered by time; if both lists start
// with the newest rows (or both with the oldest), the result has no gap within the range of the longer list.

interface MergeRules<Row> {
  readonly order: 'newest' | 'oldest'
  readonly timeOf: (row: Row) => number
  /** Equal for an own and an upstream row of the same event. */
  readonly idOf: (row: Row) => string
  /** Upstream rows count up to this time; later rows are ours. */
  readonly untilMs: number
}

/** Both lists are sorted, but the upstream's list may be in reverse order. */
function mergeRows<Row>(ours: readonly Row[], theirs: readonly Row[], rules: MergeRules<Row>): Row[] {
  const { order, timeOf, idOf, untilMs } = rules
  const sign = order === 'newest' ? -1 : 1
  const first = theirs[0]
  const last = theirs.at(-1)
  const isTurned = first !== undefined && last !== undefined && sign * (timeOf(last) - timeOf(first)) < 0
  const upstreamRows = (isTurned ? theirs.toReversed() : theirs).filter((row) => timeOf(row) <= untilMs)
  const known = new Set(upstreamRows.map(idOf))
  // Upstream rows of the same time come first, because ours may be incomplete there.
  const more = ours.filter((row) => !known.has(idOf(row)))
  return [...upstreamRows, ...more].sort((a, b) => sign * (timeOf(a) - timeOf(b)))
}
