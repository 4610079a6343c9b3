// Interests in views of coins. An interest is a string that contains a view and a coin, or a view and a market type.
// The latter covers every current and future coin of that type. Interests in checksums have the same form.

import { type Coin, type MarketType, marketTypeOf } from '../core/coin.ts'

/** Names of coins and views contain no tab. */
const OF_TYPE = '\t\t'
/** Used in place of a view: requests a checksum with each change of the coin (checksum.ts). */
export const CHECKSUM = 'checksum'

export function coinInterest(view: string, coin: Coin): string {
  return `${view}\t${coin}`
}

export function typeInterest(view: string, type: MarketType): string {
  return view + OF_TYPE + type
}

export class ViewInterests {
  readonly #interests = new Set<string>()
  readonly #views = new Set<string>()
  /** True if checksums are wanted for at least one coin. */
  hasChecksums = false

  constructor(wants: Iterable<string> = []) {
    this.add(wants)
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#interests.values()
  }

  /** Returns true if any of them is new. */
  add(wants: Iterable<string>): boolean {
    const before = this.#interests.size
    for (const want of wants) {
      this.#interests.add(want)
      const view = want.slice(0, want.indexOf('\t'))
      if (view === CHECKSUM) this.hasChecksums = true
      else this.#views.add(view)
    }
    return this.#interests.size > before
  }

  has(view: string, coin: Coin): boolean {
    return this.#interests.has(coinInterest(view, coin)) || this.#interests.has(typeInterest(view, marketTypeOf(coin)))
  }

  /** True if checksums are wanted for this coin. */
  needsChecksum(coin: Coin): boolean {
    return this.hasChecksums && this.has(CHECKSUM, coin)
  }

  /** The views of this coin that are wanted. */
  of(coin: Coin): string[] {
    return [...this.#views].filter((view) => this.has(view, coin))
  }
}
