// Types of the Archiver's requests to the log. Each request includes a progress report. Payloads carry `v`, because an
// object may be reset during a deploy.

import type { HeightAndTime } from './durable-api.ts'
import type { SkippedHeights } from './status-shape.ts'

/** Archive status shown by `/status`. */
export interface ArchiveReport {
  /** Last archived block; null: none yet. */
  readonly last: HeightAndTime | null
  readonly segments: number
  readonly checkpoint: HeightAndTime | null
  /** Last failure and its message. */
  readonly failure: { readonly atMs: number; readonly words: string } | null
  /** Gaps of the log as the archive has them. Missing: not known. */
  readonly gaps?: readonly ArchivedGap[]
}

/** A gap of the log, with numbers of its heights. Heights that are neither repaired nor missing are not known. */
export interface ArchivedGap extends SkippedHeights {
  readonly repaired: number
  /** Includes `beyond`. */
  readonly missing: number
  /** Heights that no source has. */
  readonly beyond: number
  /** Where heights were repaired from. */
  readonly sources: readonly string[]
}

/** Status of the archive files, sent by the Compactor and shown by `/status`. */
export interface FilesReport {
  readonly v: number
  /** First and last block covered by files; null: none yet. */
  readonly from: HeightAndTime | null
  readonly last: HeightAndTime | null
  readonly gaps: number
  readonly failure: ArchiveReport['failure']
}

export interface ArchiveRequest {
  readonly v: number
  /** All blocks up to this height are archived and may be dropped; null: none yet. */
  readonly archived: number | null
  /** First requested height; null: no blocks are requested. */
  readonly from: number | null
  readonly report: ArchiveReport
}

/**
 * Blocks that are stored together. Each field below has the bytes of its lines, in chunks. There is one line per
 * height.
 */
export interface StoredBlocks {
  readonly first: number
  readonly last: number
  readonly books: readonly Uint8Array[]
  readonly events: readonly Uint8Array[]
  /** Present if any of the blocks has payments. Blocks without payments have empty lines. */
  readonly payments?: readonly Uint8Array[]
  /** Entries of signed actions (replica-entries.ts), if requested. A line is empty if they are unknown. */
  readonly replica?: readonly Uint8Array[]
}

export type ArchivePart = StoredBlocks | { readonly gap: SkippedHeights }

export interface ArchivePage {
  readonly v: number
  /** Last durable block; null if there is none. */
  readonly head: HeightAndTime | null
  /** Current epoch of the books; null while unknown. */
  readonly epoch: string | null
  /**
   * Height of the last repair of individual books within the epoch. Applying the blocks alone does not produce the
   * repaired books.
   */
  readonly repairedAt: number | null
  /** The newest gaps of the log, which the Archiver looks up for its next report. */
  readonly gaps?: readonly SkippedHeights[]
  /** In order and without gaps. The first part may start below `from`. Empty if no further block is durable. */
  readonly parts: readonly ArchivePart[]
}
