// Whole books as the parts of one snapshot frame, each made when it is asked for: making all at once would stand still
// for a second at the exchange's size. Law: while parts are asked for the books must stay as they were planned.

import type { Levels } from '../feed/block.ts'
import type { SnapshotFrame } from '../feed/protocol.ts'

/** Levels of a side in one run, and of all runs in one part: far below a frame even with the longest decimals. */
const SIDE_LEVELS = 1536
const PART_LEVELS = 2 * SIDE_LEVELS
/** What a coin's name and brackets take, in levels. */
const COIN_LEVELS = 3

/** The books to be cut; `depths` are the numbers of bids and asks. */
export interface WholeBooks {
  depths(coin: string): readonly [number, number]
  levels(coin: string): Levels
}

interface Run {
  readonly coin: string
  /** Levels of either side from `from` on, at most SIDE_LEVELS. */
  readonly from: number
}

type Head = Pick<SnapshotFrame, 'scope' | 'height' | 'time'>

export class SeedCut {
  readonly head: Head
  readonly coins: readonly string[]
  readonly #books: WholeBooks
  readonly #parts: readonly (readonly Run[])[]
  readonly #depths = new Map<string, readonly [number, number]>()
  #next = 0
  #coin: { readonly name: string; readonly levels: Levels } | null = null

  constructor(head: Head, coins: readonly string[], books: WholeBooks) {
    this.head = head
    this.coins = coins
    this.#books = books
    for (const coin of coins) this.#depths.set(coin, books.depths(coin))
    this.#parts = planned(this.#depths)
  }

  get isDone(): boolean {
    return this.#next === this.#parts.length
  }

  /** Text of the next part; null where the books are no longer those that were planned: the cut is of no use. */
  next(): string | null {
    const books: SnapshotFrame['books'] = []
    for (const { coin, from } of this.#parts[this.#next]!) {
      const levels = this.#levelsOf(coin)
      if (!levels) return null
      const [bids, asks] = levels
      books.push({ coin, levels: [bids.slice(from, from + SIDE_LEVELS), asks.slice(from, from + SIDE_LEVELS)] })
    }
    const whole: SnapshotFrame = { type: 'snapshot', ...this.head, books }
    const parts = this.#parts.length
    const part = this.#next++
    return JSON.stringify(parts === 1 ? whole : { ...whole, part, parts })
  }

  #levelsOf(coin: string): Levels | null {
    if (this.#coin?.name !== coin) this.#coin = { name: coin, levels: this.#books.levels(coin) }
    const [bids, asks] = this.#depths.get(coin)!
    const { levels } = this.#coin
    return levels[0].length === bids && levels[1].length === asks ? levels : null
  }
}

function planned(depths: ReadonlyMap<string, readonly [number, number]>): Run[][] {
  const parts: Run[][] = [[]]
  let used = 0
  for (const [coin, [bids, asks]] of depths)
    for (let from = 0; from === 0 || from < Math.max(bids, asks); from += SIDE_LEVELS) {
      const inRun = (depth: number) => Math.max(0, Math.min(SIDE_LEVELS, depth - from))
      const size = inRun(bids) + inRun(asks) + COIN_LEVELS
      if (used > 0 && used + size > PART_LEVELS) {
        parts.push([])
        used = 0
      }
      parts.at(-1)!.push({ coin, from })
      used += size
    }
  return parts
}
