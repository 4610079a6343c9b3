// The resting orders of one coin, order by order. Laws: a snapshot and the rows of the blocks above it are the next
// snapshot, in order of price and, at one price, of time (test/order-books/l4/resting-orders.test.ts); rows that do not fit the
// orders are told of, and leave a book that is of no use.

import type { Coin } from '../../core/coin.ts'
import { compareDecimals } from '../../core/decimal.ts'
import type { Address } from '../../protocol/feed/block.ts'

/** A resting order as it is shown, in this order of keys. */
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

/** A row of order statuses, as far as books are made of it; within `order` nodes leave the user out. */
export interface L4Status {
  readonly user: Address
  readonly status: string
  readonly order: Omit<L4Order, 'user'>
}

/** A row of raw book diffs. */
export interface L4Diff {
  readonly oid: number
  readonly raw_book_diff:
    | 'remove'
    | { readonly new: { readonly sz: string } }
    | { readonly update: { readonly origSz: string; readonly newSz: string } }
}

/** What a node wrote of a coin in one block. */
export interface L4Block {
  readonly order_statuses: readonly L4Status[]
  readonly book_diffs: readonly L4Diff[]
}

/** `key` is the price as a float, by which orders are sorted; `text` the order's JSON. */
interface RestingOrder {
  readonly side: 'B' | 'A'
  readonly px: string
  readonly key: number
  sz: string
  text: string
}

const SIZE = '"sz":"'

export class RestingOrders {
  /** In the order of their coming, which is that of time at each price. */
  readonly #byOid = new Map<number, RestingOrder>()

  get size(): number {
    return this.#byOid.size
  }

  /** Puts an order behind the others of its price; false where it is there already. */
  add(order: L4Order): boolean {
    const { oid, side, limitPx: px, sz } = order
    if (this.#byOid.has(oid)) return false
    this.#byOid.set(oid, { side, px, key: Number(px), sz, text: textOf(order) })
    return true
  }

  /** Applies a block of this time, Unix ms; answers what does not fit, or null. Throws on what are no rows. */
  apply(time: number, { order_statuses: statuses, book_diffs: diffs }: L4Block): string | null {
    const placed = new Map<number, L4Status>()
    for (const row of statuses) if (!placed.has(row.order.oid) || isPlacing(row)) placed.set(row.order.oid, row)
    for (const { oid, raw_book_diff: diff } of diffs) {
      if (diff === 'remove') {
        if (!this.#byOid.delete(oid)) return `order ${oid} is removed and not there`
      } else if ('new' in diff) {
        const row = placed.get(oid)
        if (!row) return `order ${oid} is new and has no status`
        if (!this.add(restingOf(row, diff.new.sz, time))) return `order ${oid} is new and there already`
      } else if (!this.#resize(oid, diff.update.origSz, diff.update.newSz))
        return `order ${oid} is not there with size ${diff.update.origSz}`
    }
    return null
  }

  #resize(oid: number, from: string, to: string): boolean {
    const order = this.#byOid.get(oid)
    if (!order || (order.sz !== from && compareDecimals(order.sz, from) !== 0)) return false
    // All before the size is the server's own: no text of a client can be taken for it.
    const at = order.text.indexOf(SIZE) + SIZE.length
    order.text = order.text.slice(0, at) + to + order.text.slice(at + order.sz.length)
    order.sz = to
    return true
  }

  /** JSON `[bids,asks]`, best first and the oldest first at one price, in pieces of about so many characters. */
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

/** The order is in the book with this status. */
function isPlacing({ status, order: { isTrigger, tif } }: L4Status): boolean {
  return isTrigger ? status === 'triggered' : status === 'open' && tif !== 'Ioc'
}

/** What a new order rests as: one that was triggered is an order like others from then on. */
function restingOf({ user, order }: L4Status, sz: string, time: number): L4Order {
  if (!order.isTrigger) return { ...order, user, sz }
  const triggered = { isTrigger: false, triggerPx: '0.0', triggerCondition: 'Triggered', timestamp: time, tif: 'Gtc' }
  return { ...order, user, sz, ...triggered }
}

function byPrice(a: RestingOrder, b: RestingOrder): number {
  return a.key - b.key || compareDecimals(a.px, b.px)
}

/** One flat text: forty thousand that hang together of pieces would take as much again. */
function textOf(order: L4Order): string {
  const { user, coin, side, limitPx, sz, oid, timestamp, triggerCondition, isTrigger, triggerPx } = order
  const { isPositionTpsl, reduceOnly, orderType, tif, cloid } = order
  const first = { user, coin, side, limitPx, sz, oid, timestamp, triggerCondition, isTrigger, triggerPx }
  return JSON.stringify({ ...first, isPositionTpsl, reduceOnly, orderType, tif, cloid: cloid ?? null })
}
