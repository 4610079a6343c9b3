// A rounded book that is kept while its levels change: reading it anew reads thousands of levels, which many coins would
// with each block. Law: what it shows is aggregateBook of the whole book, at any time.

import { fromScaled, toScaled } from '../core/decimal.ts'
import type { Level, Levels } from '../protocol/feed/block.ts'
import { ASKS, BIDS, type LevelBook, type LevelFollower } from './level-book.ts'
import { type Aggregation, aggregateBook, roundPrice } from './rounded-levels.ts'

/** Merged levels a side that are kept, some more than are shown: those beyond are read when these run out. */
const KEPT = 32
const KEPT_MOST = 2 * KEPT
/** A book that nobody looked at for so many changes is kept no longer. */
const UNREAD_MOST = 1024

interface Merged {
  readonly px: string
  /** The better the higher: rounded prices are told apart by floats. */
  readonly rank: number
  scaled: bigint
  n: number
  /** Its text, until it changes. */
  shown: Level | null
}

/** At most `limit` rounded levels a side of a book, best first. */
export function roundedLevels(book: LevelBook, { limit, ...how }: Aggregation): Levels {
  const rounded = book.follower(`rounded ${how.nSigFigs} ${how.mantissa}`, () => new RoundedBook(how))
  return rounded.levels(limit, () => [book.best(BIDS), book.best(ASKS)])
}

export class RoundedBook implements LevelFollower {
  readonly #how: Omit<Aggregation, 'limit'>
  /** Best first; null before they were read. */
  #sides: readonly [Merged[], Merged[]] | null = null
  /** Per side, whether levels lie beyond what is kept. */
  #goesOn: [boolean, boolean] = [false, false]
  #unread = 0

  constructor(how: Omit<Aggregation, 'limit'>) {
    this.#how = how
  }

  /** At most `limit` levels a side, best first; `book` is what `changed` told of, best first. */
  levels(limit: number, book: () => readonly [Iterable<Level>, Iterable<Level>]): Levels {
    this.#unread = 0
    const held = this.#sides?.some((side, at) => this.#goesOn[at] && side.length < limit) ? null : this.#sides
    const sides = held ?? this.#read(book(), Math.max(limit, KEPT))
    const shown = (side: 0 | 1) =>
      sides[side].slice(0, limit).map((one) => {
        one.shown ??= { px: one.px, sz: fromScaled(one.scaled), n: one.n }
        return one.shown
      })
    return [shown(0), shown(1)]
  }

  #read(book: readonly [Iterable<Level>, Iterable<Level>], limit: number): readonly [Merged[], Merged[]] {
    const { levels, complete } = aggregateBook(book, { ...this.#how, limit })
    const merged = (side: 0 | 1) =>
      levels[side].map((level): Merged => {
        const { px, sz, n } = level
        return { px, rank: rankOf(px, side), scaled: toScaled(sz), n, shown: level }
      })
    this.#sides = [merged(0), merged(1)]
    this.#goesOn = [...complete]
    return this.#sides
  }

  /** One level of the book became another, came or went. False where it need not be kept any more. */
  changed(side: 0 | 1, before: Level | null, after: Level | null): boolean {
    if (this.#sides === null || ++this.#unread > UNREAD_MOST) return false
    const levels = this.#sides[side]
    const last = levels.at(-1)
    const isBeyond = (rank: number) => this.#goesOn[side] && !(last && rank >= last.rank)
    const px = (after ?? before)?.px ?? '0'
    if (isBeyond(rankOf(px, side))) return true
    const rounded = fromScaled(roundPrice(toScaled(px), this.#how, side === 1))
    const rank = rankOf(rounded, side)
    // Floats do not tell every price from the last rounded one.
    if (isBeyond(rank)) return true
    let at = levels.findIndex((one) => one.rank <= rank)
    if (at < 0) at = levels.length
    let one = levels[at]
    if (one?.rank !== rank) {
      one = { px: rounded, rank, scaled: 0n, n: 0, shown: null }
      levels.splice(at, 0, one)
    }
    one.scaled += (after ? toScaled(after.sz) : 0n) - (before ? toScaled(before.sz) : 0n)
    one.n += (after?.n ?? 0) - (before?.n ?? 0)
    one.shown = null
    if (one.n === 0) levels.splice(at, 1)
    if (levels.length > KEPT_MOST) {
      levels.length = KEPT
      this.#goesOn[side] = true
    }
    return true
  }
}

function rankOf(px: string, side: 0 | 1): number {
  return side === 0 ? Number(px) : -Number(px)
}
