// Fields shared by several requests and responses.

import * as z from 'zod'
import { formatCredits, parseCredits } from '../../core/amount.ts'
import { REGIONS } from '../../core/variables.ts'
import { wholeNumber } from '../../core/whole-number.ts'

/** Warnings in a successful response. */
export const WARNINGS = {
  warnings: z
    .array(z.string())
    .optional()
    .describe('Warnings about accepted input that is deprecated or has no effect yet; absent if there are none'),
}

/** Response field for these warnings. */
export function withWarnings(warnings: readonly string[]) {
  return warnings.length === 0 ? {} : { warnings }
}

export const Credits = z
  .union([z.number(), z.string()], 'must be a number of credits such as 100 or "0.13"')
  .transform((credits, context) => {
    const micro = parseCredits(credits)
    if (micro.ok) return micro.value
    context.addIssue({ code: 'custom', message: micro.error })
    return z.NEVER
  })

export const MeterRegion = z
  .enum(REGIONS, `must be one of ${REGIONS.join(', ')}`)
  .optional()
  .describe('Region of the account’s future calls, where its credit meter is created and stays; absent: `FEED_REGION`')

export const CreditsText = z.string().regex(/^\d+(\.\d{1,6})?$/)

export const IdempotencyKey = z
  .string('is required')
  .regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable characters')
  .describe('String of your choice; a retry with the same key has no further effect')

export const UnixMs = z.int().describe('Unix milliseconds')

const PAGE_MAX = 500
const PAGE = 100

export const Limit = wholeNumber(1, PAGE_MAX)
  .default(PAGE)
  .describe(`Maximum rows per page, up to ${PAGE_MAX}; default ${PAGE}`)

/** Cursor of lists whose rows are numbered, newest first. */
export const Before = wholeNumber(1, Number.MAX_SAFE_INTEGER)
  .optional()
  .describe('Value of `next` from the previous page')
export const Next = z.int().nullable().describe('Value of `before` for the next page; null: last page')

/** Cursor for the next page, from the last row of this page; null if there are no more rows. */
export function nextCursor<Row, Place>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => Place,
): Place | null {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return last === undefined ? null : cursorOf(last)
}

/** Splits rows into a page and its cursor; the caller fetched one row more than `limit`. */
export function pageOf<Row extends { readonly number: number }>(rows: readonly Row[], limit: number) {
  return { rows: rows.slice(0, limit), next: nextCursor(rows, limit, ({ number }) => number) }
}

export const withoutNumber = <Row extends { readonly number: number }>({ number: _, ...row }: Row) => row

export const MicroText = z.int().transform(formatCredits)

export const SearchText = z.string().trim().min(1, 'is empty').max(100, 'must be at most 100 characters')
