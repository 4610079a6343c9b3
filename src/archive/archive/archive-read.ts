// Read interface of the archive: segments of lines, checkpoints of books, and the error for damaged objects.

import type { Coin } from '../../core/coin.ts'
import type { Levels } from '../../protocol/feed/block.ts'

/** Contiguous heights. `epoch`: epoch of the books; null: unknown. */
export interface ArchivedSegment {
  readonly chain: string
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
  readonly epoch: string | null
  /** Time of the block after the last one, if it was known when the segment was written. */
  readonly nextMs?: number | null
}

/** Heights from `next` to `to` that the archive may have. They are written to files if no file has them. */
export interface UnfiledRange {
  readonly from: number
  readonly to: number
  readonly next: number
}

export interface ArchivedCheckpoint {
  readonly epoch: string
  /** The lowest height of its books. */
  readonly height: number
  readonly time: number
}

/** A coin's book as of block `height`. */
export interface ArchivedBook {
  readonly coin: Coin
  readonly height: number
  readonly seq: number
  readonly levels: Levels
}

export interface ArchiveReader {
  /** In height order, starting with the segment that contains or follows a height or time; at most `limit`. */
  segmentsFrom(
    at: { readonly height: number } | { readonly timeMs: number },
    limit: number,
  ): Promise<readonly ArchivedSegment[]>
  /** The last archived block; null if there is none. */
  last(): Promise<number | null>
  /** Streams lines in order. Throws ArchiveDamage before the first if the object does not match its row. */
  lines(segment: ArchivedSegment, kind: 'events' | 'books'): AsyncIterable<string>
  /** The last checkpoint at or below `height`. */
  checkpointAt(height: number): Promise<ArchivedCheckpoint | null>
  /** The first checkpoint above `height`. */
  checkpointAfter(height: number): Promise<ArchivedCheckpoint | null>
  /** Streams the books of a checkpoint, for these coins or all. */
  books(height: number, coins: ReadonlySet<string> | null): AsyncIterable<ArchivedBook>
  gaps(from: number, to: number): Promise<readonly { readonly from: number; readonly to: number }[]>
}

/** An archived object that does not match its row. Invariant: nothing of such an object is used. */
export class ArchiveDamage extends Error {
  readonly key: string

  constructor(key: string, what: 'missing' | 'truncated' | 'another one' | 'removed') {
    super(`${key} is ${what}`)
    this.name = 'ArchiveDamage'
    this.key = key
  }
}
