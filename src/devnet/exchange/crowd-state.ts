// What an exchange keeps of its crowd: wallets that own the depth of a large exchange's books.

import { type BookDepth, bookDepths, weightOf } from './crowd-depth.ts'
import { CrowdOrders } from './crowd-orders.ts'
import { Prng, seedState } from './prng.ts'
import { WALLETS } from './roles.ts'
import type { Scale } from './scale.ts'

export interface Crowd {
  readonly orders: CrowdOrders
  readonly rng: Prng
  /** Account indexes. */
  readonly first: number
  readonly wallets: number
  readonly depths: readonly BookDepth[]
  /** Sums of the markets' weights by id, the first market's being 0: where changes happen. */
  readonly weights: readonly number[]
}

/** Without orders; null where the scale has no crowd. Chance is apart from the exchange's own. */
export function emptyCrowd(seed: number, { crowd, markets }: Scale): Crowd | null {
  if (crowd === null) return null
  let sum = 0
  return {
    orders: new CrowdOrders(markets.length, Math.ceil(crowd.orders * 1.1)),
    rng: new Prng(seedState(seed + 2 ** 44)),
    first: WALLETS,
    wallets: crowd.wallets,
    depths: bookDepths(crowd, markets),
    weights: markets.map((market) => {
      sum += market.id === 0 ? 0 : weightOf(market)
      return sum
    }),
  }
}
