// Pages of a list by row. Rows of the own history are named by block and position in it, so rows of one time may span
// pages. Older rows come from an upstream source by time, in pages of their own. Invariants: each row is returned once
// and in order, also while blocks arrive and move into files; a page that cannot continue fails.

import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { EventBlock, OwnerScope } from '../../protocol/feed/durable-api.ts'
import { type Place, placeOf, type RowPlace, writeCursor } from '../../protocol/info/row-cursor.ts'
import type { EventRead, OpenEventHistory, Sources } from '../ports.ts'
import { type InfoAnswer, latenessOf } from '../query.ts'
import { EVER, historyAnswer, UNREADABLE } from './own-history.ts'
import { hasNoSource, type RowsQuery, rowsAnswer } from './own-rows.ts'
import { passThrough, rowsIn } from './pass-through.ts'

interface PageRequest {
  readonly type: string
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
  readonly cursor?: string | undefined
}

type ListRules<Row> = Pick<RowsQuery<Row>, 'kind' | 'order' | 'limit' | 'rowsOf' | 'timeOf' | 'ownFrom' | 'lateMs'>

interface PageQuery<Row> extends ListRules<Row> {
  readonly scope: OwnerScope
  readonly request: PageRequest
}

/** A response of a source with at least this many rows may be cut. */
const CUT_FROM_ROWS = 500

const badCursor = (message: string): Failure => ({ kind: 'bad_field', issues: [{ path: 'cursor', message }] })
const NOT_STORED = badCursor('needs an archive, which this gateway does not have. Leave it out and page by time')
const LOST = badCursor('points into a block that is no longer stored. Start again with ""')
const WRONG_END = badCursor(
  'cannot continue: older rows come from a source that starts at their other end. Page by time',
)

/** A list of the public API. With a cursor, a page by row. */
export async function listAnswer<Row>(
  query: RowsQuery<Row>,
  from: Pick<Sources, 'events' | 'upstream'>,
): Promise<Result<InfoAnswer, Failure>> {
  const { cursor, user } = query.request
  if (cursor === undefined) return rowsAnswer(query, from)
  if (!from.events.isDeep) return err(NOT_STORED)
  return rowPage({ ...query, scope: { by: 'user', address: user } }, from, from.upstream)
}

/** A page by row. If `upstream` is null, the list has own rows only. */
export async function rowPage<Row>(
  query: PageQuery<Row>,
  { events }: Pick<Sources, 'events'>,
  upstream: Sources['upstream'] | null,
): Promise<Result<InfoAnswer, Failure>> {
  const past = await events.open(query)
  if (!past.ok) return past
  const { since } = past.value
  const { order, request, ownFrom } = query
  const { startTime = 0, endTime = EVER } = request
  const theirsMs = upstream ? (ownFrom ? ownFrom(past.value) - 1 : since.time) : -1
  const walk: Walk<Row> = { query, past: past.value, upstream, startTime, endTime, theirsMs }
  const page = await pageAt(walk, placeOf(request) ?? { by: 'time', timeMs: order === 'oldest' ? startTime : endTime })
  if (!page.ok) return page
  const { rows, next, read, lagMs } = page.value
  const more = { ...(next && { nextCursor: writeCursor(request, next) }), ...(lagMs !== undefined && { lagMs }) }
  return ok(historyAnswer(rows, read, more))
}

interface Walk<Row> {
  readonly query: PageQuery<Row>
  readonly past: OpenEventHistory
  readonly upstream: Sources['upstream'] | null
  readonly startTime: number
  readonly endTime: number
  /** Rows up to this time come from the source, later rows from the own history. */
  readonly theirsMs: number
}

interface RowsPage<Row> extends Pick<InfoAnswer, 'lagMs'> {
  readonly rows: readonly Row[]
  /** Null: no more rows. */
  readonly next: Place | null
  readonly read: Pick<EventRead, 'head' | 'since'>
}

type PageResult<Row> = Promise<Result<RowsPage<Row>, Failure>>

