// The background wallets ("crowd") of a large exchange: in each block, they add and remove as many orders as the scale
// says, mostly near the top, and send many more that are rejected. Book depth stays constant, because surplus orders
// are canceled and missing orders are placed.

import { crowdLots } from '../exchange/crowd.ts'
import { sideOf } from '../exchange/crowd-orders.ts'
import type { Crowd } from '../exchange/crowd-state.ts'
import { type CrowdOrder, crowdOrderAt, diffText, idsOf, statusText, triggerText } from '../exchange/crowd-text.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { decimalText } from '../exchange/fixed-point.ts'
import { type Market, marketAt } from '../exchange/market.ts'
import { eventHash } from '../exchange/node-block.ts'
import { type CrowdScale, quantile } from '../exchange/scale.ts'

/** Number of orders at the top of a side that account for nearly all changes. */
const LIVELY = 300
/** Chance, in millionths, that an order is placed deep in the book. */
const DEEP_PPM = 50_000
/** Chance per rejection, in millionths, that the wallet places a trigger order and cancels it. */
const TRIGGER_PPM = 5_000

/** Creates the crowd's events. Runs last in a block, because the other agents' diffs count towards the block's size. */
export function crowdActs(x: Exchange): void {
  const { crowd } = x
  if (crowd === null) return
  const scale = x.scale.crowd!
  const share = crowd.rng.below(1_000_000) / 1e6
  const all = Math.round(quantile(scale.diffs, share))
  const ofFirst = Math.round(quantile(scale.firstDiffs, share))
  const others = Math.max(0, all - ofFirst - x.block.rawDiffs.length)
  for (let i = 0; i < ofFirst; i++) change(x, crowd, marketAt(0))
  for (let i = 0; i < others; i++) change(x, crowd, someMarket(crowd))
  for (let i = 0; i < Math.round(all * scale.refusedPerDiff); i++) rejectOrder(x, crowd, scale)
}

/** Picks a random market except the first, by weight. */
function someMarket({ rng, weights }: Crowd): Market {
  const threshold = (rng.below(2 ** 30) / 2 ** 30) * weights.at(-1)!
  let low = 1
  let high = weights.length - 1
  while (low < high) {
    const mid = (low + high) >>> 1
    if (weights[mid]! <= threshold) low = mid + 1
    else high = mid
  }
  return marketAt(low)
}

const fairTicks = (x: Exchange, { id, tick }: Market) => Number(x.quotes[id]!.fair / tick)

/** Adds or removes one order. Orders that the fair price has crossed are removed first. */
function change(x: Exchange, crowd: Crowd, market: Market): void {
  const { rng, orders, depths } = crowd
  const isBid = rng.chance(500_000)
  const book = sideOf(market.id, isBid ? 'B' : 'A')
  const side = orders.sides[book]!
  const fair = fairTicks(x, market)
  const best = orders.best(book)
  if (best !== undefined && (isBid ? orders.px[best]! >= fair : orders.px[best]! <= fair)) return pull(x, crowd, best)
  const target = isBid ? depths[market.id]!.bids.orders : depths[market.id]!.asks.orders
  if (side.length > target) return pull(x, crowd, side[nearTop(crowd, side.length)]!)
  place(x, crowd, market, book, nextPx(x, crowd, market, book))
}

/** Random index of an order in a side. Indexes closer to the end, which is the top of the book, are more likely. */
function nearTop({ rng }: Crowd, length: number): number {
  return length - 1 - Math.floor(Math.min(LIVELY, length) * (rng.below(1_000_000) / 1e6) ** 2)
}

/**
 * Price of a new order, in ticks. Usually it is close to a resting order, so that the book keeps its shape.
 * Occasionally it is better than the best price.
 */
