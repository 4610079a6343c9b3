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
const MAX_LENGTH = 220
const FORM = /^(\d{1,6})\.([0-9a-z]{1,10})\.([\x21-\x7e]{0,200})$/

/** A cursor; the parsed value is its page. */
export const CURSOR = z
  .string()
  .max(MAX_LENGTH)
  .transform((text, context) => {
    const page = readCursor(text)
    if (page === null) context.addIssue({ code: 'custom', message: 'must be next_cursor of the previous result' })
    return page ?? z.NEVER
  })
  .optional()
  .describe('next_cursor of the previous result; change no other argument. Each page costs the price again')

function readCursor(text: string): Page | null {
  const match = FORM.exec(text)
  if (match === null) return null
  const [, offset, started = '', source = ''] = match
  return { offset: Number(offset), startedMs: Number.parseInt(started, RADIX), source }
}

export function writeCursor({ offset, source }: Page, startedMs: number): string {
  return `${offset}.${startedMs.toString(RADIX)}.${source}`
}
