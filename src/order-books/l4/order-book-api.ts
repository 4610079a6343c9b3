// What the object of an order-level book answers relays over RPC. Types alone: the shell is ../order-book.do.ts. Payloads
// carry `v`.

import type { OrdersPosition } from './followed-orders.ts'

export const ORDER_BOOK_VERSION = 1

export interface OrderBookApi {
  /** Whether there is a book, not below a height. Who asks keeps it for some minutes; one that is not there is fetched. */
  ready(atLeast: number): Promise<{ readonly v: number; readonly ready: boolean }>
  /** Makes the text of the whole book, or takes one that was just made; null where there is none at or above the height, or others fetch theirs. */
  snapshot(atLeast: number): Promise<OrdersSnapshot | null>
  /** A piece of the JSON `[bids,asks]` at a height, best first; null where it is not held any more: ask for the whole. */
  snapshotPiece(height: number, index: number): Promise<string | null>
}

export interface OrdersSnapshot extends OrdersPosition {
  readonly v: number
  readonly pieces: number
  readonly chars: number
  /** The first piece, which of most books is all. */
  readonly first?: string
}
