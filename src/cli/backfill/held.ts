// What the gateway has already, so that it need not be read and sent again. Law: a block counts as there only where the
// gateway said so.

import type { Place } from './window.ts'

export interface HeldGap {
  readonly from: number
  readonly to: number
  /** Times of the blocks on both sides. */
  readonly after_ms: number
  readonly before_ms: number
}

export class Held {
  readonly #from: Place | null
  readonly #before: Place
  readonly #gaps: readonly HeldGap[]

  /** All from `from` up to `before` is there, but for the gaps, which are in order. */
  constructor(from: Place | null, before: Place, gaps: readonly HeldGap[]) {
    this.#from = from
    this.#before = before
    this.#gaps = gaps
  }

  /** The first block that the log archived itself: from here on nothing is wanted. */
  get before(): Place {
    return this.#before
  }

  has(height: number): boolean {
    if (this.#from === null || height < this.#from.height) return false
    const gap = this.#gapFrom(height)
    return gap === undefined || height < gap.from
  }

  hasAll(first: number, last: number): boolean {
    return this.has(first) && last < (this.#gapFrom(first)?.from ?? Number.POSITIVE_INFINITY)
  }

  /** Whether every block between these times is there. Several blocks may have one time, so bounds must lie inside. */
  hasTimes(fromMs: number, toMs: number): boolean {
    if (this.#from === null || fromMs <= this.#from.time || toMs > this.#before.time) return false
    return !this.#gaps.some(({ after_ms, before_ms }) => after_ms <= toMs && before_ms >= fromMs)
  }

  /** The first gap that ends at or behind a height. */
  #gapFrom(height: number): HeldGap | undefined {
    let low = 0
    let high = this.#gaps.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#gaps[middle]!.to < height) low = middle + 1
      else high = middle
    }
    return this.#gaps[low]
  }
}
