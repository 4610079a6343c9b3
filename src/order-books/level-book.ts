// The price levels of one coin, two sides. Accepts absolute states and returns levels, best first.
// biome-ignore-all lint/style/noNonNullAssertion: levels and ranks are of one length, and searched in the inner loop of every change.

import { EMPTY_DIGEST, withLevel, withoutLevel } from '../block-log/level-digest.ts'
import { compareDecimals, isZero } from '../core/decimal.ts'
import { getOrCreate } from '../core/get-or-create.ts'
import type { Level, Levels } from '../protocol/feed/block.ts'

export type Side = 0 | 1
/** Index of the bids in a `[bids, asks]` pair. */
export const BIDS: Side = 0
/** Index of the asks in a `[bids, asks]` pair. */
export const ASKS: Side = 1

/** Sorted worst first, because most changes are near the best price, and the end of an array is cheap to change. */
interface BookSide {
  readonly levels: Level[]
  /**
   * Price of each level, ascending. Kept as floats, because parsing the price strings in every search would be slow.
   */
  readonly ranks: number[]
}

/** Derives data from the levels as they change. `onChange` returns false to have the listener removed. */
export interface LevelListener {
  onChange(side: Side, before: Level | null, after: Level | null): boolean
}

export class LevelBook {
  readonly #sides: readonly [BookSide, BookSide] = [
    { levels: [], ranks: [] },
    { levels: [], ranks: [] },
  ]
  #digest = EMPTY_DIGEST
  #isUnsorted = false
  readonly #listeners = new Map<string, LevelListener>()

  /** A book of these levels, given best first. */
  static of(levels: Levels): LevelBook {
    const book = new LevelBook()
    book.append(levels)
    book.settle()
    return book
  }

  /**
   * Appends levels of a whole book, best first, each call with worse levels than the previous one. Call settle() at the
   * end.
   */
  append(levels: Levels): void {
    for (const side of [BIDS, ASKS] as const) {
      const { levels: existing, ranks } = this.#sides[side]
      for (const level of levels[side]) {
        const rank = rankOf(level.px, side)
        const isNext = existing.length === 0 || rank < ranks.at(-1)! || isWorse(level.px, existing.at(-1)!.px, side)
        if (isRemoval(level) || !isNext) this.#isUnsorted = true
        existing.push(level)
        ranks.push(rank)
        this.#digest = withLevel(this.#digest, side, level.px, level.sz, level.n)
      }
    }
  }

  /**
   * Sorts the appended levels. Normally, this only reverses them; levels that arrived unsorted are inserted one by one.
   */
  settle(): void {
    for (const { levels, ranks } of this.#sides) {
      levels.reverse()
      ranks.reverse()
    }
    if (!this.#isUnsorted) return
    const came = this.#sides.map(({ levels, ranks }) => {
      ranks.length = 0
      return levels.splice(0).reverse()
    }) as Levels
    this.#digest = EMPTY_DIGEST
    this.#isUnsorted = false
    this.apply(came)
  }

  /**
   * Sets the state at each level's price. A level with `sz` 0 is removed; removing a missing level does nothing.
   * Returns the same changes for copies that find levels by price string: if the spelling of a price changed, the old
   * spelling is removed first.
   */
  apply(levels: Levels): Levels {
    const bids = this.#apply(BIDS, levels[0])
    const asks = this.#apply(ASKS, levels[1])
    return bids === levels[0] && asks === levels[1] ? levels : [bids, asks]
  }

  #apply(side: Side, levels: Level[]): Level[] {
    let changes = levels
    for (const level of levels) {
      const before = this.#set(side, level)
      const isRespelled = before !== null && before.px !== level.px
      if (isRespelled && changes === levels) changes = levels.slice(0, levels.indexOf(level))
      if (isRespelled) changes.push(removal(before.px))
      if (changes !== levels) changes.push(level)
    }
    return changes
  }

  /** Returns the level that was at this price. */
  #set(side: Side, level: Level): Level | null {
    const { levels, ranks } = this.#sides[side]
    const rank = rankOf(level.px, side)
    const at = find(levels, ranks, rank, level.px, side)
    const present = ranks[at] === rank ? levels[at]! : null
    const found = present !== null && (present.px === level.px || compareDecimals(present.px, level.px) === 0)
    if (found) this.#digest = withoutLevel(this.#digest, side, present.px, present.sz, present.n)
    if (isRemoval(level)) {
      if (!found) return null
      levels.splice(at, 1)
      ranks.splice(at, 1)
      this.#notify(side, present, null)
      return present
    }
    this.#notify(side, found ? present : null, level)
    this.#digest = withLevel(this.#digest, side, level.px, level.sz, level.n)
    if (found) levels[at] = level
    else if (at === levels.length) {
      levels.push(level)
      ranks.push(rank)
    } else {
      levels.splice(at, 0, level)
      ranks.splice(at, 0, rank)
    }
    return found ? present : null
  }

  #notify(side: Side, before: Level | null, after: Level | null): void {
    for (const [name, follower] of this.#listeners)
      if (!follower.onChange(side, before, after)) this.#listeners.delete(name)
  }

  /** The listener with this name, created if missing. A name always belongs to the same class. */
  listener<F extends LevelListener>(name: string, make: () => F): F {
    return getOrCreate<string, LevelListener>(this.#listeners, name, make) as F
  }

  /** Digest of all levels (block-log/level-digest.ts). */
  get digest(): number {
    return this.#digest
  }

  /** The book, or `depth` levels per side, best first. */
  levels(depth: number = Number.POSITIVE_INFINITY): Levels {
    return [bestFirst(this.#sides[0].levels, depth), bestFirst(this.#sides[1].levels, depth)]
  }

  /** The levels of a side, best first. The book must not change during the iteration. */
  *best(side: Side): Generator<Level> {
    const { levels } = this.#sides[side]
    for (let i = levels.length - 1; i >= 0; i--) yield levels[i]!
  }

  /** Best price of a side, spelled as received; null when the side is empty. */
  bestPx(side: Side): string | null {
    return this.#sides[side].levels.at(-1)?.px ?? null
  }

  /** Number of levels on both sides. */
  get size(): number {
    return this.#sides[0].levels.length + this.#sides[1].levels.length
  }

  /** Changes that turn this book into `target`, as absolute states. A removed level has `sz` `"0"` and `n` 0. */
  changesTo(target: LevelBook): Levels {
    const changes = (side: Side) => sideChanges(this.#sides[side].levels, target.#sides[side].levels, side)
    return [changes(BIDS), changes(ASKS)]
  }
}

/** Higher for a better price; equal when floats cannot tell two prices apart. */
function rankOf(px: string, side: Side): number {
  return side === BIDS ? Number(px) : -Number(px)
}

/** First index whose level is not worse than `px`, in a side sorted worst first. */
function find(levels: readonly Level[], ranks: readonly number[], rank: number, px: string, side: Side): number {
  if (levels.length === 0 || ranks[levels.length - 1]! < rank) return levels.length
  let low = 0
  let high = levels.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ranks[middle]! < rank) low = middle + 1
    else high = middle
  }
  while (ranks[low] === rank && isWorse(levels[low]!.px, px, side)) low++
  return low
}

const removal = (px: string): Level => ({ px, sz: '0', n: 0 })
const isRemoval = ({ n, sz }: Level): boolean => n === 0 || isZero(sz)

function isWorse(px: string, than: string, side: Side): boolean {
  const order = compareDecimals(px, than)
  return side === BIDS ? order < 0 : order > 0
}

function bestFirst(levels: readonly Level[], depth: number): Level[] {
  const from = Math.max(0, levels.length - depth)
  const best: Level[] = []
  for (let i = levels.length - 1; i >= from; i--) best.push(levels[i]!)
  return best
}

function sideChanges(old: readonly Level[], next: readonly Level[], side: Side): Level[] {
  const changes: Level[] = []
  let i = old.length - 1
  let j = next.length - 1
  while (i >= 0 || j >= 0) {
    const before = old[i]
    const after = next[j]
    const order = !before ? 1 : !after ? -1 : before.px === after.px ? 0 : compareDecimals(before.px, after.px)
    if (before && after && order === 0) {
      // A different spelling counts as a change, because digests, checksums and copies use the price string.
      if (before.px !== after.px) changes.push(removal(before.px), after)
      else if (before.n !== after.n || before.sz !== after.sz) changes.push(after)
      i--
      j--
    } else if (before && (!after || isWorse(after.px, before.px, side))) {
      changes.push(removal(before.px))
      i--
    } else {
      changes.push(after!)
      j--
    }
  }
  return changes
}
