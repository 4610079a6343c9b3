// Aggregated books: prices rounded to significant figures away from the spread, with sizes and counts added up. Digits
// are counted per price, so the step grows at powers of ten. All arithmetic is exact.

import { compareDecimals, fromScaled, toScaled } from '../core/decimal.ts'
import type { Level, Levels } from '../protocol/feed/block.ts'

export interface Aggregation {
  readonly nSigFigs: number
  /** 1, 2 or 5: the step in units of the last significant figure. */
  readonly mantissa: number
  /** Maximum number of merged levels per side. */
  readonly limit: number
}

export interface AggregatedBook {
  readonly levels: Levels
  /** Per side: true if there are `limit` merged levels and the book has a price beyond the last of them. */
  readonly complete: readonly [boolean, boolean]
}

/**
 * Merges a book whose sides are best first, and reads no more levels than `limit` requires. Bids round down, asks up.
 */
export function aggregateBook(book: readonly [Iterable<Level>, Iterable<Level>], how: Aggregation): AggregatedBook {
  const bids = aggregateSide(book[0], how, false)
  const asks = aggregateSide(book[1], how, true)
  return { levels: [bids.levels, asks.levels], complete: [bids.complete, asks.complete] }
}

/** Best ask minus best bid; undefined when a side is empty. */
export function spreadOf([[bid], [ask]]: Levels): string | undefined {
  return bid && ask ? fromScaled(toScaled(ask.px) - toScaled(bid.px)) : undefined
}

function aggregateSide(side: Iterable<Level>, how: Aggregation, up: boolean) {
  const levels: Level[] = []
  let px: string | undefined
  let sz = new SizeSum()
  let n = 0
  const close = () => {
    if (px !== undefined) levels.push({ px, sz: fromScaled(sz.scaled), n })
  }
  for (const level of side) {
    // Levels arrive best first, so a level that is not beyond the merged price belongs to it. Comparing prices is far
    // cheaper than rounding them.
    const beyond = px === undefined || (up ? compareDecimals(level.px, px) > 0 : compareDecimals(level.px, px) < 0)
    if (beyond) {
      close()
      if (levels.length === how.limit) return { levels, complete: true }
      px = fromScaled(roundPrice(toScaled(level.px), how, up))
      sz = new SizeSum()
      n = 0
    }
    sz.add(level.sz)
    n += level.n
  }
  close()
  return { levels, complete: false }
}

/** An exact sum of sizes. Floats are exact up to 2^53 and several times faster than bigints. */
class SizeSum {
  #scaled = 0n
  /** The sum in units of 10^-8, at most 2^53. */
  #units = 0

  add(size: string): void {
    const value = Number(size)
    const dot = size.indexOf('.')
    if (value > 1e7 || (dot >= 0 && size.length - dot > 9)) {
      this.#scaled += toScaled(size)
      return
    }
    this.#units += Math.round(value * 1e8)
    if (this.#units <= 2 ** 52) return
    this.#scaled = this.scaled
    this.#units = 0
  }

  get scaled(): bigint {
    return this.#scaled + BigInt(this.#units) * 10n ** 10n
  }
}

/** Rounds a scaled price down or up to a multiple of its step, which depends on its number of digits. */
export function roundPrice(
  px: bigint,
  { nSigFigs, mantissa }: Pick<Aggregation, 'nSigFigs' | 'mantissa'>,
  up: boolean,
): bigint {
  const digits = px.toString().length
  const step = BigInt(mantissa) * 10n ** BigInt(Math.max(digits - nSigFigs, 0))
  const below = px - (px % step)
  return up && below !== px ? below + step : below
}
