// Gamblers put everything on one coin at the highest leverage and deposit again when it is lost. Takers send invalid
// orders, each rejected for a different reason.

import { beyondFair, type Exchange, marginOf, onTick, sizeFor } from '../exchange/exchange.ts'
import { abs, units } from '../exchange/fixed-point.ts'
import { MARKETS, marketAt, perpsOf } from '../exchange/market.ts'
import { cancelOrder, placeOrder } from '../exchange/matching.ts'
import type { OrderRequest, Side } from '../exchange/order.ts'
import { positionOf } from '../exchange/order-check.ts'
import { GAMBLERS, TAKERS } from '../exchange/roles.ts'
import { deposit } from '../exchange/transfers.ts'

const ACT_PPM = 6_000
const BROKE = units(100)
const INVALID_PPM = 400_000
/** A spot market in whose tokens the takers of the main DEX have no balance. */
const SPOT = MARKETS.find(({ kind }) => kind === 'spot')!.id

/** A few gamblers act in each block. */
export function gamblersAct(x: Exchange): void {
  for (const gambler of GAMBLERS) if (x.rng.chance(ACT_PPM)) gamble(x, gambler)
}

function gamble(x: Exchange, owner: number): void {
  const margin = x.accounts[owner]!.margin[0]!
  for (const orders of x.accounts[owner]!.orders.flat()) for (const order of [...orders]) cancelOrder(x, order)
  for (const [id, { szi }] of margin.positions) {
    if (x.rng.chance(120_000)) take(x, owner, id, szi > 0n ? 'A' : 'B', abs(szi), true)
    else placeTakeProfit(x, owner, id, szi)
    return
  }
  const { value } = marginOf(x, margin)
  if (value < BROKE) return deposit(x, owner, units(x.rng.between(200, 5_000)))
  const { id, maxLeverage } = x.rng.pick(perpsOf(0, x.scale.markets))
  const side = x.rng.chance(500_000) ? 'B' : 'A'
  take(x, owner, id, side, sizeFor(x, id, (value * BigInt(maxLeverage) * 94n) / 100n), false)
}

/** Places a resting order that closes the position when the price is five percent better. */
function placeTakeProfit(x: Exchange, owner: number, market: number, szi: bigint): void {
  const side: Side = szi > 0n ? 'A' : 'B'
  const px = beyondFair(x, market, side, -50n)
  placeOrder(x, { owner, market, side, px, sz: abs(szi), tif: 'Gtc' })
}

function take(x: Exchange, owner: number, market: number, side: Side, sz: bigint, reduceOnly: boolean): void {
  const px = beyondFair(x, market, side, 20n)
  placeOrder(x, { owner, market, side, px, sz, tif: 'FrontendMarket', orderType: 'Market', reduceOnly })
}

/** Occasionally sends an invalid order, mostly a post-only order that would trade, as on the real exchange. */
export function sendInvalidOrders(x: Exchange): void {
  if (!x.rng.chance(INVALID_PPM)) return
  const owner = x.rng.pick(TAKERS)
  const { id } = x.rng.pick(perpsOf(0, x.scale.markets))
  const { fair } = x.quotes[id]!
  const sz = sizeFor(x, id, units(100))
  placeOrder(x, invalidOrder(x, { owner, market: id, side: 'B', px: onTick(id, fair, 'B'), sz, tif: 'Gtc' }))
}

function invalidOrder(x: Exchange, bid: OrderRequest): OrderRequest {
  const { tick, lot } = marketAt(bid.market)
  switch (x.rng.below(14)) {
    case 0:
      return { ...bid, px: bid.px + tick / 2n }
    case 1:
      return { ...bid, sz: lot, px: bid.px / 2n - ((bid.px / 2n) % tick) }
    case 2:
      return { ...bid, sz: sizeFor(x, bid.market, units(2_000_000_000)) }
    case 3:
      return {
        ...bid,
        reduceOnly: true,
        tif: 'Ioc',
        side: positionOf(x, bid.owner, marketAt(bid.market)) > 0n ? 'B' : 'A',
      }
    case 4:
      return { ...bid, px: onTick(bid.market, (bid.px * 99n) / 100n, 'B'), tif: 'Ioc' }
    case 5:
      return { ...bid, px: onTick(bid.market, bid.px / 10n, 'B') }
    case 6:
      return { ...bid, market: SPOT, side: 'A', px: onTick(SPOT, x.quotes[SPOT]!.fair, 'A'), sz: units(5_000_000) }
    default:
      return { ...bid, tif: 'Alo', px: x.books[bid.market]!.bestPx('A') ?? bid.px }
  }
}
