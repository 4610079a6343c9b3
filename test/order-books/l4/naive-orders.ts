// Orders of one coin as a list, and the rows that a node would write for random changes to it. Tests compare folds
// with this list.

import * as fc from 'fast-check'
import type { L4Diff, L4Order, L4Status } from '../../../src/order-books/l4/resting-orders.ts'

/** What happens to a book in one block, in numbers that `NaiveOrders.block` makes sense of. */
export const blocks = fc.array(
  fc.array(fc.record({ kind: fc.nat({ max: 5 }), at: fc.nat(), px: fc.nat({ max: 8 }), sz: fc.nat({ max: 50 }) }), {
    maxLength: 6,
  }),
  { minLength: 1, maxLength: 25 },
)
type Moves = (typeof blocks extends fc.Arbitrary<(infer T)[]> ? T : never) & readonly unknown[]

const PRICES = ['9.5', '10', '10.0', '10.25', '100', '0.001', '10.000000000000000001', '99.9', '1234567.8']

export class NaiveOrders {
  orders: L4Order[] = []
  #oid = 0
  readonly #coin: string

  constructor(coin: string) {
    this.#coin = coin
  }

  /** Changes the book and answers the inside of the JSON that says so; '' where nothing happened. */
  block(time: number, moves: Moves): string {
    const order_statuses: L4Status[] = []
    const book_diffs: L4Diff[] = []
    for (const { kind, at, px, sz } of moves) {
      const order = this.orders[at % Math.max(1, this.orders.length)]
      const status = (one: L4Order, what: string) => {
        const { user, ...rest } = one
        order_statuses.push({ user, status: what, order: rest })
      }
      if (kind >= 3 || !order) {
        const isTrigger = kind === 4
        const came = this.#order(time, PRICES[px]!, String(sz + 1), isTrigger)
        if (kind === 5) status(came, 'badAloPxRejected')
        if (kind === 5) continue
        status(came, isTrigger ? 'triggered' : 'open')
        // It was filled in part before it came to rest.
        const resting = { ...came, sz: `${sz + 0.5}` }
        book_diffs.push({ oid: came.oid, raw_book_diff: { new: { sz: resting.sz } } })
        const triggered = {
          isTrigger: false,
          triggerPx: '0.0',
          triggerCondition: 'Triggered',
          timestamp: time,
          tif: 'Gtc',
        }
        this.orders.push(isTrigger ? { ...resting, ...triggered } : resting)
      } else if (kind === 0) {
        status(order, 'canceled')
        book_diffs.push({ oid: order.oid, raw_book_diff: 'remove' })
        this.orders = this.orders.filter((one) => one !== order)
      } else {
        const newSz = `${sz}.0`
        book_diffs.push({ oid: order.oid, raw_book_diff: { update: { origSz: `${order.sz}`, newSz } } })
        this.orders = this.orders.map((one) => (one === order ? { ...one, sz: newSz } : one))
      }
    }
    if (order_statuses.length + book_diffs.length === 0) return ''
    return JSON.stringify({ order_statuses, book_diffs }).slice(1, -1)
  }

  #order(timestamp: number, limitPx: string, sz: string, isTrigger: boolean): L4Order {
    const oid = ++this.#oid
    return {
      user: `0x${String(oid).padStart(40, '0')}`,
      coin: this.#coin,
      side: oid % 3 === 0 ? 'A' : 'B',
      limitPx,
      sz,
      oid,
      timestamp,
      triggerCondition: isTrigger ? 'Price above 1' : 'N/A',
      isTrigger,
      triggerPx: isTrigger ? '1.0' : '0.0',
      isPositionTpsl: false,
      reduceOnly: isTrigger,
      orderType: isTrigger ? 'Stop Market' : 'Limit',
      tif: isTrigger ? null : 'Alo',
      cloid: oid % 2 === 0 ? null : `0x"sz":"${oid}`,
    }
  }

  /** `[bids,asks]`, best first and the oldest first at one price. */
  levels(): [L4Order[], L4Order[]] {
    const scaled = (px: string) => {
      const [whole, part = ''] = px.split('.')
      return BigInt(whole! + part.padEnd(18, '0'))
    }
    const sorted = (side: 'B' | 'A', sign: 1 | -1) =>
      this.orders
        .filter((order) => order.side === side)
        .sort(
          (a, b) => sign * (scaled(a.limitPx) < scaled(b.limitPx) ? -1 : scaled(a.limitPx) > scaled(b.limitPx) ? 1 : 0),
        )
    return [sorted('B', -1), sorted('A', 1)]
  }
}
