// Checks an order before it reaches the book, including the open-interest cap. Returns the first reason for rejection,
// as the exchange does.

import { type Exchange, marginOf, markPx } from './exchange.ts'
import { abs, notional, units } from './fixed-point.ts'
import { type Market, marketAt, USDC } from './market.ts'
import { type Order, type OrderStatus, opposite } from './order.ts'

const MIN_NTL = units(10)
/** Cap of open interest. */
const CAP = units(100_000_000)
/** Caps that are small enough to be reached, so that their effects can be observed. */
const SMALL_CAPS: ReadonlyMap<string, bigint> = new Map([['flx:NVDA', units(5_000)]])

/** Open-interest cap of a coin, in USDC. */
export function oiCap(coin: string): bigint {
  return SMALL_CAPS.get(coin) ?? CAP
}

/** Total size of all long positions in a perp, which equals that of all short positions. */
export function openInterest(x: Exchange, market: Market): bigint {
  let long = 0n
  for (const { margin } of x.accounts) {
    const szi = margin[market.dex]!.positions.get(market.id)?.szi ?? 0n
    if (szi > 0n) long += szi
  }
  return long
}

export function isAtCap(x: Exchange, market: Market): boolean {
  return notional(markPx(x, market.id), openInterest(x, market)) >= oiCap(market.coin)
}

/**
 * True if the cap is reached. This runs for every order, so it returns false at once for markets whose cap is out of
 * reach.
 */
function isFull(x: Exchange, market: Market): boolean {
  return SMALL_CAPS.has(market.coin) && isAtCap(x, market)
}

/** Reason to reject the order; null if it is accepted. A reduce-only order must already be limited to the position. */
export function refusal(x: Exchange, order: Order): OrderStatus | null {
  const market = marketAt(order.market)
  const { fair } = x.quotes[order.market]!
  if (order.px % market.tick !== 0n) return 'tickRejected'
  if (order.liquidation !== null) return null
  if (abs(order.px - fair) * 100n > fair * 80n) return 'oracleRejected'
  if (order.reduceOnly) return reduces(x, order, market) ? null : 'reduceOnlyRejected'
  if (notional(order.px, order.sz) < MIN_NTL) return 'minTradeNtlRejected'
  if (order.tif === 'Alo' && crosses(x, order)) return 'badAloPxRejected'
  if (market.kind === 'perp')
    return capRefusal(x, order, market) ?? (hasMargin(x, order, market) ? null : 'perpMarginRejected')
  return hasBalance(x, order, market) ? null : 'insufficientSpotBalanceRejected'
}

/** True if the order would trade immediately. */
export function crosses(x: Exchange, order: Order): boolean {
  const best = x.books[order.market]!.bestPx(opposite(order.side))
  return best !== undefined && (order.side === 'B' ? order.px >= best : order.px <= best)
}

/** Signed size of the wallet's position in a perp. */
export function positionOf(x: Exchange, owner: number, market: Market): bigint {
  return x.accounts[owner]!.margin[market.dex]!.positions.get(market.id)?.szi ?? 0n
}

function reduces(x: Exchange, order: Order, market: Market): boolean {
  const szi = positionOf(x, order.owner, market)
  return order.sz > 0n && (order.side === 'B' ? szi < 0n : szi > 0n)
}

/**
 * Reason to reject an order at the cap. At the cap, an order may rest or close a position, but an order that would
 * trade immediately may not open a position.
 */
function capRefusal(x: Exchange, order: Order, market: Market): OrderStatus | null {
  if (!crosses(x, order) || !isFull(x, market)) return null
  const szi = positionOf(x, order.owner, market)
  const closes = order.side === 'B' ? szi < 0n : szi > 0n
  if (!closes) return 'positionIncreaseAtOpenInterestCapRejected'
  return order.sz > abs(szi) ? 'positionFlipAtOpenInterestCapRejected' : null
}

function hasMargin(x: Exchange, order: Order, market: Market): boolean {
  const margin = x.accounts[order.owner]!.margin[market.dex]!
  const szi = positionOf(x, order.owner, market)
  const after = abs(szi + (order.side === 'B' ? order.sz : -order.sz))
  if (after <= abs(szi)) return true
  const leverage = BigInt(margin.positions.get(market.id)?.leverage ?? market.maxLeverage)
  const state = marginOf(x, margin)
  return state.value >= state.used + notional(order.px, after - abs(szi)) / leverage
}

function hasBalance(x: Exchange, order: Order, market: Market): boolean {
  const { spot } = x.accounts[order.owner]!
  const balance = order.side === 'B' ? spot[USDC]! : spot[market.token]!
  const need = order.side === 'B' ? notional(order.px, order.sz) : order.sz
  return balance.total - balance.hold >= need
}
