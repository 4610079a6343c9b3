// A venue on paper: orders wait in the queue of their level and fill against real trades, without moving the market.
// Money is exact: decimals, no floats.
//
// Size that leaves a level without a trade is assumed to leave from behind the order, until the level is smaller than
// the queue ahead. That is the cautious assumption. Orders and cancels take effect after a latency, so an order can
// still fill after its cancel was decided.

import { Big } from 'big.js'
import type { BookView, Order, Side, Venue } from './venue.ts'

/** `side` is that of the taker. */
export type Trade = { time: number; side: Side; px: string; sz: string }
export type Fill = { id: number; side: Side; px: string; sz: string; time: number; waitedMs: number }
export type PaperSettings = { latencyMs: number; feeBp: number }

type Resting = Order & {
  left: Big
  liveAt: number
  cancelAt: number
  /** Size before the order in the queue of its level; null until the order is in the book. */
  ahead: Big | null
  /** Time of the last book that changed `ahead`. A trade up to then is part of it. */
  seenAt: number
}

export class PaperExchange implements Venue {
  readonly #settings: PaperSettings
  readonly #orders = new Map<number, Resting>()
  readonly #onFill: (fill: Fill) => void
  readonly #onGone: (id: number) => void
  /** Time of the last block. */
  #time = 0
  /** Signed size. */
  position = new Big(0)
  /** Money received minus money paid, fees included. */
  cash = new Big(0)
  fees = new Big(0)
  counts = { placed: 0, filled: 0, rejected: 0, fills: 0 }

  /** `onGone`: an order was filled completely or rejected. */
  constructor(settings: PaperSettings, onFill: (fill: Fill) => void, onGone: (id: number) => void) {
    this.#settings = settings
    this.#onFill = onFill
    this.#onGone = onGone
  }

  /** Profit if the position were sold at `mid`. */
  pnl(mid: Big): Big {
    return this.cash.plus(this.position.times(mid))
  }

  place(order: Order): void {
    const liveAt = this.#time + this.#settings.latencyMs
    const left = new Big(order.sz)
    this.#orders.set(order.id, { ...order, left, liveAt, cancelAt: Infinity, ahead: null, seenAt: this.#time })
    this.counts.placed++
  }

  cancel(id: number): void {
    const order = this.#orders.get(id)
    if (order) order.cancelAt = Math.min(order.cancelAt, this.#time + this.#settings.latencyMs)
  }

  cancelAll(): void {
    for (const id of this.#orders.keys()) this.cancel(id)
  }

  /** Blocks are missing: nobody knows whether open orders filled, so they are removed. */
  forget(): void {
    this.#orders.clear()
  }

  /** The book after a block. Call it after the trades of this block. */
  book(view: BookView, time: number): void {
    this.#time = time
    for (const order of [...this.#orders.values()]) {
      if (order.cancelAt <= time) this.#orders.delete(order.id)
      else if (order.liveAt <= time) this.#queue(order, view, time)
    }
  }

  trade(trade: Trade): void {
    this.#time = Math.max(this.#time, trade.time)
    let size = new Big(trade.sz)
    for (const order of [...this.#orders.values()]) {
      if (order.side === trade.side || order.ahead === null || trade.time >= order.cancelAt) continue
      // Already part of the book that the queue was taken from.
      if (trade.time <= order.seenAt) continue
      const distance = new Big(trade.px).cmp(order.px) * (order.side === 'B' ? 1 : -1)
      if (distance > 0) continue
      if (distance < 0) {
        this.#fill(order, order.left, trade.time)
        continue
      }
      const beyond = size.minus(order.ahead)
      order.ahead = beyond.gt(0) ? new Big(0) : order.ahead.minus(size)
      if (beyond.lte(0)) continue
      const filled = beyond.lt(order.left) ? beyond : order.left
      size = size.minus(filled)
      this.#fill(order, filled, trade.time)
    }
  }

  #queue(order: Resting, view: BookView, time: number): void {
    const opposite = view.best(order.side === 'B' ? 'A' : 'B')
    if (order.ahead === null && opposite) {
      const crossing = new Big(order.px).cmp(opposite.px) * (order.side === 'B' ? 1 : -1)
      if (crossing >= 0) return this.#reject(order)
    }
    const size = new Big(view.sizeAt(order.side, order.px))
    if (order.ahead === null || size.lt(order.ahead)) order.ahead = size
    order.seenAt = time
  }

  #reject({ id }: Order): void {
    this.#orders.delete(id)
    this.counts.rejected++
    this.#onGone(id)
  }

  #fill(order: Resting, sz: Big, time: number): void {
    const { id, side, px, liveAt } = order
    const notional = sz.times(px)
    const fee = notional.times(this.#settings.feeBp).times('0.0001')
    this.position = side === 'B' ? this.position.plus(sz) : this.position.minus(sz)
    this.cash = (side === 'B' ? this.cash.minus(notional) : this.cash.plus(notional)).minus(fee)
    this.fees = this.fees.plus(fee)
    this.counts.fills++
    order.left = order.left.minus(sz)
    const isWhole = order.left.eq(0)
    if (isWhole) {
      this.#orders.delete(id)
      this.counts.filled++
    }
    this.#onFill({ id, side, px, sz: sz.toFixed(), time, waitedMs: time - liveAt })
    if (isWhole) this.#onGone(id)
  }
}
