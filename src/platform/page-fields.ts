// What lists of the operator's console are asked with: a bounded page, and where it begins.

import * as z from 'zod'
import { wholeNumber } from '../core/whole-number.ts'

const PAGE_MAX = 500
const PAGE = 100

export const Limit = wholeNumber(1, PAGE_MAX)
  .default(PAGE)
  .describe(`At most so many, up to ${PAGE_MAX}; ${PAGE} unless said`)

/** Where rows are numbered as they come, newest first. */
export const Before = wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('`next` of the page before')
export const Next = z.int().nullable().describe('`before` of the next page; null: this is the last one')

/** A page of rows of which one more than fits was asked for. */
export function pageOf<Row extends { readonly number: number }>(rows: readonly Row[], limit: number) {
  return { rows: rows.slice(0, limit), next: rows.length > limit ? rows[limit - 1]!.number : null }
}

/** Text to look for, as people type it. */
export const SearchText = z.string().trim().min(1, 'is empty').max(100, 'must be at most 100 characters')
