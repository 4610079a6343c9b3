// The resting orders of one market by price, then time. Levels are kept best LAST, because nearly all
// changes happen near the top and an array is cheap to change near its end.

import type { Level, Levels } from '../../feed/block.ts'
import { formatAmount } from './fixed-point.ts'
import type { Order, Side } from './order.ts'

export interface PriceLevel {
  readonly px: bigint
  readonly pxText: string
  /** Sum of the orders' sizes. */
  sz: bigint
  /** First in, first out. */
  readonly orders: Order[]
}

export class OrderBook {
  readonly #bids: PriceLevel[] = []
  readonly #asks: PriceLevel[] = []

  /** Best last. */
  side(side: Side): readonly PriceLevel[] {
    return side === 'B' ? this.#bids : this.#asks
  }

  best(side: Side): PriceLevel | undefined {
    return this.side(side).at(-1)
  }

  /** Adds an order at the tail of its price. */
  add(order: Order): void {
    const levels = order.side === 'B' ? this.#bids : this.#asks
    const at = find(levels, order.side, order.px)
    const level = levels[at]
    if (level?.px === order.px) {
      level.sz += order.sz
      level.orders.push(order)
    } else levels.splice(at, 0, { px: order.px, pxText: order.pxText, sz: order.sz, orders: [order] })
  }

  /** Takes a resting order out with what is left of it. */
  remove(order: Order): void {
    const levels = order.side === 'B' ? this.#bids : this.#asks
    const at = find(levels, order.side, order.px)
    const level = levels[at]
    const index = level?.orders.indexOf(order) ?? -1
    if (level === undefined || index < 0) throw new Error(`order ${order.oid} does not rest`)
    level.orders.splice(index, 1)
    level.sz -= order.sz
    if (level.orders.length === 0) levels.splice(at, 1)
  }

  /** Takes `sz` off the order at the head of the best level of its side. */
  reduceBest(order: Order, sz: bigint): void {
    const level = this.best(order.side)
    if (level?.orders[0] !== order) throw new Error(`order ${order.oid} is not the best`)
    order.sz -= sz
    level.sz -= sz
  }

  /** Aggregate book, best first, at most `depth` levels a side. */
  levels(depth = Number.POSITIVE_INFINITY): Levels {
    return [wireSide(this.#bids, depth), wireSide(this.#asks, depth)]
  }
}

/** Index of the level at `px`, or where it belongs. Bids rise and asks fall along the array. */
function find(levels: readonly PriceLevel[], side: Side, px: bigint): number {
  let low = 0
  let high = levels.length
  while (low < high) {
    const mid = (low + high) >>> 1
    const at = levels[mid]!.px
    if (side === 'B' ? at < px : at > px) low = mid + 1
    else high = mid
  }
  return low
}

function wireSide(levels: readonly PriceLevel[], depth: number): Level[] {
  const out: Level[] = []
  for (let i = levels.length - 1; i >= 0 && out.length < depth; i--) {
    const { pxText, sz, orders } = levels[i]!
    out.push({ px: pxText, sz: formatAmount(sz), n: orders.length })
  }
  return out
}
