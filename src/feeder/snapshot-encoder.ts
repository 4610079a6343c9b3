// Encodes books as the parts of one snapshot frame. Each part is encoded on demand, because encoding all at once would
// take a second at the real exchange's size. Invariant: the books must not change while parts are requested.

import type { SnapshotFrame } from '../protocol/feed/protocol.ts'
import type { Ladder } from './coin-orders.ts'

/** Levels per part. The part stays far below the maximum size of a frame, even with the longest decimals. */
const PART_LEVELS = 3072
/** Size of a coin's name and brackets, counted in levels. */
const COIN_LEVELS = 3

/** The books to encode. `depths`: number of bids and asks; `side`: 0 for bids, best first. */
export interface BooksSource {
  depths(coin: string): readonly [number, number]
  side(coin: string, side: 0 | 1): Ladder
}

/** Levels of a side from index `from` up to, but not including, `to`. */
interface LevelRange {
  readonly coin: string
  readonly side: 0 | 1
  readonly from: number
  readonly to: number
}

type SnapshotHead = Pick<SnapshotFrame, 'scope' | 'height' | 'time'>

export class SnapshotEncoder {
  readonly head: SnapshotHead
  readonly coins: readonly string[]
  readonly #books: BooksSource
  readonly #parts: readonly (readonly LevelRange[])[]
  readonly #depths = new Map<string, readonly [number, number]>()
  #next = 0
  /** The side being encoded. It is kept, because sorting a side takes milliseconds. */
  #currentSide: { readonly coin: string; readonly side: 0 | 1; readonly levels: Ladder } | null = null

  constructor(head: SnapshotHead, coins: readonly string[], books: BooksSource) {
    this.head = head
    this.coins = coins
    this.#books = books
    for (const coin of coins) this.#depths.set(coin, books.depths(coin))
    this.#parts = planParts(this.#depths)
  }

  get isDone(): boolean {
    return this.#next === this.#parts.length
  }

  /** Sorts the side of the next part if it is long, because this takes a turn of its own. Returns true if it sorted. */
  prepare(): boolean {
    const run = this.#parts[this.#next]?.[0]
    if (!run || run.from > 0 || run.to < PART_LEVELS || this.#isCurrent(run)) return false
    this.#sideOf(run.coin, run.side)
    return true
  }

  /** Frame of the next part. Null if the books have changed, so that the snapshot is useless. */
  next(): string | null {
    const books: SnapshotFrame['books'] = []
    for (const { coin, side, from, to } of this.#parts[this.#next] ?? []) {
      const levels = this.#sideOf(coin, side)
      if (!levels) return null
      let book = books.at(-1)
      if (book?.coin !== coin) {
        book = { coin, levels: [[], []] }
        books.push(book)
      }
      book.levels[side] = levels.slice(from, to)
    }
    const whole: SnapshotFrame = { type: 'snapshot', ...this.head, books }
    const parts = this.#parts.length
    const part = this.#next++
    return JSON.stringify(parts === 1 ? whole : { ...whole, part, parts })
  }

  #isCurrent({ coin, side }: Pick<LevelRange, 'coin' | 'side'>): boolean {
    return this.#currentSide?.coin === coin && this.#currentSide.side === side
  }

  #sideOf(coin: string, side: 0 | 1): Ladder | null {
    const current = this.#currentSide
    const read =
      current?.coin === coin && current.side === side ? current : { coin, side, levels: this.#books.side(coin, side) }
    this.#currentSide = read
    return read.levels.length === this.#depths.get(coin)?.[side] ? read.levels : null
  }
}

function planParts(depths: ReadonlyMap<string, readonly [number, number]>): LevelRange[][] {
  let runs: LevelRange[] = []
  const parts = [runs]
  let used = 0
  for (const [coin, sides] of depths)
    for (const side of [0, 1] as const)
      for (let from = 0; from === 0 || from < sides[side]; from += PART_LEVELS) {
        const to = Math.min(sides[side], from + PART_LEVELS)
        const size = to - from + COIN_LEVELS
        if (used > 0 && used + size > PART_LEVELS) {
          runs = []
          parts.push(runs)
          used = 0
        }
        runs.push({ coin, side, from, to })
        used += size
      }
  return parts
}
