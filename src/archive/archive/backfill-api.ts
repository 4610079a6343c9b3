// What the gateway asks of the Archiver for who fills the archive. Types alone.

import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { BackfillBlock } from './backfill-lines.ts'
import type { CutGap } from './segment-cutter.ts'

export interface BackfillRequest {
  readonly v: number
  readonly blocks: readonly BackfillBlock[]
}

/** What is new by it; or why nothing is taken: the log has archived nothing yet, or the archive is at its bound. */
export type BackfillResult =
  /** `next`: the blocks from this height on were too many pieces, and are to be sent again; null: all is there. */
  | { readonly blocks: number; readonly segments: number; readonly bytes: number; readonly next: number | null }
  | { readonly refused: 'empty' }
  | { readonly refused: 'full'; readonly bytes: number; readonly mostBytes: number }

/** The archive as whoever fills it must know it: all heights from `from` on are there, but for the gaps. */
export interface BackfillState {
  /** Null: there is nothing. */
  readonly from: HeightAndTime | null
  /** From here on the log archives, and nothing is taken; null: it has not begun, and nothing is taken at all. */
  readonly before: HeightAndTime | null
  /** Below `before`, in order. */
  readonly gaps: readonly CutGap[]
  /** The height from which to ask for more gaps; null: these were all. */
  readonly next: number | null
}
