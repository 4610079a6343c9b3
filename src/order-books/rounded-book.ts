// A rounded book that is updated as levels change: computing it again would read thousands of levels per block per
// coin. Invariant: it always equals aggregateBook of the whole book.

import { fromScaled, toScaled } from '../core/decimal.ts'
import type { Level, Levels } from '../protocol/feed/block.ts'
import { ASKS, BIDS, type LevelBook, type LevelListener } from './level-book.ts'
import { type Aggregation, aggregateBook, roundPrice } from './rounded-levels.ts'

/** Merged levels retained per side, more than clients see. When they run out, the whole book is read again. */
const RETAINED_LEVELS = 32
const MAX_LEVELS = 2 * RETAINED_LEVELS
/** A rounded book is dropped after this many changes without a read. */
const MAX_UNREAD_CHANGES = 1024

interface MergedLevel {
  readonly px: string
  /** A number that is higher for a better price. Floats can tell rounded prices apart. */
  readonly rank: number
  scaled: bigint
  n: number
  /** The level as clients see it; null after a change. */
  level: Level | null
}

/** At most `limit` rounded levels per side of a book, best first. */
export function roundedLevels(book: LevelBook, { limit, ...how }: Aggregation): Levels {
  const rounded = book.listener(`rounded ${how.nSigFigs} ${how.mantissa}`, () => new RoundedBook(how))
  return rounded.levels(limit, () => [book.best(BIDS), book.best(ASKS)])
}

export class RoundedBook implements LevelListener {
  readonly #rounding: Omit<Aggregation, 'limit'>
  /** Best first; null before the first read. */
  #sides: readonly [MergedLevel[], MergedLevel[]] | null = null
  /** Per side: true if the book has levels beyond the retained ones. */
  #hasMore: [boolean, boolean] = [false, false]
  #unread = 0

  constructor(how: Omit<Aggregation, 'limit'>) {
    this.#rounding = how
  }

  /** At most `limit` levels per side, best first. `book`: the whole book, best first. */
  levels(limit: number, book: () => readonly [Iterable<Level>, Iterable<Level>]): Levels {
    this.#unread = 0
    const retained = this.#sides?.some((side, at) => this.#hasMore[at] && side.length < limit) ? null : this.#sides
    const sides = retained ?? this.#rebuild(book(), Math.max(limit, RETAINED_LEVELS))
    const shown = (side: 0 | 1) =>
      sides[side].slice(0, limit).map((one) => {
        one.level ??= { px: one.px, sz: fromScaled(one.scaled), n: one.n }
        return one.level
      })
    return [shown(0), shown(1)]
  }

  #rebuild(book: readonly [Iterable<Level>, Iterable<Level>], limit: number): readonly [MergedLevel[], MergedLevel[]] {
    const { levels, complete } = aggregateBook(book, { ...this.#rounding, limit })
    const merged = (side: 0 | 1) =>
      levels[side].map((level): MergedLevel => {
        const { px, sz, n } = level
        return { px, rank: rankOf(px, side), scaled: toScaled(sz), n, level: level }
      })
    this.#sides = [merged(0), merged(1)]
    this.#hasMore = [...complete]
    return this.#sides
  }

  /** Handles a level that was changed, added or removed. Returns false once the book is no longer needed. */
  onChange(side: 0 | 1, before: Level | null, after: Level | null): boolean {
    if (this.#sides === null || ++this.#unread > MAX_UNREAD_CHANGES) return false
    const levels = this.#sides[side]
    const last = levels.at(-1)
    const isBeyond = (rank: number) => this.#hasMore[side] && !(last && rank >= last.rank)
    const px = (after ?? before)?.px ?? '0'
    if (isBeyond(rankOf(px, side))) return true
    const rounded = fromScaled(roundPrice(toScaled(px), this.#rounding, side === 1))
    const rank = rankOf(rounded, side)
    // Checked again, because as floats, the exact price and the last rounded price can be equal.
    if (isBeyond(rank)) return true
    let at = levels.findIndex((one) => one.rank <= rank)
    if (at < 0) at = levels.length
    let one = levels[at]
    if (one?.rank !== rank) {
      one = { px: rounded, rank, scaled: 0n, n: 0, level: null }
      levels.splice(at, 0, one)
    }
    one.scaled += (after ? toScaled(after.sz) : 0n) - (before ? toScaled(before.sz) : 0n)
    one.n += (after?.n ?? 0) - (before?.n ?? 0)
    one.level = null
    if (one.n === 0) levels.splice(at, 1)
    if (levels.length > MAX_LEVELS) {
      levels.length = RETAINED_LEVELS
      this.#hasMore[side] = true
    }
    return true
  }
}

function rankOf(px: string, side: 0 | 1): number {
  return side === 0 ? Number(px) : -Number(px)
}
