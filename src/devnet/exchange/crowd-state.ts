// The crowd: wallets that own the depth of a large exchange's books, and how deep each book is. Invariant: orders and
// levels add up exactly to what the scale says.

import { CrowdOrders } from './crowd-orders.ts'
import type { Market } from './market.ts'
import { Prng, seedState } from './prng.ts'
import { WALLETS } from './roles.ts'
import type { CrowdScale, Scale } from './scale.ts'

export interface Crowd {
  readonly orders: CrowdOrders
  readonly rng: Prng
  /** Account indexes. */
  readonly first: number
  readonly wallets: number
  readonly depths: readonly BookDepth[]
  /** Cumulative weights of the markets by id, 0 for the first: where changes happen. */
  readonly weights: readonly number[]
}

/** A crowd without orders; null if the scale has none. Its randomness is separate from the exchange's. */
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

export interface SideDepth {
  readonly orders: number
  readonly levels: number
}

interface BookDepth {
  readonly bids: SideDepth
  readonly asks: SideDepth
}

/**
 * Depth falls with a market's rank to this power. The value is made up. It lies between those of the thin and the deep
 * books of one exchange.
 */
const POWER = -0.6
/** An outcome has at most a thousand prices. */
const OUTCOME_LEVELS = 120
const OUTCOME_ORDERS = 200

/** A market's share of depth and changes beyond the first market, by its rank from 2. */
function weightOf({ id, kind }: Market): number {
  return kind === 'outcome' ? 0.01 : (id + 1) ** POWER
}

/** Depth of every market, by id. */
export function bookDepths({ orders, levels, first }: CrowdScale, markets: readonly Market[]): BookDepth[] {
  const outcomes = markets.filter(({ kind }) => kind === 'outcome').length
  const others = markets.filter(({ kind, id }) => kind !== 'outcome' && id > 0)
  const weights = others.map(weightOf)
  const share = first.bids.levels / (first.bids.levels + first.asks.levels)
  const left = (all: number, key: 'orders' | 'levels', each: number) =>
    all - first.bids[key] - first.asks[key] - outcomes * each
  const levelsOf = spread(left(levels, 'levels', OUTCOME_LEVELS), weights)
  const ordersOf = spread(left(orders, 'orders', OUTCOME_ORDERS), weights)
  return markets.map((market) => {
    if (market.id === 0) return first
    const at = others.indexOf(market)
    const all = { orders: ordersOf[at] ?? OUTCOME_ORDERS, levels: levelsOf[at] ?? OUTCOME_LEVELS }
    const bids = { orders: Math.round(all.orders * share), levels: Math.round(all.levels * share) }
    return { bids, asks: { orders: all.orders - bids.orders, levels: all.levels - bids.levels } }
  })
}

/** Splits a whole number in proportion to weights; the remainder goes one by one to the first parts. */
function spread(whole: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0)
  const parts = weights.map((weight) => Math.floor((whole * weight) / sum))
  const rest = whole - parts.reduce((a, b) => a + b, 0)
  return parts.map((part, i) => (i < rest ? part + 1 : part))
}
