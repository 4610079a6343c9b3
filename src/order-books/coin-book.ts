// One coin of a shard: its book, its place in the sequence, and what its clients have yet to be told.

import type { Coin } from '../core/coin.ts'
import type { Levels } from '../protocol/feed/block.ts'
import type { CoinFragment } from '../protocol/hub/hub-link.ts'
import { ASKS, BIDS, type LevelBook } from './level-book.ts'

/** So many states of a coin can be compared with what a feeder verified: four seconds of one that always changes. */
const MAX_DIGESTS = 64

/** A coin at rest: the book, its `seq`, and the height and epoch at which both were true. */
export interface Checkpoint {
  readonly coin: Coin
  readonly epoch: string
  readonly height: number
  readonly time: number
  readonly seq: number
  readonly lastPx: string | null
  readonly levels: Levels
  /** Height up to which every checkpoint of the shard that was stored before this one had all changes; of stored ones. */
  readonly clean?: number
}

/** A whole book made ready to be taken over. */
export interface PreparedBook {
  readonly coin: Coin
  readonly book: LevelBook
  /** The book and `seq` from which `changes` lead to it; null where there was none. */
  readonly from: { readonly book: LevelBook; readonly seq: number } | null
  readonly changes: Levels | null
}

/** The costly half of a take-over, done book by book while a seed comes in. `known`: what the coin has now. */
export function prepareBook(coin: Coin, book: LevelBook, known?: CoinBook): PreparedBook {
  if (!known) return { coin, book, from: null, changes: null }
  return { coin, book, from: { book: known.book, seq: known.seq }, changes: known.book.changesTo(book) }
}

export class CoinBook {
  readonly coin: Coin
  book: LevelBook
  /** Height of the block that last changed the book. */
  seq: number
  /** A seed brought it to a shard that has clients: they have yet to hear of it. */
  isUnannounced: boolean
  /** Height of the last repair inside the epoch, -1 before the first. */
  repairedAt = -1
  lastPx: string | null = null
  /** JSON text of the whole book at its present state; dropped with the next change. */
  #encoded: string | null = null
  /** Outcome of a reseed inside the epoch: becomes the book, and its difference a change, with the next block. */
  #reseeded: LevelBook | null = null
  /** What clients of the old epoch lack to hold the present book; published with the next block. */
  #owed: Levels | null = null
  /** Digests of the book, each from its height on; the newest last. */
  readonly #digests: { readonly height: number; readonly digest: number }[]

  constructor(coin: Coin, book: LevelBook, seq: number, isUnheard = false) {
    this.coin = coin
    this.book = book
    this.seq = seq
    this.isUnannounced = isUnheard
    this.#digests = [{ height: seq, digest: book.digest }]
  }

  /** Applies the changes of the block of `height`; `owes`: what clients lack goes along. */
  change(levels: Levels, height: number, owes: boolean): CoinFragment {
    const prevSeq = this.seq
    const owed = owes ? this.#takeDebt() : null
    const changes = this.book.apply(levels)
    this.#onChanged(height)
    return this.#fragment(prevSeq, owed ? overlay(owed, changes) : changes)
  }

  /** Tells with the block of `height`, which does not change the book, what clients lack; answers how many levels that were. */
  payDebt(height: number, fragments: CoinFragment[]): number {
    const owed = this.#takeDebt() ?? (this.isUnannounced ? this.book.levels() : null)
    if (!owed) return 0
    fragments.push(this.#fragment(this.seq, owed))
    this.#onChanged(height)
    return owed[BIDS].length + owed[ASKS].length
  }

  /** The book of a reseed at `height`: becomes this one's with the next block. */
  repair(book: LevelBook, height: number): void {
    this.#reseeded = book
    this.repairedAt = height
  }

  /** What it becomes in a new epoch: its clients are owed what they lack of the new book. */
  inNewEpoch({ book, from, changes }: PreparedBook, seq: number): CoinBook {
    const isSame = this.book === from?.book && this.seq === from.seq
    const lacking = isSame && changes ? changes : this.book.changesTo(book)
    const next = new CoinBook(this.coin, book, seq, this.isUnannounced)
    next.lastPx = this.lastPx
    next.#owed = this.#owed ? overlay(this.#owed, lacking) : lacking
    return next
  }

  /** True where the book had another digest after block `height`; false where that is not held, or is being repaired. */
  differsAt(height: number, digest: number): boolean {
    const held = this.#reseeded ? undefined : this.#digests.findLast((one) => one.height <= height)
    return held !== undefined && held.digest !== digest
  }

  /** Text `[bids,asks]`. The whole book is encoded once per state. */
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

  /** Turns a pending reseed into the book and answers what clients lack, null if nothing. */
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

  /** What clients are told where the coin has changed by `levels`: the whole book where they have not heard of it. */
  #fragment(prevSeq: number, levels: Levels): CoinFragment {
    const isUnheard = this.isUnannounced
    this.isUnannounced = false
    const mark = isUnheard ? '+' : '='
    return { mark, coin: this.coin, prevSeq, levels: JSON.stringify(isUnheard ? this.book.levels() : levels) }
  }
}

/** `later` over `earlier`: absolute states, one entry per text of a price. */
export function overlay(earlier: Levels, later: Levels): Levels {
  const side = (index: 0 | 1) => {
    const byPx = new Map(earlier[index].map((level) => [level.px, level]))
    for (const level of later[index]) {
      // Of spellings of one price the last one stands last.
      byPx.delete(level.px)
      byPx.set(level.px, level)
    }
    return [...byPx.values()]
  }
  return [side(0), side(1)]
}
