// Cursors of the tools. A cursor has the rows that were sent, the time of the first page, and the cursor of the surface
// that the rows come from.

import * as z from 'zod'

export interface Page {
  /** Rows of the answer that earlier pages had. */
  readonly offset: number
  /** Time of the first page; null: this is the first page. */
  readonly startedMs: number | null
  /** Cursor of the surface; empty: its first page. */
  readonly source: string
}

export const FIRST_PAGE: Page = { offset: 0, startedMs: null, source: '' }

const RADIX = 36
const FORM = /^(\d{1,6})\.([0-9a-z]{1,10})\.([\x21-\x7e]{0,200})$/

/** A cursor; the parsed value is its page. */
export const CURSOR = z
  .string()
  .regex(FORM, 'must be next_cursor of the previous result')
  .transform(readCursor)
  .optional()
  .describe('next_cursor of the previous result, with all other arguments unchanged. Each page costs the price again')

function readCursor(text: string): Page {
  const [, offset = '0', started = '0', source = ''] = FORM.exec(text) ?? []
  return { offset: Number(offset), startedMs: Number.parseInt(started, RADIX), source }
}

export function writeCursor({ offset, source }: Page, startedMs: number): string {
  return `${offset}.${startedMs.toString(RADIX)}.${source}`
}
