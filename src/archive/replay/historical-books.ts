// Books at any height: those of a checkpoint, and after it the blocks that follow. Laws: the same books with the same `seq` and
// `prev_seq` as a hub has that took the same checkpoint and blocks; once a block is missing, its changes are not known or its
// books are of another epoch, nothing is told until another checkpoint begins anew.

import type { Coin } from '../../core/coin.ts'
import type { LevelBook } from '../../order-books/level-book.ts'
import { ShardBooks } from '../../order-books/shard-books.ts'
import type { HubBlock } from '../../protocol/feed/log-api.ts'
import type { BookSnapshot } from '../../protocol/hub/hub-api.ts'
import type { CoinFragment } from '../../protocol/hub/hub-link.ts'
import type { ArchivedBook, ArchivedCheckpoint } from '../archive/archive-read.ts'

/** From where on no book is known, and why. */
export type BooksLoss =
  /** Blocks `from` to `to` are missing. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  /** What this block changed is not known, or what was repaired before it. */
  | { readonly kind: 'unknown'; readonly height: number }
  /** The books of this block are of another epoch. */
  | { readonly kind: 'epoch'; readonly height: number; readonly epoch: string }

export class HistoricalBooks {
  readonly #shard = new ShardBooks()
  readonly #epoch: string
  #height: number
  #time: number
  #loss: BooksLoss | null = null

  /** `books`: the checkpoint's, of all coins that are wanted. */
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
  /** Of the last block taken, or the checkpoint. */
  get height(): number {
    return this.#height
  }
  get time(): number {
    return this.#time
  }
  /** Each coin of a checkpoint has a height of its own: before this one not every book is known. */
  get completeAt(): number {
    return Math.max(this.#height, this.#shard.completeAt)
  }
  get loss(): BooksLoss | null {
    return this.#loss
  }

  /** What a block changed, none of one that was taken before; null where no book is known any more. */
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
    // A coin that changes and stands in no checkpoint was not sure when that was written.
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

  /** A coin's book after the last block taken; null where there is none, or where it is not known. */
  snapshot(coin: Coin): BookSnapshot | null {
    const encoded = this.#loss === null && this.completeAt === this.#height ? this.#shard.encode(coin) : null
    return encoded && { coin, time: this.#time, height: this.#height, epoch: this.#epoch, ...encoded }
  }
}
