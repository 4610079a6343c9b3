// The resting orders of one coin, built from a feeder's snapshot, which comes in parts, and the rows of each later
// block. Invariant: orders are available only while every block since the snapshot has arrived with its rows, and all
// rows have fitted.

import type { L4Book } from '../../protocol/feed/protocol.ts'
import { type L4Block, type L4Order, RestingOrders } from './resting-orders.ts'

/** Position after a block. `epoch`: the log's epoch; null while its books are unknown. */
export interface OrdersPosition {
  readonly height: number
  readonly time: number
  readonly epoch: string | null
}

/** `isWrong`: the rows do not fit the orders, so every follower has wrong orders. */
export interface OrdersLoss {
  readonly why: string
  readonly isWrong: boolean
}

type SeedPart = Omit<L4Book, 'type' | 'coin'>

export class FollowedOrders {
  #orders: RestingOrders | null = null
  #current: OrdersPosition = { height: -1, time: 0, epoch: null }
  /** The snapshot whose parts are arriving. */
  #incoming: { readonly height: number; readonly parts: number; next: number; readonly orders: RestingOrders } | null =
    null
  /** True while blocks arrive that follow the orders' position. */
  #isFollowing = false

  /** Position of the orders; null when there are none. */
  get position(): OrdersPosition | null {
    return this.#orders && this.#current
  }

  get isReady(): boolean {
    return this.#orders !== null && this.#isFollowing
  }

  /** JSON `[bids,asks]` in pieces; empty if there are no orders. */
  texts(pieceChars: number): string[] {
    return this.#orders ? [...this.#orders.texts(pieceChars)] : []
  }

  /** Discards the orders. */
  discard(): void {
    this.#orders = null
    this.#isFollowing = false
  }

  /** Call when the next blocks will continue from the orders' position. */
  follow(epoch: string | null): void {
    this.#isFollowing = this.#orders !== null
    this.#current = { ...this.#current, epoch }
  }

  /**
   * Accepts a part of a snapshot. Returns `complete` after the last part, `invalid` when the snapshot must be requested
   * again.
   */
  onPart({ height, time, part, parts, bids, asks }: SeedPart): 'more' | 'complete' | 'invalid' {
    if (this.#orders) return 'more'
    if (part === 0) this.#incoming = { height, parts, next: 0, orders: new RestingOrders() }
    const incoming = this.#incoming
    if (!incoming || incoming.height !== height || incoming.parts !== parts || incoming.next++ !== part) {
      this.#incoming = null
      return 'invalid'
    }
    for (const side of [bids, asks]) for (const order of side) incoming.orders.add(order as L4Order)
    if (incoming.next < parts) return 'more'
    this.#incoming = null
    this.#orders = incoming.orders
    this.#current = { height, time, epoch: null }
    return 'complete'
  }

  /**
   * Applies a block. `rows`: the members of its L4Block; '' if there are none, undefined if they are unknown. Returns
   * why the orders are lost, or null.
   */
  onBlock({ height, time, epoch }: OrdersPosition, rows: string | undefined): OrdersLoss | null {
    if (!this.isReady || height <= this.#current.height) return null
    const isHole = rows === undefined || height !== this.#current.height + 1
    this.#current = { height, time, epoch }
    const why = isHole ? `the rows of block ${height} or earlier are unknown` : this.#apply(rows)
    if (why === null) return null
    this.discard()
    return { why, isWrong: !isHole }
  }

  #apply(rows: string): string | null {
    const { time, height } = this.#current
    try {
      return rows === '' || !this.#orders ? null : this.#orders.apply(time, JSON.parse(`{${rows}}`) as L4Block)
    } catch (error) {
      return `the rows of block ${height} cannot be read: ${String(error)}`
    }
  }
}
