// One coin of a shard: its book, its place in the sequence, and what its clients have yet to be told.

import type { Levels } from '../protocol/feed/block.ts'
import type { CoinFragment } from '../protocol/hub/hub-link.ts'
import type { LevelBook } from './level-book.ts'

export interface CoinBook {
  book: LevelBook
  /** Height of the block that last changed the book. */
  seq: number
  /** JSON text of the whole book at its present state; dropped with the next change. */
  encoded: string | null
  /** Outcome of a reseed inside the epoch: becomes the book, and its difference a change, with the next block. */
  reseeded: LevelBook | null
  /** Height of the last repair inside the epoch, -1 before the first. */
  repairedAt: number
  /** What clients of the old epoch lack to hold the present book; published with the next block. */
  owed: Levels | null
  /** A seed brought it to a shard that has clients: they have yet to hear of it. */
  isUnheard: boolean
  lastPx: string | null
  /** Digests of the book, each from its height on; the newest last. */
  past: { readonly height: number; readonly digest: number }[]
}

/** So many states of a coin can be compared with what a feeder verified: four seconds of one that always changes. */
const PAST_MOST = 64

/** A coin at rest: the book, its `seq`, and the height and epoch at which both were true. */
export interface Checkpoint {
  readonly coin: string
  readonly epoch: string
  readonly height: number
  readonly time: number
  readonly seq: number
  readonly lastPx: string | null
  readonly levels: Levels
  /** Height up to which every checkpoint of the shard that was stored before this one had all changes; of stored ones. */
  readonly clean?: number
}

/** A coin that nothing is owed of. */
export function newBook(book: LevelBook, seq: number): CoinBook {
  return {
    book,
    seq,
    encoded: null,
    reseeded: null,
    repairedAt: -1,
    owed: null,
    isUnheard: false,
    lastPx: null,
    past: [{ height: seq, digest: book.digest }],
  }
}

/** The book was changed by the block of `height`. */
export function changed(known: CoinBook, height: number): void {
  known.seq = height
  known.encoded = null
  known.past.push({ height, digest: known.book.digest })
  if (known.past.length > PAST_MOST) known.past.shift()
}

/** True where the book had another digest after block `height`; false where that is not held, or is being repaired. */
export function isOther(known: CoinBook | undefined, height: number, digest: number): boolean {
  const held = known?.reseeded ? undefined : known?.past.findLast((one) => one.height <= height)
  return held !== undefined && held.digest !== digest
}

/** A whole book made ready to be taken over. */
export interface Prepared {
  readonly coin: string
  readonly book: LevelBook
  /** The book and `seq` from which `changes` lead to it; null where there was none. */
  readonly from: Pick<CoinBook, 'book' | 'seq'> | null
  readonly changes: Levels | null
}

/** The costly half of a take-over, done book by book while a seed comes in. `known`: what the coin has now. */
export function prepare(coin: string, book: LevelBook, known?: CoinBook): Prepared {
  if (!known) return { coin, book, from: null, changes: null }
  return { coin, book, from: { book: known.book, seq: known.seq }, changes: known.book.changesTo(book) }
}

/** What a coin becomes in a new epoch: its clients are owed what they lack of the new book. */
export function succeeded(known: CoinBook, { book, from, changes }: Prepared, seq: number): CoinBook {
  const isSame = known.book === from?.book && known.seq === from.seq
  const lacking = isSame && changes ? changes : known.book.changesTo(book)
  const owed = known.owed ? overlay(known.owed, lacking) : lacking
  return { ...newBook(book, seq), lastPx: known.lastPx, owed, isUnheard: known.isUnheard }
}

/** Turns a pending reseed into the book and answers what clients lack, null if nothing. */
export function takeDebt(known: CoinBook): Levels | null {
  let { owed } = known
  known.owed = null
  if (known.reseeded) {
    const changes = known.book.changesTo(known.reseeded)
    known.book = known.reseeded
    known.reseeded = null
    owed = owed ? overlay(owed, changes) : changes
  }
  return owed && owed[0].length + owed[1].length > 0 ? owed : null
}

/** What clients are told where the coin has changed by `levels`: the whole book where they have not heard of it. */
export function told(known: CoinBook, coin: string, prevSeq: number, levels: Levels): CoinFragment {
  const { isUnheard, book } = known
  known.isUnheard = false
  return { mark: isUnheard ? '+' : '=', coin, prevSeq, levels: JSON.stringify(isUnheard ? book.levels() : levels) }
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
