// Retention rules: data older than its product's limit, and the oldest segments above a size limit, but never the
// newest segment; checkpoints are removed together with the changes that follow them. Pure, so that a plan can be shown
// first.

import { DAY_MS } from '../../core/time.ts'

/** Days of block time; null: forever. */
export type RetentionDays = Readonly<Record<ArchiveProduct, number | null>>
export const ARCHIVE_PRODUCTS = ['events', 'books', 'checkpoints'] as const
type ArchiveProduct = (typeof ARCHIVE_PRODUCTS)[number]

export interface RetentionLimits {
  readonly days: RetentionDays
  readonly maxBytes: number | null
}

export interface SizedSegment {
  readonly first: number
  readonly last: number
  readonly bytes: number
}

/** Expired data of a product. Its bounds are null if there are no objects. */
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
  /** Segments that have no data left. */
  readonly segments: number
  readonly bytes: number
}

/** Retention calls of the Archiver; null if nothing is archived. */
export interface RetentionApi {
  /** The removal plan, with these days instead of the configured ones. */
  overdue(days: Partial<RetentionDays>): Promise<RetentionPlan | null>
  retain(): Promise<RemovalTotals | null>
}

/**
 * Data that ended before this time is expired. Uses the earlier of clock and newest block, so that a fast clock removes
 * nothing. Null: no limit.
 */
export function cutoffMs(days: number | null, nowMs: number, newestMs: number): number | null {
  return days === null ? null : Math.min(nowMs, newestMs) - days * DAY_MS
}

/** The oldest segments to remove. `segments`: oldest first; `bytes`: size of all segments. */
export function excessSegments<Segment extends SizedSegment>(
  segments: readonly Segment[],
  bytes: number,
  maxBytes: number,
): Segment[] {
  let rest = bytes
  const due: Segment[] = []
  for (const segment of segments) {
    if (rest <= maxBytes) break
    due.push(segment)
    rest -= segment.bytes
  }
  return due
}

/** Whether no changes of books follow the checkpoint. `first`: first height with changes. */
export function isCheckpointUnused(height: number, first: number): boolean {
  return height < first - 1
}
