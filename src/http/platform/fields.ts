// Fields that several requests and answers share.

import * as z from 'zod'
import { formatCredits, parseCredits } from '../../core/amount.ts'
import { wholeNumber } from '../../core/whole-number.ts'

/** How a caller said something that it should say otherwise, or that has no effect yet; beside an answer. */
export const WARNINGS = {
  warnings: z
    .array(z.string())
    .optional()
    .describe('What was understood, but should be said otherwise, or has no effect yet; left out where there is none'),
}

/** Warnings as they stand in an answer. */
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

export const CreditsText = z.string().regex(/^\d+(\.\d{1,6})?$/)

export const IdempotencyKey = z
  .string('is required')
  .regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable characters')
  .describe('Text of your choice: a retry with the same is not done again')

export const UnixMs = z.int().describe('Unix milliseconds')

const PAGE_MAX = 500
const PAGE = 100

export const Limit = wholeNumber(1, PAGE_MAX)
  .default(PAGE)
  .describe(`At most so many, up to ${PAGE_MAX}; ${PAGE} unless said`)

/** Where rows are numbered as they come, newest first. */
export const Before = wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('`next` of the page before')
export const Next = z.int().nullable().describe('`before` of the next page; null: this is the last one')

/** Where the next page begins, by the last row of this one; null where no more rows than fit were found. */
export function nextCursor<Row, Place>(
  rows: readonly Row[],
  limit: number,
  placeOf: (last: Row) => Place,
): Place | null {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return last === undefined ? null : placeOf(last)
}

/** A page of rows of which one more than fits was asked for. */
export function pageOf<Row extends { readonly number: number }>(rows: readonly Row[], limit: number) {
  return { rows: rows.slice(0, limit), next: nextCursor(rows, limit, ({ number }) => number) }
}

export const withoutNumber = <Row extends { readonly number: number }>({ number: _, ...row }: Row) => row

export const MicroText = z.int().transform(formatCredits)

export const SearchText = z.string().trim().min(1, 'is empty').max(100, 'must be at most 100 characters')
