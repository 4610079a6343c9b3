// Reads all pages of paged info responses. The next page starts at the last row's cursor or time. Invariant: no row is
// repeated or missed. If more rows have the same time than fit on a page, the rest cannot be read, which is an error.

import type { Answer, HistoryType, Page } from './api.ts'
import { WeirError } from './weir-error.ts'

interface Row {
  readonly [field: string]: unknown
}
interface Fields {
  readonly [field: string]: unknown
}
interface Paging {
  /** Field with the time of a row. The next page starts at the time of the last row. */
  readonly time?: string
  /** Whether each time has only one row, and the last row may still change. */
  readonly isRunning?: true
  /** The field that contains the other fields of the request. */
  readonly within?: string
  /** Returns the cursor of the next page. */
  readonly cursor?: (last: Row) => string
}

/** As long as more rows follow, a page of the exchange has at least this many rows. */
const FULL_PAGE = 500

const byTime: Paging = { time: 'time' }
const newestFirst: Paging = { cursor: ({ time }) => String(time) }
const PAGING: Readonly<Record<HistoryType, Paging>> = {
  builderFills: newestFirst,
  builderFillsByTime: newestFirst,
  candleSnapshot: { time: 't', isRunning: true, within: 'req' },
  fundingHistory: byTime,
  userCompletedTradesByTime: { cursor: ({ close_time, tx_index }) => `${close_time}_${tx_index}` },
  userFillsByTime: byTime,
  userFunding: byTime,
  userNonFundingLedgerUpdates: byTime,
  userTwapSliceFillsByTime: byTime,
}

/** Yields non-empty pages. */
export async function* pagesOf(
  type: HistoryType,
  fields: Fields,
  request: (question: object) => Promise<Answer<readonly Row[]>>,
): AsyncGenerator<Page<Row>> {
  const paging = Object.hasOwn(PAGING, type) ? PAGING[type] : null
  if (paging === null) throw new TypeError(`history: ${String(type)} is not paged. Use info`)
  const { time, isRunning, within, cursor } = paging
  let next: Fields = fields
  /** JSON strings of those rows on the previous page that have its last time. */
  let seen = new Set<string>()
  let last = Number.NEGATIVE_INFINITY
  for (;;) {
    const response = await request({ type, ...next })
    const rows = Array.isArray(response.data) ? response.data : []
    const data = rows.filter((row) => (isRunning && time ? Number(row[time]) > last : !seen.has(JSON.stringify(row))))
    const lastRow = rows.at(-1)
    if (data.length > 0) yield { ...response, data }
    else if (time && rows.length >= FULL_PAGE && rows[0]?.[time] === lastRow?.[time])
      throw new WeirError('page_too_dense', `${type} has more rows at ${String(lastRow?.[time])} than fit on a page`)
    if (!lastRow || data.length === 0) return
    if (cursor) next = { ...fields, cursor: cursor(lastRow) }
    else if (time) {
      const from = { startTime: lastRow[time] }
      last = Number(lastRow[time])
      next = within ? { ...fields, [within]: { ...(fields[within] as Fields), ...from } } : { ...fields, ...from }
      seen = new Set(rows.filter((row) => row[time] === lastRow[time]).map((row) => JSON.stringify(row)))
    }
  }
}