function pageAt<Row>(walk: Walk<Row>, place: Place): PageResult<Row> {
  if (place.by === 'row') return pageAfterRow(walk, place)
  return walk.query.order === 'oldest' ? pageFromTime(walk, place.timeMs) : pageDownFromTime(walk, place.timeMs)
}

/** Oldest first: the source's rows, then own rows. */
async function pageFromTime<Row>(walk: Walk<Row>, fromMs: number): PageResult<Row> {
  const { upstream, endTime, theirsMs } = walk
  if (upstream && fromMs <= Math.min(endTime, theirsMs)) {
    const theirs = await sourcePage(walk, upstream, fromMs, Math.min(endTime, theirsMs))
    if (!theirs.ok) return hasNoSource(theirs.error) ? ownPage(walk, { fromMs, toMs: endTime }) : theirs
    if (theirs.value.rows.length > 0) return theirs
  }
  return ownPage(walk, { fromMs: Math.max(fromMs, theirsMs + 1), toMs: endTime })
}

/** Newest first: own rows, then the source's. */
async function pageDownFromTime<Row>(walk: Walk<Row>, toMs: number): PageResult<Row> {
  const { upstream, startTime, theirsMs } = walk
  if (!upstream || toMs > theirsMs) {
    const own = await ownPage(walk, { fromMs: Math.max(startTime, theirsMs + 1), toMs })
    if (!own.ok || own.value.next || startTime > theirsMs) return own
    return continuing(walk, own.value, theirsMs)
  }
  const theirs = await sourcePage(walk, upstream, startTime, toMs)
  return !theirs.ok && hasNoSource(theirs.error) ? ownPage(walk, { fromMs: startTime, toMs }) : theirs
}

/**
 * Own rows that follow a row, up to the next gap. The source may have the rows of the gap, and of everything that is no
 * longer stored. The blocks on both sides of a gap have different times.
 */
async function pageAfterRow<Row>(walk: Walk<Row>, after: RowPlace): PageResult<Row> {
  const { query, past, upstream, startTime, endTime, theirsMs } = walk
  const isNewest = query.order === 'newest'
  const isWhole = past.since.height <= after.height
  const fromMs = isNewest && isWhole ? Math.max(startTime, Math.min(theirsMs + 1, after.timeMs)) : startTime
  const own = await ownPage(walk, { after, fromMs, toMs: endTime })
  if (!own.ok || own.value.next || !upstream) return own
  const { last, isAtHole } = own.value
  const { height, timeMs } = last ?? after
  if (isNewest) return continuing(walk, own.value, isWhole && !isAtHole ? Math.min(theirsMs, timeMs - 1) : timeMs - 1)
  return isAtHole || past.since.height > height ? continuing(walk, own.value, timeMs + 1) : own
}

/** The page if it has rows, and otherwise the next one. */
function continuing<Row>(walk: Walk<Row>, page: RowsPage<Row>, timeMs: number): PageResult<Row> {
  const next: Place | null = timeMs < walk.startTime || timeMs > walk.endTime ? null : { by: 'time', timeMs }
  return next && page.rows.length === 0 ? pageAt(walk, next) : Promise.resolve(ok({ ...page, next }))
}

interface OwnRange {
  readonly after?: RowPlace
  readonly fromMs: number
  readonly toMs: number
}

interface OwnPage<Row> extends RowsPage<Row> {
  /** The last block that was read. */
  readonly last: RowPlace | undefined
  /** With `after`: whether heights are missing next. */
  readonly isAtHole: boolean
}

