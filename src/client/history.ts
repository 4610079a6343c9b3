// Reads all pages of paged info responses. Most lists are read by the gateway's cursor. A gateway without an archive
// has none, and some types have none: their next page starts at the last row's time. Invariant: no row is repeated or
// missed. If more rows have the same time than fit on a page, the rest cannot be read by time, which is an error.

import type { Answer, HistoryType, Page } from './api.ts'
import { WeirError } from './weir-error.ts'

interface Row {
  readonly [field: string]: unknown
}
interface Fields {
  readonly [field: string]: unknown
}
interface Paging {
  /** Whether the gateway returns the cursor of the next page. */
  readonly isByRow?: true
  /** Time of a row. The next page starts at the time of the last row. */
  readonly timeOf?: (row: Row) => unknown
  /** Whether each time has only one row, and the last row may still change. */
  readonly isRunning?: true
  readonly isNewestFirst?: true
  /** The field that contains the other fields of the request. */
  readonly within?: string
  /** Returns the cursor of the next page. */
  readonly cursor?: (last: Row) => string
}
type Request = (question: object) => Promise<Answer<readonly Row[]>>
type Send = (fields: Fields) => Promise<Answer<readonly Row[]>>

/** As long as more rows follow, a page of the exchange has at least this many rows. */
const FULL_PAGE = 500

const byTime: Paging = { timeOf: ({ time }) => time }
const byRow: Paging = { isByRow: true, ...byTime }
const PAGING: Readonly<Record<HistoryType, Paging>> = {
  builderFills: byRow,
  builderFillsByTime: byRow,
  candleSnapshot: { timeOf: ({ t }) => t, isRunning: true, within: 'req' },
  fundingHistory: byTime,
  userCompletedTradesByTime: { cursor: ({ close_time, tx_index }) => `${close_time}_${tx_index}` },
  userFillsByTime: byRow,
  userFunding: byRow,
  userNonFundingLedgerUpdates: byRow,
  userTwapSliceFillsByTime: {
    isByRow: true,
    timeOf: ({ fill }) => (fill as Row | undefined)?.time,
    isNewestFirst: true,
  },
}

/** Yields non-empty pages. */
export async function* pagesOf(type: HistoryType, fields: Fields, request: Request): AsyncGenerator<Page<Row>> {
  const paging = Object.hasOwn(PAGING, type) ? PAGING[type] : null
  if (paging === null) throw new TypeError(`history: ${String(type)} is not paged. Use info`)
  const send = (more: Fields) => request({ type, ...more })
  if (!paging.isByRow || !(yield* pagesByRow(fields, send))) yield* pagesByLastRow(type, paging, fields, send)
}

/** Returns false without a page if the gateway has no cursors for this list. */
async function* pagesByRow(fields: Fields, send: Send): AsyncGenerator<Page<Row>, boolean> {
  let page = await send({ cursor: '', ...fields }).catch((error: unknown) => {
    const isUnsupported = error instanceof WeirError && /^cursor: needs /.test(error.message)
    if (isUnsupported && fields.cursor === undefined) return null
    throw error
  })
  if (page === null) return false
  for (;;) {
    if (page.data?.length > 0) yield page
    if (page.nextCursor === null) return true
    page = await send({ ...fields, cursor: page.nextCursor })
  }
}

async function* pagesByLastRow(
  type: HistoryType,
  { timeOf, isRunning, isNewestFirst, within, cursor }: Paging,
  fields: Fields,
  send: Send,
): AsyncGenerator<Page<Row>> {
  const boundary = isNewestFirst || fields.reversed ? 'endTime' : 'startTime'
  let next: Fields = fields
  /** JSON strings of those rows on the previous page that have its last time. */
  let seen = new Set<string>()
  let last = Number.NEGATIVE_INFINITY
  for (;;) {
    const response = await send(next)
    const rows = Array.isArray(response.data) ? response.data : []
    const data = rows.filter((row) =>
      isRunning && timeOf ? Number(timeOf(row)) > last : !seen.has(JSON.stringify(row)),
    )
    const lastRow = rows.at(-1)
    const lastTime = lastRow && timeOf?.(lastRow)
    if (data.length > 0) yield { ...response, data }
    else if (timeOf && rows.length >= FULL_PAGE && rows[0] && timeOf(rows[0]) === lastTime)
      throw new WeirError('page_too_dense', `${type} has more rows at ${String(lastTime)} than fit on a page`)
    if (!lastRow || data.length === 0) return
    if (cursor) next = { ...fields, cursor: cursor(lastRow) }
    else if (timeOf) {
      const from = { [boundary]: lastTime }
      last = Number(lastTime)
      next = within ? { ...fields, [within]: { ...(fields[within] as Fields), ...from } } : { ...fields, ...from }
      seen = new Set(rows.filter((row) => timeOf(row) === lastTime).map((row) => JSON.stringify(row)))
    }
  }
}
