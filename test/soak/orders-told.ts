// What a client was told of the orders of one coin. Law: rows fit what it holds, and nothing is missing between them.

import { type L4Block, type L4Order, RestingOrders } from '../../src/order-books/l4/resting-orders.ts'

interface OrdersFrame {
  readonly Snapshot?: { readonly block_height: number; readonly levels: readonly (readonly L4Order[])[] }
  readonly Updates?: L4Block & {
    readonly time: number
    readonly block_height: number
    readonly prev_block_height: number
  }
}

export class OrdersTold {
  #held: { readonly orders: RestingOrders; height: number } | null = null

  /** Its socket ended. */
  lost(): void {
    this.#held = null
  }

  /** Answers what is wrong, in words; null where nothing is. */
  take({ Snapshot, Updates }: OrdersFrame): string | null {
    if (Snapshot) {
      const orders = new RestingOrders()
      this.#held = { orders, height: Snapshot.block_height }
      return Snapshot.levels.flat().every((order) => orders.add(order)) ? null : 'a Snapshot holds an order twice'
    }
    if (!(Updates && this.#held)) return 'rows come before their Snapshot'
    const { time, block_height: height, prev_block_height: prev } = Updates
    const { orders, height: held } = this.#held
    if (height <= held) return null
    this.#held.height = height
    return prev > held ? `rows between ${held} and ${prev} are missing` : orders.apply(time, Updates)
  }
}