async function ownPage<Row>(
  { query, past, upstream }: Walk<Row>,
  { after, fromMs, toMs }: OwnRange,
): Promise<Result<OwnPage<Row>, Failure>> {
  const { order, limit, lateMs, timeOf } = query
  const isWithin = (row: Row) => lateMs === undefined || (timeOf(row) >= fromMs && timeOf(row) <= toMs)
  const found: { readonly row: Row; readonly place: RowPlace }[] = []
  let last: RowPlace | undefined
  let isAtHole = false
  let isLost = after !== undefined && after.rows > 0
  const window = { fromMs, toMs: toMs + (lateMs ?? 0), order, ...(after && { from: nextHeight(after, order) }) }
  const read = await past.read(window, (block, isAfterHole) => {
    isAtHole = isAfterHole && after !== undefined && upstream !== null
    if (isAtHole) return false
    const passed = block.height === after?.height ? after.rows : 0
    if (passed > 0) isLost = false
    const rows = rowsOfBlock(block, query).slice(passed)
    found.push(...rows.filter(({ row }) => isWithin(row)).slice(0, limit - found.length))
    last = rows.at(-1)?.place ?? { by: 'row', height: block.height, rows: 0, timeMs: block.time }
    return found.length < limit
  })
  if (!read.ok) return read
  const { ended, since } = read.value
  const isDamaged = ended === 'damage'
  // Oldest first, the blocks of the log come after the unreadable data.
  const kept = isDamaged && order === 'oldest' ? found.filter(({ place }) => place.height < since.height) : found
  if (isDamaged && kept.length === 0) return err(UNREADABLE)
  if (isLost) return err(LOST)
  const end = kept.at(-1)?.place
  const next = isDamaged || kept.length === limit ? end : ended === 'work' ? last : undefined
  return ok({ rows: kept.map(({ row }) => row), next: next ?? null, read: read.value, last, isAtHole })
}

/** Rows of a block in the order of the list, each with the place after it. */
function rowsOfBlock<Row>(block: EventBlock, { order, rowsOf, timeOf, lateMs }: PageQuery<Row>) {
  const rows = order === 'newest' ? rowsOf(block).toReversed() : rowsOf(block)
  return rows.map((row, at) => {
    const timeMs = lateMs === undefined ? block.time : timeOf(row)
    const place: RowPlace = { by: 'row', height: block.height, rows: (at + 1) % rows.length, timeMs }
    return { row, place }
  })
}

function nextHeight({ height, rows }: RowPlace, order: ListRules<unknown>['order']): number {
  if (rows > 0) return height
  return order === 'newest' ? height - 1 : height + 1
}

/** A page of the source. It ends between two times, so that the next one can start there. */
async function sourcePage<Row>(
  { query, past, startTime, endTime }: Walk<Row>,
  upstream: Sources['upstream'],
  fromMs: number,
  toMs: number,
): PageResult<Row> {
  const { order, limit, timeOf } = query
  const { cursor: _, ...request } = query.request
  const theirs = await passThrough({ ...request, startTime: fromMs, endTime: toMs }, { upstream })
  if (!theirs.ok) return theirs
  const listed = rowsIn<Row>(theirs.value.body)
  if (listed === null) return err(UNREADABLE)
  const sign = order === 'newest' ? -1 : 1
  const rows = listed.filter((row) => timeOf(row) >= fromMs && timeOf(row) <= toMs)
  const first = rows[0]
  const end = rows.at(-1)
  const isTurned = first !== undefined && end !== undefined && sign * (timeOf(end) - timeOf(first)) < 0
  const sorted = (isTurned ? rows.toReversed() : rows).toSorted((a, b) => sign * (timeOf(a) - timeOf(b)))
  if (isTurned && listed.length >= limit) return err(WRONG_END)
  const cutMs = listed.length < Math.min(limit, CUT_FROM_ROWS) ? undefined : sorted.map(timeOf).at(-1)
  const whole = sorted.filter((row) => timeOf(row) !== cutMs)
  if (cutMs !== undefined && whole.length === 0 && listed.length >= limit) return err(tooDense(cutMs))
  const page = whole.length > 0 ? whole : sorted
  const lastMs = page.map(timeOf).at(-1)
  const nextMs = lastMs === undefined ? -1 : lastMs + sign
  const next: Place | null = nextMs < startTime || nextMs > endTime ? null : { by: 'time', timeMs: nextMs }
  return ok({ rows: page, next, read: past, ...latenessOf([theirs]) })
}

function tooDense(timeMs: number): Failure {
  return badCursor(`cannot continue: the source of older rows has more at ${timeMs} than it returns. Start after it`)
}