function nextPx(x: Exchange, crowd: Crowd, market: Market, book: number): number {
  const { rng, orders } = crowd
  const isBid = book % 2 === 0
  const side = orders.sides[book]!
  const fair = fairTicks(x, market)
  // A positive step goes towards the other side of the book.
  const sign = isBid ? 1 : -1
  const top = fair - sign
  const best = orders.best(book)
  if (best === undefined) return Math.max(1, top)
  const gap = (top - orders.px[best]!) * sign
  if (gap > 0 && rng.chance(300_000)) return top - sign * Math.floor(gap * (rng.below(1_000_000) / 1e6) ** 2)
  const at = rng.chance(DEEP_PPM) ? rng.below(side.length) : nearTop(crowd, side.length)
  const px = orders.px[side[at]!]!
  const wantedLevels = crowd.depths[market.id]![isBid ? 'bids' : 'asks'].levels
  return orders.levels[book]! < wantedLevels ? freePx(crowd, book, px, isBid ? Math.min : Math.max, top) : px
}

/** A nearby price, not beyond `top`. This side has no order there, unless seven attempts found no such price. */
function freePx({ rng, orders }: Crowd, book: number, near: number, bound: typeof Math.min, top: number): number {
  let px = near
  for (let reach = 2; reach <= 128; reach *= 2) {
    px = Math.max(1, bound(near + rng.between(-reach, reach), top))
    const slot = orders.sides[book]![orders.placeOf(book, px)]
    if (slot === undefined || orders.px[slot] !== px) break
  }
  return px
}

function place(x: Exchange, crowd: Crowd, market: Market, book: number, px: number): void {
  const { rng, orders } = crowd
  // The order must not cross the other agents' orders.
  const other = x.books[market.id]!.bestPx(book % 2 === 0 ? 'A' : 'B')
  if (other !== undefined && (book % 2 === 0 ? BigInt(px) * market.tick >= other : BigInt(px) * market.tick <= other))
    return
  const owner = crowd.first + rng.below(crowd.wallets)
  const slot = orders.add(book, px, crowdLots(rng, market, px), x.nextOid, x.block.timeMs, owner)
  x.nextOid += idsOf(x.nextOid)
  const order = crowdOrderAt(orders, slot, x.accounts)
  x.block.changed.add(market.coin)
  x.block.crowd.rawDiffs.push(diffText(order, true))
  x.block.crowd.orderStatuses.push(statusText(order, x.block.time, 'open', eventHash(x.height, rng.hex(27))))
}

function pull(x: Exchange, { orders }: Crowd, slot: number): void {
  const order = crowdOrderAt(orders, slot, x.accounts)
  orders.remove(slot)
  x.block.changed.add(order.market.coin)
  x.block.crowd.rawDiffs.push(diffText(order, false))
  x.block.crowd.orderStatuses.push(statusText(order, x.block.time, 'canceled', null))
}

/**
 * Sends a post-only order that is rejected. Such orders are the most frequent on the real exchange, mostly in its first
 * market.
 */
function rejectOrder(x: Exchange, crowd: Crowd, { wallets }: CrowdScale): void {
  const { rng } = crowd
  const market = rng.chance(600_000) ? marketAt(0) : someMarket(crowd)
  const side = rng.chance(500_000) ? 'B' : 'A'
  const px = fairTicks(x, market) + (side === 'B' ? 1 : -1) * rng.between(1, 30)
  const sz = decimalText(crowdLots(rng, market, px), market.szDecimals)
  const order: CrowdOrder = {
    market,
    side,
    ticks: px,
    px: decimalText(px, market.pxDecimals),
    sz,
    origSz: sz,
    oid: x.nextOid,
    timeMs: x.block.timeMs,
    user: x.accounts[crowd.first + rng.below(wallets)]!.address,
  }
  x.nextOid += idsOf(x.nextOid)
  const { orderStatuses } = x.block.crowd
  orderStatuses.push(statusText(order, x.block.time, 'badAloPxRejected', null))
  if (!rng.chance(TRIGGER_PPM)) return
  const text = triggerText(order, x.nextOid++, rng.chance(500_000) ? 5 : -5)
  orderStatuses.push(statusText(order, x.block.time, 'open', eventHash(x.height, rng.hex(27)), text))
  orderStatuses.push(statusText(order, x.block.time, 'canceled', null, text))
}
