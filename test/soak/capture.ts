// Captures the books of one client at exactly one height while they change. Invariant: a book is captured as of its
// last change at or below the height; if that is no longer known, it is left out, never guessed.

import type { Levels } from '../../src/protocol/feed/block.ts'

/** A book as the client has it now, undefined where it has none to be trusted. */
export type ReadBook = (coin: string) => { readonly height: number; levels(): Levels } | undefined

export class Capture {
  readonly height: number
  readonly #read: ReadBook
  readonly #hash: (levels: Levels) => string
  /** Null: passed by unseen. */
  readonly #caught = new Map<string, string | null>()
  #highest = -1

  constructor(height: number, read: ReadBook, hash: (levels: Levels) => string) {
    this.height = height
    this.#read = read
    this.#hash = hash
  }

  /** A frame of that height is about to change these coins. */
  before(height: number, coins: readonly string[]): void {
    this.#highest = Math.max(this.#highest, height)
    if (height > this.height) for (const coin of coins) this.#catch(coin)
  }

  /** The stream broke: what was not caught is not known. Later frames begin anew. */
  lost(): void {
    this.#highest = -1
  }

  /** Hash by coin of `coins`, of those that can be said; the stream is well beyond the height by now, or counts for nothing. */
  finish(coins: Iterable<string>): Record<string, string> {
    const found: Record<string, string> = {}
    for (const coin of coins) {
      if (this.#highest > this.height) this.#catch(coin)
      const hash = this.#caught.get(coin)
      if (hash) found[coin] = hash
    }
    return found
  }

  #catch(coin: string): void {
    if (this.#caught.has(coin)) return
    const book = this.#read(coin)
    this.#caught.set(coin, book === undefined || book.height > this.height ? null : this.#hash(book.levels()))
  }
}

/** Height and coins of a frame of books, null for any other. */
export function bookFrame(text: string): { readonly height: number; readonly coins: readonly string[] } | null {
  if (!text.startsWith('{"channel":"l2BookDiff')) return null
  const { data } = JSON.parse(text) as {
    data: {
      Snapshot?: { coin: string; block_height: number }
      Updates?: { block_height: number; book_diffs: { coin: string }[] }
    }
  }
  if (data.Snapshot) return { height: data.Snapshot.block_height, coins: [data.Snapshot.coin] }
  if (!data.Updates) return null
  return { height: data.Updates.block_height, coins: data.Updates.book_diffs.map(({ coin }) => coin) }
}
