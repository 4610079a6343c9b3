// The crowd: wallets that own most orders of a large exchange, and the depth of each book. Invariant: the orders and
// levels of all books add up exactly to the totals of the scale.

import { CrowdOrders } from './crowd-orders.ts'
import type { Market } from './market.ts'
import { Prng, seedState } from './prng.ts'
import { WALLETS } from './roles.ts'
import type { CrowdScale, Scale } from './scale.ts'

export interface Crowd {
  readonly orders: CrowdOrders
  readonly rng: Prng
  /** Account index of the first crowd wallet. */
  readonly first: number
  readonly wallets: number
  readonly depths: readonly BookDepth[]
  /**
   * Cumulative weights of the markets, by market id, for picking the market of a change. The first market has weight 0.
   */
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
 * A market's depth is proportional to its rank raised to this power. The value is an estimate between those for the
 * thin and for the deep books of one exchange.
 */
const POWER = -0.6
/** Depth of an outcome's book, which is small because an outcome has at most a thousand prices. */
const OUTCOME_LEVELS = 120
const OUTCOME_ORDERS = 200

/**
 * Weight of a market for sharing out depth and changes among the markets after the first. It falls with the market's
 * rank.
 */
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

/** Splits an integer in proportion to weights. The first parts get one more each until the remainder is used up. */
function spread(whole: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0)
  const parts = weights.map((weight) => Math.floor((whole * weight) / sum))
  const rest = whole - parts.reduce((a, b) => a + b, 0)
  return parts.map((part, i) => (i < rest ? part + 1 : part))
}
