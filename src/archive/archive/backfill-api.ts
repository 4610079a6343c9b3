// Types of backfill calls from the gateway to the Archiver.

import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { BackfillBlock } from './backfill-lines.ts'
import type { CutGap } from './segment-cutter.ts'

export interface BackfillRequest {
  readonly v: number
  readonly blocks: readonly BackfillBlock[]
}

/** The additions, or the reason for a refusal: the log has archived nothing yet, or the archive is full. */
export type BackfillResult =
  /**
   * `next`: the blocks starting at this height exceeded the segment limit and must be sent again; null: all were
   * stored.
   */
  | { readonly blocks: number; readonly segments: number; readonly bytes: number; readonly next: number | null }
  | { readonly refused: 'empty' }
  | { readonly refused: 'full'; readonly bytes: number; readonly maxBytes: number }

/** Backfill state: all heights starting at `from` exist, except the gaps. */
export interface BackfillState {
  /** Null: the archive is empty. */
  readonly from: HeightAndTime | null
  /**
   * The log archives the heights starting here, so no backfill is accepted for them; null: it has not started, and
   * nothing is accepted.
   */
  readonly before: HeightAndTime | null
  /** Below `before`, in order. */
  readonly gaps: readonly CutGap[]
  /** Height of the next page of gaps; null if there are no more. */
  readonly next: number | null
}
