// Somebody who keeps order-level books by the documented rule: whole books as they come, and the rows of every block
// after them. Throws where anything does not fit: an order that is not known, another size, a row that is missing.

import type { L4Rows } from '../../src/protocol/feed/block.ts'
import type { L4Book } from '../../src/protocol/feed/protocol.ts'

interface Order {
  readonly oid: number
  readonly limitPx: string
  readonly sz: string
}
interface Diff {
  readonly oid: number
  readonly coin: string
  readonly raw_book_diff: 'remove' | { new?: { sz: string }; update?: { origSz: string; newSz: string } }
}
interface Block {
  readonly height: number
  readonly l4?: readonly L4Rows[] | undefined
}

export class L4Client {
  readonly #coin: string
  /** Rows of every block since some height. */
  readonly #rows = new Map<number, L4Rows>()
  #orders: Map<number, Order> | null = null
  /** Received parts of a snapshot, null while none is in transit. */
  #parts: L4Book[] | null = null
  /** Height of the last snapshot. */
  begun: number | null = null

  constructor(coin: string) {
    this.#coin = coin
  }

  /** Orders of the book, null while it is unknown. */
  get orders(): Order[] | null {
    return this.#orders && [...this.#orders.values()]
  }

  /** Applies the next block. Returns false if its rows are not known, and the client starts over. */
  block({ height, l4 }: Block): boolean {
    const rows = l4?.find(({ coin }) => coin === this.#coin)
    if (!rows || !(this.#rows.size === 0 || this.#rows.has(height - 1))) this.lose()
    if (!rows) return false
    this.#rows.set(height, rows)
    this.#apply(rows)
    return true
  }

  lose(): void {
    this.#rows.clear()
    this.#orders = null
    this.#parts = null
  }

  /** Applies a part of a snapshot. */
  part(frame: L4Book): void {
    if (frame.part === 0) this.#parts = []
    const parts = this.#parts
    // The rest of an incomplete snapshot.
    if (!parts) return
    if (frame.part !== parts.length) throw new Error(`part ${frame.part} where ${parts.length} was due`)
    parts.push(frame)
    if (frame.part + 1 < frame.parts) return
    const orders = [...parts.flatMap(({ bids }) => bids), ...parts.flatMap(({ asks }) => asks)] as Order[]
    this.#parts = null
    const heights = [...this.#rows.keys()]
    // After the block with the first rows received, or the one before it.
    if (!(heights[0]! - 1 <= frame.height && frame.height <= heights.at(-1)!))
      throw new Error(`a book of ${frame.height} for rows of ${heights[0]} to ${heights.at(-1)}`)
    this.#orders = new Map(orders.map((order) => [order.oid, order]))
    for (const height of heights) if (height > frame.height) this.#apply(this.#rows.get(height)!)
    this.begun = frame.height
  }

  #apply({ statuses, diffs }: L4Rows): void {
    const orders = this.#orders
    if (!orders) return
    for (const { oid, coin, raw_book_diff: diff } of diffs as Diff[]) {
      const order = orders.get(oid)
      if (coin !== this.#coin) throw new Error(`a row of ${coin}`)
      if (diff === 'remove') {
        if (!orders.delete(oid)) throw new Error(`${oid} is removed and unknown`)
      } else if (diff.update) {
        if (order?.sz !== diff.update.origSz) throw new Error(`${oid} has size ${order?.sz}, not ${diff.update.origSz}`)
        orders.set(oid, { ...order, sz: diff.update.newSz })
      } else {
        const status = (statuses as { status: string; order: Order }[]).find((row) => row.order.oid === oid)
        if (order || !status) throw new Error(`${oid} is new and ${order ? 'known' : 'without a status'}`)
        orders.set(oid, { ...status.order, sz: diff.new!.sz })
      }
    }
  }
}
