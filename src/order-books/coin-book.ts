// One coin of a shard: its book, its `seq`, and the changes that clients have not received yet.

import type { Coin } from '../core/coin.ts'
import type { Levels } from '../protocol/feed/block.ts'
import type { CoinFragment } from '../protocol/hub/hub-link.ts'
import { ASKS, BIDS, type LevelBook } from './level-book.ts'

/**
 * Number of past states that a verified book can be compared with. They cover four seconds for a coin that changes with
 * every block.
 */
const MAX_DIGESTS = 64

/** A stored coin: the book, its `seq`, and the height and epoch of both. The keys must not change. */
export interface Checkpoint {
  readonly coin: Coin
  readonly epoch: string
  readonly height: number
  readonly time: number
  readonly seq: number
  readonly lastPx: string | null
  readonly levels: Levels
  /** Height up to which the shard's earlier checkpoints include every change. Present only in stored checkpoints. */
  readonly clean?: number
}

/** A whole book, ready to replace the current one. */
export interface PreparedBook {
  readonly coin: Coin
  readonly book: LevelBook
  /** The old book and its `seq`, to which `changes` apply; null for a new coin. */
  readonly from: { readonly book: LevelBook; readonly seq: number } | null
  readonly changes: Levels | null
}

/**
 * Does the expensive half of replacing a book, while the rest of the seed arrives. `known`: the coin's current book.
 */
export function prepareBook(coin: Coin, book: LevelBook, known?: CoinBook): PreparedBook {
  if (!known) return { coin, book, from: null, changes: null }
  return { coin, book, from: { book: known.book, seq: known.seq }, changes: known.book.changesTo(book) }
}

export class CoinBook {
  readonly coin: Coin
  book: LevelBook
  /** Height of the block that last changed the book. */
  seq: number
  /** True if a seed added the coin to a shard in use and clients do not know the coin yet. */
  isUnannounced: boolean
  /** Height of the last repair within the epoch; -1 before the first. */
  repairedAt = -1
  lastPx: string | null = null
  /** JSON string of the current book; dropped with the next change. */
  #encoded: string | null = null
  /**
   * Book from a reseed within the epoch. The next block replaces the current book with it, and clients get the
   * difference.
   */
  #reseeded: LevelBook | null = null
  /** Changes that clients of the old epoch need to reach the current book. They are published with the next block. */
  #owed: Levels | null = null
  /** Digests of the book, newest last. Each is valid from its height until the height of the next. */
  readonly #digests: { readonly height: number; readonly digest: number }[]

  constructor(coin: Coin, book: LevelBook, seq: number, isUnannounced = false) {
    this.coin = coin
    this.book = book
    this.seq = seq
    this.isUnannounced = isUnannounced
    this.#digests = [{ height: seq, digest: book.digest }]
  }

  /** Applies the changes of a block. If `owes` is true, the fragment includes the pending changes that clients need. */
  change(levels: Levels, height: number, owes: boolean): CoinFragment {
    const prevSeq = this.seq
    const owed = owes ? this.#takeDebt() : null
    const changes = this.book.apply(levels)
    this.#onChanged(height)
    return this.#fragment(prevSeq, owed ? overlay(owed, changes) : changes)
  }

  /** Publishes pending changes with a block that does not change the book. Returns the number of levels published. */
  payDebt(height: number, fragments: CoinFragment[]): number {
    const owed = this.#takeDebt() ?? (this.isUnannounced ? this.book.levels() : null)
    if (!owed) return 0
    fragments.push(this.#fragment(this.seq, owed))
    this.#onChanged(height)
    return owed[BIDS].length + owed[ASKS].length
  }

  /** Sets a reseeded book, valid at `height`. It replaces the current book with the next block. */
  repair(book: LevelBook, height: number): void {
    this.#reseeded = book
    this.repairedAt = height
  }

  /** Returns the coin for a new epoch, with the difference between the books as a pending change. */
  inNewEpoch({ book, from, changes }: PreparedBook, seq: number): CoinBook {
    const isSame = this.book === from?.book && this.seq === from.seq
    const lacking = isSame && changes ? changes : this.book.changesTo(book)
    const next = new CoinBook(this.coin, book, seq, this.isUnannounced)
    next.lastPx = this.lastPx
    next.#owed = this.#owed ? overlay(this.#owed, lacking) : lacking
    return next
  }

  /**
   * True when the book had a different digest after block `height`; false when that is unknown or the book is being
   * repaired.
   */
  differsAt(height: number, digest: number): boolean {
    const known = this.#reseeded ? undefined : this.#digests.findLast((one) => one.height <= height)
    return known !== undefined && known.digest !== digest
  }

  /** JSON string `[bids,asks]`. The whole book is encoded once per state. */
  encode(depth?: number): string {
    if (depth !== undefined) return JSON.stringify(this.book.levels(depth))
    this.#encoded ??= JSON.stringify(this.book.levels())
    return this.#encoded
  }

  #onChanged(height: number): void {
    this.seq = height
    this.#encoded = null
    this.#digests.push({ height, digest: this.book.digest })
    if (this.#digests.length > MAX_DIGESTS) this.#digests.shift()
  }

  /** Applies a pending reseed. Returns the changes that clients need, or null. */
  #takeDebt(): Levels | null {
    let owed = this.#owed
    this.#owed = null
    if (this.#reseeded) {
      const changes = this.book.changesTo(this.#reseeded)
      this.book = this.#reseeded
      this.#reseeded = null
      owed = owed ? overlay(owed, changes) : changes
    }
    return owed && owed[BIDS].length + owed[ASKS].length > 0 ? owed : null
  }

  /** The fragment for clients after a change: the whole book if they do not know the coin. */
  #fragment(prevSeq: number, levels: Levels): CoinFragment {
    const isUnannounced = this.isUnannounced
    this.isUnannounced = false
    const mark = isUnannounced ? '+' : '='
    return { mark, coin: this.coin, prevSeq, levels: JSON.stringify(isUnannounced ? this.book.levels() : levels) }
  }
}

/** Merges `later` over `earlier`. Entries are absolute states, one per price string. */
export function overlay(earlier: Levels, later: Levels): Levels {
  const side = (index: 0 | 1) => {
    const byPx = new Map(earlier[index].map((level) => [level.px, level]))
    for (const level of later[index]) {
      // If one price has several spellings, the latest of them must come last.
      byPx.delete(level.px)
      byPx.set(level.px, level)
    }
    return [...byPx.values()]
  }
  return [side(0), side(1)]
}
