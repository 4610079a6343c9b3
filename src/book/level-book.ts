// The level book of one coin: two sides of price levels, absolute states in, best-first out.
// Sides are kept sorted with the best price last, because most changes happen there and cost no shift.

import { compareDecimals, isZero } from '../core/decimal.ts'
import type { Level, Levels } from '../feed/block.ts'
import { EMPTY_DIGEST, withLevel, withoutLevel } from '../feed/level-digest.ts'

export type Side = 0 | 1
/** Index of the bids in a `[bids, asks]` pair. */
export const BIDS: Side = 0
/** Index of the asks in a `[bids, asks]` pair. */
export const ASKS: Side = 1

export class LevelBook {
  /** Ascending bids and descending asks: the best level of either is the last. */
  readonly #sides: readonly [Level[], Level[]] = [[], []]
  #digest = EMPTY_DIGEST

  #isLoose = false

  /** A book of these levels, which come best first. */
  static of(levels: Levels): LevelBook {
    const book = new LevelBook()
    book.append(levels)
    book.settle()
    return book
  }

  /** Takes a run of a whole book, best first and each run worse than the one before; settle() must follow the last. */
  append(levels: Levels): void {
    for (const side of [BIDS, ASKS] as const) {
      const held = this.#sides[side]
      for (const level of levels[side]) {
        const last = held.at(-1)
        if (isGone(level) || (last && !isWorse(level.px, last.px, side))) this.#isLoose = true
        held.push(level)
        this.#digest = withLevel(this.#digest, side, level.px, level.sz, level.n)
      }
    }
  }

  /** Brings what was appended into order: turned round as a rule, level by level where it came in another order. */
  settle(): void {
    for (const side of this.#sides) side.reverse()
    if (!this.#isLoose) return
    const came = this.#sides.map((side) => side.splice(0).reverse()) as Levels
    this.#digest = EMPTY_DIGEST
    this.#isLoose = false
    this.apply(came)
  }

  /** Replaces the state at each level's price; `sz` 0 removes it, and removing what is not there is nothing. */
  apply(levels: Levels): void {
    for (const level of levels[0]) this.#set(BIDS, level)
    for (const level of levels[1]) this.#set(ASKS, level)
  }

  #set(side: Side, level: Level): void {
    const levels = this.#sides[side]
    const best = levels.at(-1)
    const at = best === undefined || isWorse(best.px, level.px, side) ? levels.length : find(levels, level.px, side)
    const there = levels[at]
    const found = there !== undefined && (there.px === level.px || compareDecimals(there.px, level.px) === 0)
    const isRemoved = isGone(level)
    if (found) this.#digest = withoutLevel(this.#digest, side, there.px, there.sz, there.n)
    if (!isRemoved) this.#digest = withLevel(this.#digest, side, level.px, level.sz, level.n)
    if (isRemoved) {
      if (found) levels.splice(at, 1)
    } else if (found) levels[at] = level
    else if (at === levels.length) levels.push(level)
    else levels.splice(at, 0, level)
  }

  /** Digest of all levels (feed/level-digest.ts), known at any time. */
  get digest(): number {
    return this.#digest
  }

  /** The whole book, or `depth` levels a side, best first. */
  levels(depth: number = Number.POSITIVE_INFINITY): Levels {
    return [bestFirst(this.#sides[0], depth), bestFirst(this.#sides[1], depth)]
  }

  /** Best price of a side as its wire string, null where the side is empty. */
  bestPx(side: Side): string | null {
    return this.#sides[side].at(-1)?.px ?? null
  }

  /** Number of levels of both sides. */
  get size(): number {
    return this.#sides[0].length + this.#sides[1].length
  }

  /** Net changes that turn this book into `target`: absolute states, removed levels with `sz` `"0"` and `n` 0. */
  changesTo(target: LevelBook): Levels {
    return [sideChanges(this.#sides[0], target.#sides[0], BIDS), sideChanges(this.#sides[1], target.#sides[1], ASKS)]
  }
}

/** First index whose level is not worse than `px`, in a side sorted worst first. */
function find(levels: readonly Level[], px: string, side: Side): number {
  let low = 0
  let high = levels.length
  const hint = Number(px)
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = levels[middle]!.px
    const difference = Number(other) - hint
    // Different floats decide, as in compareDecimals, which would read `px` anew each time.
    const order = difference !== 0 ? difference : compareDecimals(other, px)
    if (side === BIDS ? order < 0 : order > 0) low = middle + 1
    else high = middle
  }
  return low
}

const isGone = ({ n, sz }: Level): boolean => n === 0 || isZero(sz)

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
      const isSame = before.n === after.n && (before.sz === after.sz || compareDecimals(before.sz, after.sz) === 0)
      if (!isSame) changes.push(after)
      i--
      j--
    } else if (before && (!after || isWorse(after.px, before.px, side))) {
      changes.push({ px: before.px, sz: '0', n: 0 })
      i--
    } else {
      changes.push(after!)
      j--
    }
  }
  return changes
}
