// What of the archive goes: what is older than its product is kept, and beyond a bound of bytes the oldest segments; never
// the newest segment, and checkpoints with the changes that they lead to. Pure, so that it can be shown before it is done.

import { DAY_MS } from '../../core/time.ts'

/** Days of block time; null: for good. */
export type RetentionDays = Readonly<Record<ArchiveProduct, number | null>>
export const ARCHIVE_PRODUCTS = ['events', 'books', 'checkpoints'] as const
type ArchiveProduct = (typeof ARCHIVE_PRODUCTS)[number]

export interface RetentionLimits {
  readonly days: RetentionDays
  readonly mostBytes: number | null
}

export interface SizedSegment {
  readonly first: number
  readonly last: number
  readonly bytes: number
}

/** What is due of a product now. Without objects its ends say nothing. */
export interface DueProduct {
  readonly product: ArchiveProduct
  readonly objects: number
  readonly bytes: number
  readonly first: number | null
  readonly last: number | null
  readonly firstMs: number | null
  readonly lastMs: number | null
}

export interface RetentionPlan {
  readonly kept: RetentionLimits
  readonly bytes: number
  readonly due: readonly DueProduct[]
}

export interface RemovalTotals {
  readonly objects: number
  /** Rows of segments of which nothing is left. */
  readonly segments: number
  readonly bytes: number
}

/** What the Archiver answers; null where nothing is archived. */
export interface RetentionApi {
  /** What would go, with these days in place of its own. */
  overdue(days: Partial<RetentionDays>): Promise<RetentionPlan | null>
  retain(): Promise<RemovalTotals | null>
}

/** What ended before is too old, by the later of both: a clock that is ahead removes nothing. Null: nothing is. */
export function cutoffMs(days: number | null, nowMs: number, newestMs: number): number | null {
  return days === null ? null : Math.min(nowMs, newestMs) - days * DAY_MS
}

/** How many of the oldest segments go; `segments` are the oldest, in order, of all that have `bytes` together. */
export function excessSegments<Segment extends SizedSegment>(
  segments: readonly Segment[],
  bytes: number,
  mostBytes: number,
): Segment[] {
  let rest = bytes
  const due: Segment[] = []
  for (const segment of segments) {
    if (rest <= mostBytes) break
    due.push(segment)
    rest -= segment.bytes
  }
  return due
}

/** True for a checkpoint that is of no use where `first` is the first height whose changes of books are kept. */
export function isCheckpointUnused(height: number, first: number): boolean {
  return height < first - 1
}
