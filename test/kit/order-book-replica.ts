// Orders of one coin as a client of `l4Book` sees them. Invariant: rows match its state, and none is missing.

import { type L4Block, type L4Order, RestingOrders } from '../../src/order-books/l4/resting-orders.ts'

/** The data of a frame. */
export interface OrdersFrame {
  readonly Snapshot?: { readonly block_height: number; readonly levels: readonly (readonly L4Order[])[] }
  readonly Updates?: L4Block & {
    readonly time: number
    readonly block_height: number
    readonly prev_block_height: number
  }
}

export class OrderBookReplica {
  #orders: RestingOrders | null = null
  /** Height of the last applied block. */
  height = -1

  /** The socket closed. */
  lost(): void {
    this.#orders = null
  }

  /** Applies a frame. Returns a message if it does not match, or null. */
  take({ Snapshot, Updates }: OrdersFrame): string | null {
    if (Snapshot) {
      const orders = new RestingOrders()
      this.#orders = orders
      this.height = Snapshot.block_height
      return Snapshot.levels.flat().every((order) => orders.add(order)) ? null : 'a Snapshot holds an order twice'
    }
    if (!(Updates && this.#orders)) return 'rows come before their Snapshot'
    const { time, block_height: height, prev_block_height: prev } = Updates
    const held = this.height
    if (height <= held) return null
    this.height = height
    return prev > held ? `rows between ${held} and ${prev} are missing` : this.#orders.apply(time, Updates)
  }

  /** Both sides in Snapshot format. */
  text(): string {
    return [...(this.#orders?.texts(1e6) ?? [])].join('')
  }
}
