// What the Archiver asks of the log, and what it tells of itself with each question. Types alone.
// Payloads carry `v`, because an object may be reset amid a deploy.

import type { HeightAndTime } from './durable-api.ts'
import type { SkippedHeights } from './status-shape.ts'

/** What `/status` tells of the archive. */
export interface ArchiveReport {
  /** The last block that is archived; null: none yet. */
  readonly last: HeightAndTime | null
  readonly segments: number
  readonly checkpoint: HeightAndTime | null
  /** What went wrong last, in words. */
  readonly failure: { readonly atMs: number; readonly words: string } | null
}

/** What the Compactor tells of the files, which `/status` tells on. */
export interface FilesReport {
  readonly v: number
  /** The first block that a file covers, and the last; null: none yet. */
  readonly from: HeightAndTime | null
  readonly last: HeightAndTime | null
  readonly gaps: number
  readonly failure: ArchiveReport['failure']
}

export interface ArchiveRequest {
  readonly v: number
  /** Up to here all is archived, and need not be kept for it; null: nothing is yet. */
  readonly archived: number | null
  /** First height wanted; null: no blocks. */
  readonly from: number | null
  readonly report: ArchiveReport
}

/** Blocks that are stored together: of each kind the bytes of its lines, in pieces, a line for each height. */
export interface StoredBlocks {
  readonly first: number
  readonly last: number
  readonly books: readonly Uint8Array[]
  readonly events: readonly Uint8Array[]
  /** Where a block of them has any; a line is empty where its block has none. */
  readonly payments?: readonly Uint8Array[]
}

export type ArchivePart = StoredBlocks | { readonly gap: SkippedHeights }

export interface ArchivePage {
  readonly v: number
  /** The last durable block, null while there is none. */
  readonly head: HeightAndTime | null
  /** Of the books as they stand, null while they are not known. */
  readonly epoch: string | null
  /** Where single books were last repaired inside the epoch: no block leads there. */
  readonly repairedAt: number | null
  /** In order and without a hole; the first may begin below `from`. None where nothing more is durable. */
  readonly parts: readonly ArchivePart[]
}
