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
   * `next`: the first height that did not fit within the segment limit. The blocks from there must be sent again. Null
   * if all were stored.
   */
  | { readonly blocks: number; readonly segments: number; readonly bytes: number; readonly next: number | null }
  | { readonly refused: 'empty' }
  | { readonly refused: 'full'; readonly bytes: number; readonly maxBytes: number }

/** Backfill state. All heights from `from` upward exist, except the gaps. */
export interface BackfillState {
  /** The first archived block; null if the archive is empty. */
  readonly from: HeightAndTime | null
  /**
   * The first block that the log archives. Backfill is not accepted from this height upward. Null if the log has
   * archived nothing yet; then no backfill is accepted.
   */
  readonly before: HeightAndTime | null
  /** Gaps below `before`, in height order. */
  readonly gaps: readonly CutGap[]
  /** Height at which the next page of gaps starts; null if there are no more. */
  readonly next: number | null
}
