// The resting orders of one market, sorted by price, then time. Agents' orders are objects; the crowd's are in columns.
// Levels are sorted best LAST, because most changes are near the top, and an array is cheap to change near its end.

import type { Level, Levels } from '../../protocol/feed/block.ts'
import { type CrowdOrders, sideOf } from './crowd-orders.ts'
import { crowdOrderObject } from './crowd-text.ts'
import { formatAmount } from './fixed-point.ts'
import type { Market } from './market.ts'
import type { Order, Side } from './order.ts'

interface PriceLevel {
  readonly px: bigint
  readonly pxText: string
  /** Sum of the orders' sizes. */
  sz: bigint
  /** First in, first out. */
  readonly orders: Order[]
}

export class OrderBook {
  readonly #market: Market
  readonly #crowd: CrowdOrders | null
  readonly #bids: PriceLevel[] = []
  readonly #asks: PriceLevel[] = []

  constructor(market: Market, crowd: CrowdOrders | null) {
    this.#market = market
    this.#crowd = crowd
  }

  /** Agents' levels only, best last. */
  side(side: Side): readonly PriceLevel[] {
    return side === 'B' ? this.#bids : this.#asks
  }

  /** Best price of a side; undefined if the side is empty. */
  bestPx(side: Side): bigint | undefined {
    const mine = this.side(side).at(-1)?.px
    const slot = this.#crowd?.best(sideOf(this.#market.id, side))
    if (slot === undefined) return mine
    const theirs = BigInt(this.#crowd!.px[slot]!) * this.#market.tick
    return mine === undefined || (side === 'B' ? theirs > mine : theirs < mine) ? theirs : mine
  }

  /** The order that trades first. A crowd order is a copy, which reduceBest() and remove() recognize. */
  head(side: Side): Order | undefined {
    const mine = this.side(side).at(-1)?.orders[0]
    const slot = this.#crowd?.best(sideOf(this.#market.id, side))
    if (slot === undefined) return mine
    const px = BigInt(this.#crowd!.px[slot]!) * this.#market.tick
    const isFirst =
      mine === undefined ||
      (px === mine.px ? this.#crowd!.oid[slot]! < mine.oid : side === 'B' ? px > mine.px : px < mine.px)
    return isFirst ? crowdOrderObject(this.#crowd!, slot) : mine
  }

  /** Adds an order behind the others at its price. */
  add(order: Order): void {
    const levels = order.side === 'B' ? this.#bids : this.#asks
    const at = find(levels, order.side, order.px)
    const level = levels[at]
    if (level?.px === order.px) {
      level.sz += order.sz
      level.orders.push(order)
    } else levels.splice(at, 0, { px: order.px, pxText: order.pxText, sz: order.sz, orders: [order] })
  }

  /** Removes a resting order and its remaining size. */
  remove(order: Order): void {
    if (order.crowdSlot >= 0) return this.#crowd!.remove(order.crowdSlot)
    const levels = order.side === 'B' ? this.#bids : this.#asks
    const at = find(levels, order.side, order.px)
    const level = levels[at]
    const index = level?.orders.indexOf(order) ?? -1
    if (level === undefined || index < 0) throw new Error(`order ${order.oid} does not rest`)
    level.orders.splice(index, 1)
    level.sz -= order.sz
    if (level.orders.length === 0) levels.splice(at, 1)
  }

  /** Reduces the order that trades first on its side by `sz`. */
  reduceBest(order: Order, sz: bigint): void {
    order.sz -= sz
    if (order.crowdSlot >= 0) {
      this.#crowd!.sz[order.crowdSlot] = Number(order.sz / this.#market.lot)
      return
    }
    const level = this.side(order.side).at(-1)
    if (level?.orders[0] !== order) throw new Error(`order ${order.oid} is not the best`)
    level.sz -= sz
  }

  /** Price levels, best first, at most `depth` per side. */
  levels(depth = Number.POSITIVE_INFINITY): Levels {
    const side = (of: Side): Level[] => {
      const out: Level[] = []
      for (const { px, sz, n } of this.levelsOf(of)) {
        if (out.length >= depth) break
        out.push({ px: formatAmount(px), sz: formatAmount(sz), n })
      }
      return out
    }
    return [side('B'), side('A')]
  }

  /** Levels of a side, best first, including the crowd's orders. */
  *levelsOf(side: Side): Generator<{ readonly px: bigint; readonly sz: bigint; readonly n: number }> {
    const mine = this.side(side)
    const theirs = this.#crowdLevels(side)
    let next = theirs.next().value
    for (let i = mine.length - 1; i >= 0; ) {
      const { px, sz, orders } = mine[i]!
      if (next === undefined || (side === 'B' ? px > next.px : px < next.px)) {
        yield { px, sz, n: orders.length }
        i--
      } else if (next.px === px) {
        yield { px, sz: sz + next.sz, n: orders.length + next.n }
        i--
        next = theirs.next().value
      } else {
        yield next
        next = theirs.next().value
      }
    }
    for (; next !== undefined; next = theirs.next().value) yield next
  }

  *#crowdLevels(side: Side): Generator<{ px: bigint; sz: bigint; n: number }, undefined> {
    const crowd = this.#crowd
    const slots = crowd?.sides[sideOf(this.#market.id, side)] ?? []
    const { tick, lot } = this.#market
    for (let i = slots.length - 1; i >= 0; ) {
      const ticks = crowd!.px[slots[i]!]!
      let lots = 0
      let n = 0
      for (; i >= 0 && crowd!.px[slots[i]!] === ticks; i--, n++) lots += crowd!.sz[slots[i]!]!
      yield { px: BigInt(ticks) * tick, sz: BigInt(lots) * lot, n }
    }
    return undefined
  }
}

/** Index of the level at `px`, or the index at which to insert it. Bids rise and asks fall along the array. */
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
