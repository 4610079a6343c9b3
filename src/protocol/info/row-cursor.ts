// Cursors that name a row of a list. A cursor is bound to its request: with any other field changed, it is rejected.
// Its format may change. Callers return it unchanged.

import * as z from 'zod'
import { hash32 } from '../../core/hash.ts'
import { optional } from './request-fields.ts'

/** A row of the own history, with all rows before it. `rows`: rows passed in its block; 0: all of them. */
export interface RowPlace {
  readonly by: 'row'
  readonly height: number
  readonly rows: number
  readonly timeMs: number
}

/** Rows of this time and beyond, in the direction of the list, follow. All other rows were passed. */
interface TimePlace {
  readonly by: 'time'
  readonly timeMs: number
}

export type Place = RowPlace | TimePlace

/** Selects the first page. */
const FIRST = ''
/** The published pattern says little, so that the format may change. */
const ROW = '[rt]-[0-9a-z-]{3,45}'
const NUMBER = '[0-9a-z]{1,10}'
const PLACE = new RegExp(`^(?:r-${NUMBER}-${NUMBER}-${NUMBER}|t-${NUMBER})$`)
const RADIX = 36

const FORMAT = 'must be "" for the first page, or the next cursor of the previous page'
const DESCRIPTION = 'Reads page by page: `""` for the first page, then `x-next-cursor` of the previous page'

export const RowCursor = optional(z.string().regex(new RegExp(`^(?:${ROW})?$`), FORMAT)).describe(
  `${DESCRIPTION}; absent: one page`,
)

/** Either a row cursor, or a time: the page continues strictly before it. */
export const RowOrTimeCursor = optional(
  z.string().regex(new RegExp(`^(?:\\d{1,15}|${ROW})?$`), `${FORMAT}, or a time in Unix milliseconds`),
).describe(`${DESCRIPTION}. Or a time, which continues before that millisecond; absent: newest page`)

interface CursorRequest {
  readonly cursor?: string | undefined
}

/** Whether a request reads by row, as opposed to by time. */
export function isByRow({ cursor }: CursorRequest): boolean {
  return cursor !== undefined && !/^\d+$/.test(cursor)
}

/** Rejects a cursor of another request. */
export function withOwnCursor<T extends z.ZodType<CursorRequest>>(request: T): T {
  return request.refine((parsed) => !isByRow(parsed) || parsed.cursor === FIRST || isOwn(parsed), {
    path: ['cursor'],
    message: 'is not of this request. Send the same fields as for the first page, or start again with ""',
  })
}

export function writeCursor(request: CursorRequest, place: Place): string {
  const numbers = place.by === 'row' ? [place.timeMs, place.height, place.rows] : [place.timeMs]
  const text = [place.by.charAt(0), ...numbers.map((number) => number.toString(RADIX))].join('-')
  return `${text}-${checkOf(request, text)}`
}

/** The place after which the page starts; null: first page. The request must have passed `withOwnCursor`. */
export function placeOf({ cursor = FIRST }: CursorRequest): Place | null {
  const [kind, ...numbers] = cursor.split('-')
  const [timeMs = 0, height = 0, rows = 0] = numbers.map((number) => Number.parseInt(number, RADIX))
  if (kind === FIRST) return null
  return kind === 'r' ? { by: 'row', height, rows, timeMs } : { by: 'time', timeMs }
}

function isOwn(request: CursorRequest): boolean {
  const { cursor = FIRST } = request
  const end = cursor.lastIndexOf('-')
  const place = cursor.slice(0, end)
  return PLACE.test(place) && cursor.slice(end + 1) === checkOf(request, place)
}

/** Detects accidents. It protects nothing: a cursor gives access to no other rows. */
function checkOf(request: CursorRequest, place: string): string {
  return hash32(JSON.stringify({ ...request, cursor: place })).toString(RADIX)
}
