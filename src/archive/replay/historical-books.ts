// Books at any height: a checkpoint plus the following blocks. Invariants: books have the same `seq` and `prev_seq` as
// in a hub that processed the same data; after a missing block, unknown changes or an epoch change, no book is returned
// until another checkpoint.

import type { Coin } from '../../core/coin.ts'
import type { LevelBook } from '../../order-books/level-book.ts'
import { ShardBooks } from '../../order-books/shard-books.ts'
import type { HubBlock } from '../../protocol/feed/log-api.ts'
import type { BookSnapshot } from '../../protocol/hub/hub-api.ts'
import type { CoinFragment } from '../../protocol/hub/hub-link.ts'
import type { ArchivedBook, ArchivedCheckpoint } from '../archive/archive-read.ts'

/** Why no book is known from here onward. */
export type BooksLoss =
  /** Blocks `from` to `to` are missing. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  /** The changes of this block, or repairs before it, are unknown. */
  | { readonly kind: 'unknown'; readonly height: number }
  /** The books of this block have another epoch. */
  | { readonly kind: 'epoch'; readonly height: number; readonly epoch: string }

export class HistoricalBooks {
  readonly #shard = new ShardBooks()
  readonly #epoch: string
  #height: number
  #time: number
  #loss: BooksLoss | null = null

  /** `books`: books of the checkpoint for all wanted coins. */
  constructor({ epoch, height, time }: ArchivedCheckpoint, books: readonly ArchivedBook[]) {
    this.#epoch = epoch
    this.#height = height
    this.#time = time
    const held = books.map((book) => ({ ...book, epoch, time, lastPx: null }))
    if (this.#shard.restore(epoch, height, held) === null) this.#shard.resetTo(epoch, height, [])
  }

  get epoch(): string {
    return this.#epoch
  }
  /** Height of the last applied block, or the checkpoint. */
  get height(): number {
    return this.#height
  }
  get time(): number {
    return this.#time
  }
  /** From this height on all books are known: each coin of a checkpoint has its own height. */
  get completeAt(): number {
    return Math.max(this.#height, this.#shard.completeAt)
  }
  get loss(): BooksLoss | null {
    return this.#loss
  }

  /** Changes of a block, empty if already applied; null: no book is known any more. */
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
    // A changed coin that the checkpoint lacks was unverified at that time.
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

  /** A coin's book as of the last block; null if there is none or it is unknown. */
  snapshot(coin: Coin): BookSnapshot | null {
    const encoded = this.#loss === null && this.completeAt === this.#height ? this.#shard.encode(coin) : null
    return encoded && { coin, time: this.#time, height: this.#height, epoch: this.#epoch, ...encoded }
  }
}
