// Lists that the public API shows, too: our own rows, and a source's for what is older than ours or missing among them.
// Laws: a row is shown once; where neither knows of a stretch, the answer says since when nothing is missing, or fails.

import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Address } from '../../protocol/feed/block.ts'
import type { EventBlock } from '../../protocol/feed/durable-api.ts'
import type { EventQuery, EventRead, OpenEventHistory, Sources } from '../ports.ts'
import type { InfoAnswer } from '../query.ts'
import { EVER, historyAnswer, WINDOW_TOO_LONG } from './own-history.ts'
import { passThrough, rowsIn } from './pass-through.ts'

/** What a caller asks for, and a source where our own rows do not do. */
export interface RowsRequest {
  readonly type: string
  readonly user: Address
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
}

interface RowsQuery<Row> extends Pick<EventQuery, 'kind'>, Pick<MergeRules<Row>, 'order' | 'timeOf' | 'idOf'> {
  readonly request: RowsRequest
  /** Whether the type takes a window: then a source is asked up to a time alone. */
  readonly isWindowed: boolean
  readonly limit: number
  /** Rows of one block, in its order. */
  readonly rowsOf: (block: EventBlock) => readonly Row[]
  /** Where a source's rows may stand for several of ours: from this time on rows are ours alone, before it theirs alone. */
  readonly ownFrom?: (known: Pick<EventRead, 'since' | 'head'>) => number
  /** A row may stand in a block that is so much later than the row. */
  readonly lateMs?: number
}

/** An answer of our own and a source's rows; the source's bytes where we keep no files, or have nothing to add. */
export async function rowsAnswer<Row>(
  wanted: RowsQuery<Row>,
  from: Pick<Sources, 'events' | 'upstream'>,
): Promise<Result<InfoAnswer, Failure>> {
  const { kind, request, order, limit } = wanted
  if (!from.events.isDeep) return passThrough(request, from)
  const past = await from.events.open({ kind, scope: { by: 'user', address: request.user } })
  const own = past.ok ? await ownRows(past.value, wanted, wanted.ownFrom?.(past.value)) : past
  if (!past.ok || !own.ok) return passThrough(request, from)
  const { rows, read } = own.value
  const theirsMs = wanted.ownFrom ? wanted.ownFrom(read) - 1 : read.since.time
  if (isComplete(rows, read.ended, theirsMs, wanted)) return ok(historyAnswer(rows.slice(0, limit), read))
  if (read.ended === 'work' && order === 'oldest') return err(WINDOW_TOO_LONG)
  const untilMs = Math.min(request.endTime ?? EVER, theirsMs)
  const theirs = await passThrough(wanted.isWindowed ? { ...request, endTime: untilMs } : request, from)
  if (!theirs.ok) {
    // Newest first, what follows is asked for again; oldest first, it would never be missed.
    const isAnswer = hasNoSource(theirs.error) || (order === 'newest' && rows.length > 0)
    if (!isAnswer) return theirs
    const all = wanted.ownFrom ? await ownRows(past.value, wanted) : own
    return all.ok ? ok(historyAnswer(all.value.rows.slice(0, limit), all.value.read)) : all
  }
  const { body } = theirs.value
  const told = rowsIn<Row>(body)
  if (told === null) return theirs
  const ours = wanted.ownFrom ? rows.filter((row) => wanted.timeOf(row) > theirsMs) : rows
  const all = mergeRows(ours, told, { ...wanted, untilMs }).slice(0, Math.max(limit, told.length))
  return ok(
    all.length === told.length && ours.length === 0 ? { ...historyAnswer(null, read), body } : historyAnswer(all, read),
  )
}

/** Rows in the order of the answer, of the window or of what of it is not before `sinceMs`. */
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

/** Whether a source knows nothing to add: all of the page is later than what it is asked for. */
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

/** No source serves the type: there is nobody to wait for. */
export function hasNoSource(failure: Failure): boolean {
  return failure.kind === 'unavailable' && failure.retryAfterMs === undefined
}

// Our rows and those of a source as one list. Invariant: what either has is there once, in order of time; where both have the
// newest rows of all (or the oldest), so has the list as far as the longer of them reaches.

interface MergeRules<Row> {
  readonly order: 'newest' | 'oldest'
  readonly timeOf: (row: Row) => number
  /** The same for a row of ours and one of theirs that mean the same. */
  readonly idOf: (row: Row) => string
  /** Up to this time the source is asked: what is later we have. */
  readonly untilMs: number
}

/** Both lists are sorted; theirs perhaps the other way around. */
function mergeRows<Row>(ours: readonly Row[], theirs: readonly Row[], rules: MergeRules<Row>): Row[] {
  const { order, timeOf, idOf, untilMs } = rules
  const sign = order === 'newest' ? -1 : 1
  const first = theirs[0]
  const last = theirs.at(-1)
  const isTurned = first !== undefined && last !== undefined && sign * (timeOf(last) - timeOf(first)) < 0
  const told = (isTurned ? theirs.toReversed() : theirs).filter((row) => timeOf(row) <= untilMs)
  const known = new Set(told.map(idOf))
  // Of one time theirs come first: where it is cut, ours may lack what lies between.
  const more = ours.filter((row) => !known.has(idOf(row)))
  return [...told, ...more].sort((a, b) => sign * (timeOf(a) - timeOf(b)))
}
