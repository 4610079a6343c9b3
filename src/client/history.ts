// Answers that come in pages, read to their end: by the cursor of the last row, or by its time, of which the rows that came
// are dropped. Law: no row twice and none left out; where more rows of one time than a page holds cannot be told apart from
// the end, that is an error and no end.

import type { Answer, HistoryType, Page } from './api.ts'
import { WeirError } from './weir-error.ts'

interface Row {
  readonly [field: string]: unknown
}
interface Fields {
  readonly [field: string]: unknown
}
interface Paging {
  /** Field of a row that is its time, by which the next page begins. */
  readonly time?: string
  /** There is one row of each time, and the last of them may still change. */
  readonly isRunning?: true
  /** The fields stand within this one. */
  readonly within?: string
  /** What the next page is asked with instead. */
  readonly cursor?: (last: Row) => string
}

/** No page of the exchange holds fewer where more follow. */
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

/** Page by page, none of them empty. */
export async function* pagesOf(
  type: HistoryType,
  fields: Fields,
  ask: (question: object) => Promise<Answer<readonly Row[]>>,
): AsyncGenerator<Page<Row>> {
  const paging = Object.hasOwn(PAGING, type) ? PAGING[type] : null
  if (paging === null) throw new TypeError(`history: ${String(type)} has no pages: ask it with info`)
  const { time, isRunning, within, cursor } = paging
  let next: Fields = fields
  /** Texts of the rows of the last page's last time. */
  let had = new Set<string>()
  let last = Number.NEGATIVE_INFINITY
  for (;;) {
    const answer = await ask({ type, ...next })
    const rows = Array.isArray(answer.data) ? answer.data : []
    const data = rows.filter((row) => (isRunning && time ? Number(row[time]) > last : !had.has(JSON.stringify(row))))
    const end = rows.at(-1)
    if (data.length > 0) yield { ...answer, data }
    else if (time && rows.length >= FULL_PAGE && rows[0]?.[time] === end?.[time])
      throw new WeirError('page_too_dense', `more rows of ${type} at ${String(end?.[time])} than a page holds`)
    if (!end || data.length === 0) return
    if (cursor) next = { ...fields, cursor: cursor(end) }
    else if (time) {
      const from = { startTime: end[time] }
      last = Number(end[time])
      next = within ? { ...fields, [within]: { ...(fields[within] as Fields), ...from } } : { ...fields, ...from }
      had = new Set(rows.filter((row) => row[time] === end[time]).map((row) => JSON.stringify(row)))
    }
  }
}
