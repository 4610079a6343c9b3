// Order books at any height, restored from a checkpoint and the blocks after it. Invariants: a book has the same `seq`
// and `prev_seq` as in a hub that processed the same data. After a missing block, unknown changes or an epoch change,
// no book is returned until another checkpoint is used.

import type { Coin } from '../../core/coin.ts'
import type { LevelBook } from '../../order-books/level-book.ts'
import { ShardBooks } from '../../order-books/shard-books.ts'
import type { HubBlock } from '../../protocol/feed/log-api.ts'
import type { BookSnapshot } from '../../protocol/hub/hub-api.ts'
import type { CoinFragment } from '../../protocol/hub/hub-link.ts'
import type { ArchivedBook, ArchivedCheckpoint } from '../archive/archive-read.ts'

/** The reason why the books are unknown from a height onward. */
export type BooksLoss =
  /** The blocks from `from` to `to` are missing. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  /** The changes of this block are unknown, or books were repaired before it. */
  | { readonly kind: 'unknown'; readonly height: number }
  /** The books of this block are of a different epoch. */
  | { readonly kind: 'epoch'; readonly height: number; readonly epoch: string }

export class HistoricalBooks {
  readonly #shard = new ShardBooks()
  readonly #epoch: string
  #height: number
  #time: number
  #loss: BooksLoss | null = null

  /** `books`: the books of the checkpoint for all requested coins. */
  constructor({ epoch, height, time }: ArchivedCheckpoint, books: readonly ArchivedBook[]) {
    this.#epoch = epoch
    this.#height = height
    this.#time = time
    const states = books.map((book) => ({ ...book, epoch, time, lastPx: null }))
    if (this.#shard.restore(epoch, height, states) === null) this.#shard.resetTo(epoch, height, [])
  }

  get epoch(): string {
    return this.#epoch
  }
  /** Height of the last applied block, or of the checkpoint if none was applied. */
  get height(): number {
    return this.#height
  }
  get time(): number {
    return this.#time
  }
  /** The height from which all books are known. The books of a checkpoint have different heights. */
  get completeAt(): number {
    return Math.max(this.#height, this.#shard.completeAt)
  }
  get loss(): BooksLoss | null {
    return this.#loss
  }

  /**
   * Applies a block and returns its changes; empty if the block was already applied. Null if books are no longer known.
   */
  apply(block: HubBlock): readonly CoinFragment[] | null {
    if (this.#loss !== null) return null
    if (block.height <= this.#height) return []
    if (block.height > this.#height + 1) {
      this.#loss = { kind: 'gap', from: this.#height + 1, to: block.height - 1 }
      return null
    }
    if (block.repaired !== undefined) {
      this.#loss = { kind: 'unknown', height: block.height }
      return null
    }
    const outcome = this.#shard.apply(block)
    this.#height = block.height
    this.#time = block.time
    if (outcome.kind !== 'applied') return []
    // A changed coin that is missing from the checkpoint was unverified when the checkpoint was written.
    if (this.#shard.suspects.length > 0) {
      this.#loss = { kind: 'unknown', height: block.height }
      return null
    }
    if (this.#shard.ready) return outcome.fragments
    const { height, epoch, books } = block
    this.#loss = books === null || epoch === null ? { kind: 'unknown', height } : { kind: 'epoch', height, epoch }
    return null
  }

  coins(): readonly string[] {
    return [...this.#shard.coins()]
  }

  bookOf(coin: Coin): LevelBook | undefined {
    return this.#shard.get(coin)?.book
  }

  /** A coin's book after the last applied block; null if there is no book or it is unknown. */
  snapshot(coin: Coin): BookSnapshot | null {
    const encoded = this.#loss === null && this.completeAt === this.#height ? this.#shard.encode(coin) : null
    return encoded && { coin, time: this.#time, height: this.#height, epoch: this.#epoch, ...encoded }
  }
}
