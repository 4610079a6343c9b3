// A book of `l2BookDiff`: a snapshot with all later changes. Its connection must have no other body of that channel.

import { LevelBook } from '../order-books/level-book.ts'
import type { Levels } from '../protocol/feed/block.ts'
import type { ChannelTypes } from './wire.ts'

type Snapshot = Extract<ChannelTypes['l2BookDiff']['frame']['data'], { Snapshot: unknown }>['Snapshot']

export class SnapshotBook {
  readonly coin: string
  /** Height of the snapshot or of the last change. */
  height: number
  /** Time of the block at `height`, in Unix ms. */
  time: number
  readonly #book: LevelBook

  constructor({ coin, block_height: height, time, levels }: Snapshot) {
    this.coin = coin
    this.height = height
    this.time = time
    this.#book = LevelBook.of(levels)
  }

  /** Applies the changes of a block. Returns false if the book already includes the block. */
  apply(levels: Levels, height: number, time: number): boolean {
    if (height <= this.height) return false
    this.#book.apply(levels)
    this.height = height
    this.time = time
    return true
  }

  /** `depth` levels per side, best first. */
  levels(depth?: number): Levels {
    return this.#book.levels(depth)
  }
}
