// The orders of one coin as an object follows them: whole ones in parts from a feeder, then the rows of each block. Law:
// there are orders only while every block since the feeder's snapshot has come with its rows and they fitted.

import type { L4Book } from '../../protocol/feed/protocol.ts'
import { type L4Block, type L4Order, RestingOrders } from './resting-orders.ts'

/** After a block; `epoch` is the log's there, null where its books are not known. */
export interface OrdersPosition {
  readonly height: number
  readonly time: number
  readonly epoch: string | null
}

/** `isWrong`: the rows do not fit the orders, so that whoever follows them holds what is not so. */
export interface OrdersLoss {
  readonly why: string
  readonly isWrong: boolean
}

type SeedPart = Omit<L4Book, 'type' | 'coin'>

export class FollowedOrders {
  #orders: RestingOrders | null = null
  #current: OrdersPosition = { height: -1, time: 0, epoch: null }
  /** Whole orders whose parts come. */
  #incoming: { readonly height: number; readonly parts: number; next: number; readonly orders: RestingOrders } | null =
    null
  /** Blocks that come lead on from the orders. */
  #isFollowing = false

  /** Where the orders stand, null where there are none. */
  get position(): OrdersPosition | null {
    return this.#orders && this.#current
  }

  get isReady(): boolean {
    return this.#orders !== null && this.#isFollowing
  }

  /** JSON `[bids,asks]` in pieces; none where there are no orders. */
  texts(pieceChars: number): string[] {
    return this.#orders ? [...this.#orders.texts(pieceChars)] : []
  }

  /** There are no orders any more. */
  discard(): void {
    this.#orders = null
    this.#isFollowing = false
  }

  /** The blocks that come from now on lead on from the orders. */
  follow(epoch: string | null): void {
    this.#isFollowing = this.#orders !== null
    this.#current = { ...this.#current, epoch }
  }

  /** Takes a part of whole orders: `odd` where they must be asked for anew, `whole` with the last one. */
  onPart({ height, time, part, parts, bids, asks }: SeedPart): 'more' | 'whole' | 'odd' {
    if (this.#orders) return 'more'
    if (part === 0) this.#incoming = { height, parts, next: 0, orders: new RestingOrders() }
    const coming = this.#incoming
    if (!coming || coming.height !== height || coming.parts !== parts || coming.next++ !== part) {
      this.#incoming = null
      return 'odd'
    }
    for (const side of [bids, asks]) for (const order of side) coming.orders.add(order as L4Order)
    if (coming.next < parts) return 'more'
    this.#incoming = null
    this.#orders = coming.orders
    this.#current = { height, time, epoch: null }
    return 'whole'
  }

  /** Takes a block. `rows` is the inside of its L4Block, '' for none, undefined where they are not known. Answers why the orders are lost. */
  onBlock({ height, time, epoch }: OrdersPosition, rows: string | undefined): OrdersLoss | null {
    if (!this.isReady || height <= this.#current.height) return null
    const isHole = rows === undefined || height !== this.#current.height + 1
    this.#current = { height, time, epoch }
    const why = isHole ? `the rows of block ${height} or of some before are not known` : this.#apply(rows)
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
