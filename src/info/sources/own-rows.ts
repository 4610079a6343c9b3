// Lists that the public API shows, too: our own rows, and a source's for what is older than ours or missing among them.
// Laws: a row is shown once; where neither knows of a stretch, the answer says since when nothing is missing, or fails.

import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { EventBlock } from '../../feed/held-fills.ts'
import { type JoinRules, joinedRows } from '../../history/joined-rows.ts'
import type { PastRead, PastRequest, Sources } from '../ports.ts'
import type { Answer } from '../query.ts'
import { heldAnswer, TOO_MUCH } from './own-history.ts'
import { passThrough } from './pass-through.ts'

interface RowsWanted<Row> extends PastRequest, Pick<JoinRules<Row>, 'timeOf' | 'idOf'> {
  readonly limit: number
  /** Rows of one block, in its order. */
  readonly rowsOf: (block: EventBlock) => readonly Row[]
  /** What a source is asked for where our own rows do not do: as the caller asked, or up to a time alone. */
  readonly asked: { readonly type: string }
  readonly until?: (untilMs: number) => { readonly type: string }
}

/** An answer of our own and a source's rows; the source's bytes where we keep no files, or have nothing to add. */
export async function rowsAnswer<Row>(
  wanted: RowsWanted<Row>,
  from: Pick<Sources, 'past' | 'upstream'>,
): Promise<Result<Answer, Failure>> {
  if (!from.past.isDeep) return passThrough(wanted.asked, from)
  const own = await ownRows(wanted, from)
  if (!own.ok) return passThrough(wanted.asked, from)
  const { rows, read } = own.value
  if (isWhole(rows, read, wanted)) return ok(heldAnswer(rows.slice(0, wanted.limit), read))
  if (read.ended === 'work' && wanted.order === 'oldest') return err(TOO_MUCH)
  const untilMs = Math.min(wanted.toMs, read.since.time)
  const theirs = await passThrough(wanted.until?.(untilMs) ?? wanted.asked, from)
  if (!theirs.ok) {
    // Newest first, what follows is asked for again; oldest first, it would never be missed.
    const isAnswer = isNobody(theirs.error) || (wanted.order === 'newest' && rows.length > 0)
    return isAnswer ? ok(heldAnswer(rows.slice(0, wanted.limit), read)) : theirs
  }
  const { body } = theirs.value
  const told = JSON.parse(body) as readonly Row[]
  if (!Array.isArray(told)) return theirs
  const all = joinedRows(rows, told, { ...wanted, untilMs }).slice(0, Math.max(wanted.limit, told.length))
  return ok(
    all.length === told.length && rows.length === 0 ? { ...heldAnswer(null, read), body } : heldAnswer(all, read),
  )
}

/** Rows in the order of the answer. */
async function ownRows<Row>(
  wanted: RowsWanted<Row>,
  { past }: Pick<Sources, 'past'>,
): Promise<Result<{ readonly rows: readonly Row[]; readonly read: PastRead }, Failure>> {
  const { kind, scope, fromMs, toMs, order, limit, rowsOf } = wanted
  const rows: Row[] = []
  const read = await past.read({ kind, scope, fromMs, toMs, order }, (block) => {
    const own = rowsOf(block)
    rows.push(...(order === 'newest' ? own.toReversed() : own))
    return rows.length < limit
  })
  return read.ok ? ok({ rows, read: read.value }) : read
}

/** Whether a source knows nothing to add: all of the page is of a time from which on nothing is missing. */
function isWhole<Row>(
  rows: readonly Row[],
  { since, ended }: PastRead,
  { order, fromMs, limit, timeOf }: RowsWanted<Row>,
) {
  const last = rows[limit - 1]
  if (last === undefined && ended === 'work') return false
  return fromMs > since.time || (order === 'newest' && last !== undefined && timeOf(last) > since.time)
}

/** No source serves the type: there is nobody to wait for. */
export function isNobody(failure: Failure): boolean {
  return failure.kind === 'unavailable' && failure.retryAfterMs === undefined
}
