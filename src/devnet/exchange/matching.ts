// Price-time matching: takes orders, returns fills, statuses and raw book diffs in the node's order. A taker never
// trades with its own resting orders, which are canceled instead.

import { type Exchange, newHash } from './exchange.ts'
import { abs, formatAmount, min, notional } from './fixed-point.ts'
import { marketAt, USDC } from './market.ts'
import { type RawDiff, ZERO_HASH } from './node-block.ts'
import { frontendOrder, type Order, type OrderRequest, type OrderStatus, opposite, orderOf } from './order.ts'
import { crosses, positionOf, refusal } from './order-check.ts'
import { settle, type Trade } from './settle.ts'
import { listOrder, unlistOrder } from './wallet.ts'

/**
 * Processes an order: it is rejected, trades, rests or is canceled. Returns the order, with the untraded size as `sz`.
 */
export function placeOrder(x: Exchange, request: OrderRequest): Order {
  const order = orderOf(capReduceOnly(x, request), x.nextOid++, x.block.timeMs)
  const rejection = refusal(x, order)
  if (rejection !== null) {
    report(x, order, rejection, null)
    return order
  }
  const immediate = order.tif !== 'Gtc' && order.tif !== 'Alo'
  if (immediate && !crosses(x, order)) {
    const empty = x.books[order.market]!.bestPx(opposite(order.side)) === undefined
    report(x, order, empty ? 'marketOrderNoLiquidityRejected' : 'iocCancelRejected', null)
    return order
  }
  const system = order.twapId !== null || order.liquidation !== null
  const hash = system ? ZERO_HASH : newHash(x)
  report(x, order, 'open', hash)
  match(x, order, hash)
  if (order.sz === 0n) report(x, order, 'filled', null)
  else if (immediate) report(x, order, 'canceled', null)
  else rest(x, order)
  return order
}

/** Removes a resting order from the book. */
export function cancelOrder(x: Exchange, order: Order, status: OrderStatus = 'canceled'): void {
  recordDiff(x, order, 'remove')
  x.books[order.market]!.remove(order)
  reserve(x, order, -order.sz)
  unlistOrder(x.accounts[order.owner]!, order)
  report(x, order, status, null)
}

/** Limits a reduce-only order to the position. */
function capReduceOnly(x: Exchange, request: OrderRequest): OrderRequest {
  const market = marketAt(request.market)
  if (request.reduceOnly !== true || market.kind !== 'perp') return request
  return { ...request, sz: min(request.sz, abs(positionOf(x, request.owner, market)) || market.lot) }
}

function match(x: Exchange, taker: Order, hash: string): void {
  const book = x.books[taker.market]!
  while (taker.sz > 0n && crosses(x, taker)) {
    const maker = book.head(opposite(taker.side))!
    if (maker.owner === taker.owner) cancelOrder(x, maker, 'selfTradeCanceled')
    else trade(x, taker, maker, hash)
  }
}

function trade(x: Exchange, taker: Order, maker: Order, hash: string): void {
  const sz = min(taker.sz, maker.sz)
  const terms: Trade = { px: maker.px, sz, tid: newTid(x), hash }
  const before = maker.sz
  reserve(x, maker, -sz)
  x.books[maker.market]!.reduceBest(maker, sz)
  taker.sz -= sz
  // The fills of both sides name the liquidation.
  recordTrade(x, taker, taker.liquidation === null ? maker : { ...maker, liquidation: taker.liquidation }, terms)
  // For a filled maker order, nodes either write an update to size zero before the removal or omit it.
  if (maker.sz > 0n || maker.oid % 4 === 0)
    recordDiff(x, maker, { update: { origSz: formatAmount(before), newSz: formatAmount(maker.sz) } })
  if (maker.sz > 0n) return
  recordDiff(x, maker, 'remove')
  x.books[maker.market]!.remove(maker)
  if (maker.crowdSlot < 0) unlistOrder(x.accounts[maker.owner]!, maker)
  report(x, maker, 'filled', null)
}

/** Settles both sides and records the fills, buyer first. */
export function recordTrade(x: Exchange, taker: Order, maker: Order, terms: Trade): void {
  const takerFill = settle(x, taker, terms, true)
  const makerFill = settle(x, maker, terms, false)
  x.quotes[taker.market]!.last = terms.px
  if (taker.side === 'B') x.block.fills.push(takerFill, makerFill)
  else x.block.fills.push(makerFill, takerFill)
}

/** A random trade id of 50 bits. */
export function newTid(x: Exchange): number {
  return x.rng.word() * 2 ** 18 + x.rng.below(2 ** 18)
}

function rest(x: Exchange, order: Order): void {
  x.books[order.market]!.add(order)
  listOrder(x.accounts[order.owner]!, order)
  reserve(x, order, order.sz)
  recordDiff(x, order, { new: { sz: formatAmount(order.sz) } })
}

/** Adjusts what a resting spot order reserves. The crowd never runs out of money, so its orders reserve nothing. */
function reserve(x: Exchange, order: Order, sz: bigint): void {
  const market = marketAt(order.market)
  if (market.kind === 'perp' || order.crowdSlot >= 0) return
  const { spot } = x.accounts[order.owner]!
  if (order.side === 'B') spot[USDC]!.hold += notional(order.px, sz)
  else spot[market.token]!.hold += sz
}

/** Records a change of the resting orders. */
function recordDiff(x: Exchange, { owner, market, oid, side, pxText: px }: Order, diff: RawDiff): void {
  const { coin } = marketAt(market)
  x.block.changed.add(coin)
  x.block.rawDiffs.push({ user: x.accounts[owner]!.address, oid, coin, side, px, raw_book_diff: diff })
}

function report({ block, accounts }: Exchange, order: Order, status: OrderStatus, hash: string | null): void {
  const { address: user } = accounts[order.owner]!
  const builder = order.builder && { b: accounts[order.builder.account]!.address, f: order.builder.f }
  block.orderStatuses.push({ time: block.time, user, hash, builder, status, order: frontendOrder(order) })
}
