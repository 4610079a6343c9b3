// RPC interface of an order-level book's object for relays. Types only: the shell is ../order-book.do.ts. Payloads
// carry `v`.

import type { OrdersPosition } from './followed-orders.ts'

export const ORDER_BOOK_VERSION = 1

export interface OrderBookApi {
  /**
   * True when the book has reached the height. Each call keeps the book for some minutes, or starts to fetch a missing
   * one.
   */
  ready(atLeast: number): Promise<{ readonly v: number; readonly ready: boolean }>
  /**
   * Prepares the book as a string, or reuses a recent one. Null when the book has not reached the height, or when too
   * many other strings are being read.
   */
  snapshot(atLeast: number): Promise<OrdersSnapshot | null>
  /** One piece of the JSON `[bids,asks]` at a height, best first. Null when it has expired: request a new snapshot. */
  snapshotPiece(height: number, index: number): Promise<string | null>
}

export interface OrdersSnapshot extends OrdersPosition {
  readonly v: number
  readonly pieces: number
  readonly chars: number
  /** The first piece; most books have only this one. */
  readonly first?: string
}
