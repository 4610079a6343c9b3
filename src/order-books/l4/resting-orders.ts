// The resting orders of one coin. Invariants: a snapshot plus the rows of later blocks equals the next snapshot, sorted
// by price, then time (test/order-books/l4/resting-orders.test.ts). Rows that do not fit are reported, and they make
// the book useless.

import type { Coin } from '../../core/coin.ts'
import { compareDecimals } from '../../core/decimal.ts'
import type { Address } from '../../protocol/feed/block.ts'

/** A resting order as clients see it. Its JSON keys have this order. */
export interface L4Order {
  readonly user: Address
  readonly coin: Coin
  readonly side: 'B' | 'A'
  readonly limitPx: string
  readonly sz: string
  readonly oid: number
  readonly timestamp: number
  readonly triggerCondition: string
  readonly isTrigger: boolean
  readonly triggerPx: string
  readonly isPositionTpsl: boolean
  readonly reduceOnly: boolean
  readonly orderType: string
  readonly tif: string | null
  readonly cloid: string | null
}

/** The fields of an order status that books need; nodes omit the user from `order`. */
export interface L4Status {
  readonly user: Address
  readonly status: string
  readonly order: Omit<L4Order, 'user'>
}

/** A raw book diff. */
export interface L4Diff {
  readonly oid: number
  readonly raw_book_diff:
    | 'remove'
    | { readonly new: { readonly sz: string } }
    | { readonly update: { readonly origSz: string; readonly newSz: string } }
}

/** A node's rows for a coin in one block. */
export interface L4Block {
  readonly order_statuses: readonly L4Status[]
  readonly book_diffs: readonly L4Diff[]
}

/** `key`: the price as a float, for sorting. `text`: the order's JSON. */
interface RestingOrder {
  readonly side: 'B' | 'A'
  readonly px: string
  readonly key: number
  sz: string
  text: string
}

const SIZE = '"sz":"'

export class RestingOrders {
  /** In order of arrival, which is time order at each price. */
  readonly #byOid = new Map<number, RestingOrder>()

  get size(): number {
    return this.#byOid.size
  }

  /** Adds an order behind the others at its price. Returns false if it already exists. */
  add(order: L4Order): boolean {
    const { oid, side, limitPx: px, sz } = order
    if (this.#byOid.has(oid)) return false
    this.#byOid.set(oid, { side, px, key: Number(px), sz, text: textOf(order) })
    return true
  }

  /** Applies a block; `time` in Unix ms. Returns what does not fit, or null. Throws if `rows` are malformed. */
  apply(time: number, { order_statuses: statuses, book_diffs: diffs }: L4Block): string | null {
    const placed = new Map<number, L4Status>()
    for (const row of statuses) if (!placed.has(row.order.oid) || isPlacing(row)) placed.set(row.order.oid, row)
    for (const { oid, raw_book_diff: diff } of diffs) {
      if (diff === 'remove') {
        if (!this.#byOid.delete(oid)) return `order ${oid} is removed but does not exist`
      } else if ('new' in diff) {
        const row = placed.get(oid)
        if (!row) return `order ${oid} is new but has no status`
        if (!this.add(restingOf(row, diff.new.sz, time))) return `order ${oid} is new but already exists`
      } else if (!this.#resize(oid, diff.update.origSz, diff.update.newSz))
        return `order ${oid} does not exist with size ${diff.update.origSz}`
    }
    return null
  }

  #resize(oid: number, from: string, to: string): boolean {
    const order = this.#byOid.get(oid)
    if (!order || (order.sz !== from && compareDecimals(order.sz, from) !== 0)) return false
    // No client can choose what precedes the size in the JSON, so the first match is the size.
    const at = order.text.indexOf(SIZE) + SIZE.length
    order.text = order.text.slice(0, at) + to + order.text.slice(at + order.sz.length)
    order.sz = to
    return true
  }

  /** JSON `[bids,asks]`, best first, then oldest first, in pieces of about `pieceChars`. */
  *texts(pieceChars: number): Generator<string, void> {
    const all = [...this.#byOid.values()]
    const asks = all.filter(({ side }) => side === 'A').sort(byPrice)
    const bids = all.filter(({ side }) => side === 'B').sort((a, b) => byPrice(b, a))
    let batch: string[] = []
    let chars = 0
    for (const [before, side] of [['[[', bids] as const, ['],[', asks] as const]) {
      batch.push(before)
      for (const [at, { text }] of side.entries()) {
        batch.push(at === 0 ? '' : ',', text)
        chars += text.length
        if (chars < pieceChars) continue
        yield batch.join('')
        batch = []
        chars = 0
      }
    }
    batch.push(']]')
    yield batch.join('')
  }
}

/** True if the order is in the book with this status. */
function isPlacing({ status, order: { isTrigger, tif } }: L4Status): boolean {
  return isTrigger ? status === 'triggered' : status === 'open' && tif !== 'Ioc'
}

/** The resting order. Once triggered, a trigger order rests like any other. */
function restingOf({ user, order }: L4Status, sz: string, time: number): L4Order {
  if (!order.isTrigger) return { ...order, user, sz }
  const triggered = { isTrigger: false, triggerPx: '0.0', triggerCondition: 'Triggered', timestamp: time, tif: 'Gtc' }
  return { ...order, user, sz, ...triggered }
}

function byPrice(a: RestingOrder, b: RestingOrder): number {
  return a.key - b.key || compareDecimals(a.px, b.px)
}

/** One flat string per order: 40,000 concatenated strings would take twice the memory. */
function textOf(order: L4Order): string {
  const { user, coin, side, limitPx, sz, oid, timestamp, triggerCondition, isTrigger, triggerPx } = order
  const { isPositionTpsl, reduceOnly, orderType, tif, cloid } = order
  const first = { user, coin, side, limitPx, sz, oid, timestamp, triggerCondition, isTrigger, triggerPx }
  return JSON.stringify({ ...first, isPositionTpsl, reduceOnly, orderType, tif, cloid: cloid ?? null })
}
