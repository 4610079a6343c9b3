// A full-depth book made of a snapshot and changes, with its levels sorted, so that the best ones are found at once.

import type { BookView, Level, Levels, Side } from './venue.ts'

/** `prices`: best last, because changes near the end of an array are cheap. */
type BookSide = { prices: number[]; levels: Map<number, Level> }

export class ReplayBook implements BookView {
  readonly #sides: Record<Side, BookSide> = {
    B: { prices: [], levels: new Map() },
    A: { prices: [], levels: new Map() },
  }

  /** Replaces the book. */
  reset(levels: Levels): void {
    for (const side of Object.values(this.#sides)) {
      side.prices = []
      side.levels.clear()
    }
    this.change(levels)
  }

  /** Applies the changes of one block. */
  change([bids, asks]: Levels): void {
    for (const level of bids) this.#set('B', level)
    for (const level of asks) this.#set('A', level)
  }

  best(side: Side): Level | undefined {
    const { prices, levels } = this.#sides[side]
    return levels.get(prices.at(-1) ?? Number.NaN)
  }

  sizeAt(side: Side, px: string): string {
    return this.#sides[side].levels.get(Number(px))?.sz ?? '0'
  }

  #set(name: Side, level: Level): void {
    const { prices, levels } = this.#sides[name]
    // Floats are precise enough to compare prices. Sizes stay decimal strings.
    const px = Number(level.px)
    const isKnown = levels.has(px)
    const isRemoved = level.n === 0
    if (isRemoved) levels.delete(px)
    else levels.set(px, level)
    if (isKnown && isRemoved) prices.splice(indexOf(prices, px, name), 1)
    if (!isKnown && !isRemoved) prices.splice(indexOf(prices, px, name), 0, px)
  }
}

/** Index of the first price that is not worse. */
function indexOf(prices: readonly number[], px: number, side: Side): number {
  let low = 0
  let high = prices.length
  while (low < high) {
    const middle = (low + high) >> 1
    const isWorse = side === 'B' ? prices[middle]! < px : prices[middle]! > px
    if (isWorse) low = middle + 1
    else high = middle
  }
  return low
}
