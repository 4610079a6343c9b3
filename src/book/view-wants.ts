// Who wants which views of which coins. A want is a text: a view and a coin, or a view and a market type, which means
// every present and future coin of that type.

import { type MarketType, marketTypeOf } from '../core/coin.ts'

/** Names of coins and views hold no tab. */
const OF_TYPE = '\t\t'

export function coinWant(view: string, coin: string): string {
  return `${view}\t${coin}`
}

export function typeWant(view: string, type: MarketType): string {
  return view + OF_TYPE + type
}

export class ViewWants {
  readonly #wants = new Set<string>()
  readonly #views = new Set<string>()

  constructor(wants: Iterable<string> = []) {
    this.add(wants)
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#wants.values()
  }

  /** True where one of them is new. */
  add(wants: Iterable<string>): boolean {
    const before = this.#wants.size
    for (const want of wants) {
      this.#wants.add(want)
      this.#views.add(want.slice(0, want.indexOf('\t')))
    }
    return this.#wants.size > before
  }

  has(view: string, coin: string): boolean {
    return this.#wants.has(coinWant(view, coin)) || this.#wants.has(typeWant(view, marketTypeOf(coin)))
  }

  /** The views that are wanted of a coin. */
  of(coin: string): string[] {
    return [...this.#views].filter((view) => this.has(view, coin))
  }
}
