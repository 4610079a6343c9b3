// What readers of the archive see of it: segments of lines, checkpoints of books, and objects that are not what their rows say.

import type { Coin } from '../../core/coin.ts'
import type { Levels } from '../../protocol/feed/block.ts'

/** Contiguous heights; `epoch` is that of their books, null where they are unknown. */
export interface ArchivedSegment {
  readonly chain: string
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
  readonly epoch: string | null
  /** Time of the block behind the last one, where it was known as the segment was written. */
  readonly nextMs?: number | null
}

/** Heights from `next` to `to` that the archive may have, and that are to come into files if no file has them. */
export interface UnfiledRange {
  readonly from: number
  readonly to: number
  readonly next: number
}

export interface ArchivedCheckpoint {
  readonly epoch: string
  /** The least of its books' heights. */
  readonly height: number
  readonly time: number
}

/** A coin's book after block `height`. */
export interface ArchivedBook {
  readonly coin: Coin
  readonly height: number
  readonly seq: number
  readonly levels: Levels
}

export interface ArchiveReader {
  /** In order of height, from the one that holds or follows a height (or time), at most `limit`. */
  segmentsFrom(
    at: { readonly height: number } | { readonly timeMs: number },
    limit: number,
  ): Promise<readonly ArchivedSegment[]>
  /** The last block that is archived; null: none is. */
  last(): Promise<number | null>
  /** In order, each when it is wanted; an ArchiveDamage before the first where the object is not as its row says. */
  lines(segment: ArchivedSegment, kind: 'events' | 'books'): AsyncIterable<string>
  checkpointAt(height: number): Promise<ArchivedCheckpoint | null>
  /** Books of a checkpoint, streamed: of these coins, or all. */
  books(height: number, coins: ReadonlySet<string> | null): AsyncIterable<ArchivedBook>
  gaps(from: number, to: number): Promise<readonly { readonly from: number; readonly to: number }[]>
}

/** An archived object differs from its row. Invariant: nothing of such an object is used. */
export class ArchiveDamage extends Error {
  readonly key: string

  constructor(key: string, what: 'missing' | 'truncated' | 'another one' | 'removed') {
    super(`${key} is ${what}`)
    this.name = 'ArchiveDamage'
    this.key = key
  }
}
