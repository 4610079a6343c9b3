// Retention rules. Data older than its product's limit is removed, and so are the oldest segments above a size limit.
// The newest segment is never removed. A checkpoint is removed together with the changes that follow it. The rules are
// pure functions, so that a plan can be shown first.

import { DAY_MS } from '../../core/time.ts'

/** Age limit in days of block time; null to keep data forever. */
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

/** Expired data of a product. The bounds are null if no objects have expired. */
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
  /** Number of segments that have no data left. */
  readonly segments: number
  readonly bytes: number
}

/** Retention calls of the Archiver; null if nothing is archived. */
export interface RetentionApi {
  /** The removal plan; `days` replaces the configured limits. */
  overdue(days: Partial<RetentionDays>): Promise<RetentionPlan | null>
  retain(): Promise<RemovalTotals | null>
}

/**
 * Data that ended before this time is expired. The current time is the earlier of the clock and the newest block, so
 * that a fast clock removes nothing. Null if there is no limit.
 */
export function cutoffMs(days: number | null, nowMs: number, newestMs: number): number | null {
  return days === null ? null : Math.min(nowMs, newestMs) - days * DAY_MS
}

/**
 * The oldest segments that exceed the size limit. `segments`: all segments, oldest first; `bytes`: their total size.
 */
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

/** Whether no changes of books directly follow the checkpoint. `first`: the first height that has changes. */
export function isCheckpointUnused(height: number, first: number): boolean {
  return height < first - 1
}
