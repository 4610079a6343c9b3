// A market maker's rules: quotes both sides around a verified book, and cancels every quote as soon as the book cannot
// be trusted or its data is late. Time is an argument, so tests and backtests run the same code.
// Invariant: no quote rests while the book is unknown or older than `maxAgeMs`.

import { Big } from 'big.js'
import { type Market, roundPx, roundSz } from './market.ts'
import type { BookView, Side, Venue } from './venue.ts'

export type QuoterSettings = {
  market: Market
  /** Distance of each quote from the fair price, in basis points. */
  halfSpreadBp: number
  /** A quote stays until its best price is further away than this, so that it keeps its place in the queue. */
  toleranceBp: number
  /** Size of a quote, and the largest position, in dollars. */
  quoteUsd: number
  maxPositionUsd: number
  maxAgeMs: number
}

type Quote = { id: number; px: string; sz: string }
const SIDES = ['B', 'A'] as const
const BP = new Big('0.0001')

export class Quoter {
  readonly #venue: Venue
  readonly #settings: QuoterSettings
  readonly #quotes = new Map<Side, Quote>()
  /** Block time of the verified book; null while the book is unknown. */
  #bookTime: number | null = null
  #nextId: number

  /** `firstId`: the orders get this id and the following ones. */
  constructor(venue: Venue, settings: QuoterSettings, firstId = 1) {
    this.#venue = venue
    this.#settings = settings
    this.#nextId = firstId
  }

  /** Server time at which the book becomes late; Infinity while nothing rests. */
  get lateAt(): number {
    return this.#quotes.size === 0 || this.#bookTime === null
      ? Number.POSITIVE_INFINITY
      : this.#bookTime + this.#settings.maxAgeMs
  }

  /** The verified book of a block. `now`: the latest possible server time. `position`: signed size. */
  book(view: BookView, time: number, now: number, position: Big): void {
    this.#bookTime = time
    if (this.#isLate(now)) return
    const bid = view.best('B')
    const ask = view.best('A')
    if (!bid || !ask) return this.#cancelAll('one side of the book is empty')
    // Closer to the thinner side, because the price tends to move there next.
    const sizes = new Big(bid.sz).plus(ask.sz)
    const fair = new Big(bid.px).times(ask.sz).plus(new Big(ask.px).times(bid.sz)).div(sizes)
    for (const side of SIDES) this.#requote(side, fair, position)
  }

  /** The book is unknown: the connection was lost, a change is missing, or a checksum differs. */
  lost(why: string): void {
    this.#bookTime = null
    this.#cancelAll(why)
  }

  /** Call this when `lateAt` has come, and as often as you like. */
  tick(now: number): void {
    this.#isLate(now)
  }

  /** An order was filled completely or rejected. */
  gone(id: number): void {
    for (const side of SIDES) if (this.#quotes.get(side)?.id === id) this.#quotes.delete(side)
  }

  #isLate(now: number): boolean {
    const { maxAgeMs } = this.#settings
    const age = this.#bookTime === null ? Number.POSITIVE_INFINITY : now - this.#bookTime
    if (age < maxAgeMs) return false
    this.#cancelAll(Number.isFinite(age) ? `the book is ${Math.round(age)} ms old` : 'the age of the book is unknown')
    return true
  }

  #cancelAll(why: string): void {
    if (this.#quotes.size === 0) return
    this.#quotes.clear()
    this.#venue.cancelAll(why)
  }

  #requote(side: Side, fair: Big, position: Big): void {
    const { market, halfSpreadBp, toleranceBp } = this.#settings
    const quote = this.#quotes.get(side)
    const sz = this.#sizeOf(side, fair, position)
    // A long position lowers both prices, a short one raises them: the side that reduces it fills sooner.
    const lean = position.times(fair).div(this.#settings.maxPositionUsd).times(-halfSpreadBp)
    const offset = lean.plus(side === 'B' ? -halfSpreadBp : halfSpreadBp)
    const px = roundPx(fair.times(offset.times(BP).plus(1)), side, market)
    if (quote && sz !== null) {
      const moved = new Big(px).minus(quote.px).abs().div(fair)
      if (moved.lte(BP.times(toleranceBp))) return
    }
    if (quote) this.#venue.cancel(quote.id)
    this.#quotes.delete(side)
    if (sz === null) return
    const next = { id: this.#nextId++, px, sz }
    this.#quotes.set(side, next)
    this.#venue.place({ side, ...next })
  }

  /** Null if the order is too small, or would make the position too large. */
  #sizeOf(side: Side, fair: Big, position: Big): string | null {
    const { market, quoteUsd, maxPositionUsd } = this.#settings
    const sz = roundSz(new Big(quoteUsd).div(fair), market)
    const after = side === 'B' ? position.plus(sz) : position.minus(sz).times(-1)
    return sz === '0' || after.times(fair).gt(maxPositionUsd) ? null : sz
  }
}
