// Types of backfill calls from the gateway to the Archiver.

import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { ArchivedCheckpoint } from './archive-read.ts'
import type { BackfillBlock } from './backfill-lines.ts'
import type { CutGap } from './segment-cutter.ts'

export interface BackfillRequest {
  readonly v: number
  /** Where the blocks are from, in the words of the operator. */
  readonly source: string
  readonly blocks: readonly BackfillBlock[]
  /** SHA-256 of the uploaded checkpoint of the books after the last block; null if there is none. */
  readonly checkpoint: string | null
}

/** The file of all books after a block. */
export interface CheckpointFile {
  readonly height: number
  readonly bytes: number
  readonly sha256: string
}

export type UploadResult = 'stored' | 'archived' | 'altered'

/** A checkpoint whose object is stored. It counts once it has a row. */
export interface UploadedCheckpoint extends ArchivedCheckpoint, CheckpointFile {
  readonly coins: number
}

/**
 * The additions, or the reason for a refusal: nothing is archived yet, the archive is full, or the source contradicts the
 * archived blocks.
 */
export type BackfillResult =
  /**
   * `next`: the first height that did not fit within the segment limit. The blocks from there must be sent again. Null
   * if all were stored.
   */
  | { readonly blocks: number; readonly segments: number; readonly bytes: number; readonly next: number | null }
  | { readonly refused: 'empty' }
  /** Other archive work uses the memory. A retry helps. */
  | { readonly refused: 'busy' }
  | { readonly refused: 'full'; readonly bytes: number; readonly maxBytes: number }
  | { readonly refused: 'contradiction'; readonly reason: string }

/** Result of asking a source for the heights of a gap that stayed missing. */
export const ATTEMPT_OUTCOMES = [
  /** The source does not have the heights. */
  'absent',
  /** The source has some of the heights. */
  'partial',
  /** The blocks of the source contradict the archive. */
  'refused',
  /** The source could not be read. */
  'failed',
] as const

/** The last attempt of a source, and the number of attempts. */
export interface RepairAttempt {
  readonly source: string
  readonly outcome: (typeof ATTEMPT_OUTCOMES)[number]
  readonly message: string
  readonly tries: number
  readonly atMs: number
}

export interface ArchiveGap extends CutGap {
  /** When the log skipped these heights, Unix ms; null if the gap is among older blocks that were imported. */
  readonly recordedMs: number | null
  /** When every source was found to lack these heights; null while a source may still have them. */
  readonly beyondMs: number | null
}

type TriedGap = ArchiveGap & { readonly attempts: readonly RepairAttempt[] }

/** Backfill state. All heights from `from` upward exist, except the gaps. */
export interface BackfillState {
  /** The first archived block; null if the archive is empty. */
  readonly from: HeightAndTime | null
  /**
   * The first height that is not archived yet, and the time of the block below it. Backfill is not accepted from this
   * height upward. Null if the archive is empty; then no backfill is accepted.
   */
  readonly before: HeightAndTime | null
  /** Gaps below `before`, in height order. */
  readonly gaps: readonly TriedGap[]
  /** Height at which the next page of gaps starts; null if there are no more. */
  readonly next: number | null
}

/** Heights that were missing until this repair. Repairs of a chain are numbered in order. */
export interface Repair {
  readonly id: number
  readonly from: number
  readonly to: number
  readonly known: 'fills' | 'events'
  /** Whether the changes of the books came with it. */
  readonly hasBooks: boolean
  readonly source: string
  readonly atMs: number
}

/** An attempt at the heights `from` to `to`. `isBeyond`: no source has them. */
export interface AttemptReport extends Omit<RepairAttempt, 'tries'> {
  readonly from: number
  readonly to: number
  readonly isBeyond: boolean
}
