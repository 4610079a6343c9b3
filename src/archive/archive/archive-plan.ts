// When the Archiver writes what: its next look at the log, checkpoints of all books, tries after failures.

import type { Backoff } from '../../core/backoff.ts'
import { MINUTE_MS } from '../../core/time.ts'
import type { ArchivePage } from '../../protocol/feed/archive-api.ts'

/** From one checkpoint to the next: what lies between has to be read for a book of the past, some 13,000 lines. */
const SPAN_MS = 15 * MINUTE_MS
/** A block is durable in the log so soon after its time. */
const DURABLE_MS = 1_500
/** Books that were repaired are written anew no more often. */
const REPAIRS_MS = MINUTE_MS

/** After failures: the log keeps what waits, for hours. */
export const RETRY: Backoff = { firstMs: 1_000, capMs: MINUTE_MS, jitter: 0.5 }

export interface LastCheckpoint {
  readonly epoch: string
  readonly height: number
  readonly time: number
}

/** How long after the newest block (of time `headMs`) the segment that ends at `endMs` of block time can be whole. */
export function waitMs(endMs: number, headMs: number): number {
  return Math.min(MINUTE_MS, Math.max(1_000, endMs - headMs + DURABLE_MS))
}

/** Whether all books are to be written: each quarter of an hour, in each epoch, and where no block leads to a book. */
export function isCheckpointDue(
  last: LastCheckpoint | null,
  { head, epoch, repairedAt }: Pick<ArchivePage, 'head' | 'epoch' | 'repairedAt'>,
): boolean {
  if (head === null || epoch === null) return false
  if (last === null || last.epoch !== epoch) return true
  // Times of blocks may fall, as where a clock was ahead.
  if (Math.floor(head.time / SPAN_MS) !== Math.floor(last.time / SPAN_MS)) return true
  return repairedAt !== null && repairedAt >= last.height && Math.abs(head.time - last.time) >= REPAIRS_MS
}
