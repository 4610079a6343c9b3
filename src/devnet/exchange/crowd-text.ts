// The crowd's orders and events as the node writes them, straight to text: hundreds a block are too many for objects.
// Law: the text is that of JSON.stringify of the same order or event (frontendOrder, NodeBookDiff, NodeOrderStatus).

import type { CrowdOrders } from './crowd-orders.ts'
import { decimalText } from './fixed-point.ts'
import { type Market, marketAt } from './market.ts'
import { type Order, orderOf } from './order.ts'

/** Every third order has none; what an order's is follows from its id. */
function cloidOf(oid: number): string | null {
  if (oid % 3 === 0) return null
  return `0x${Math.imul(oid % 2 ** 31, 0x9e3779b1 | 1)
    .toString(16)
    .replace('-', '')
    .padStart(16, '0')}${oid.toString(16).padStart(16, '0')}`
}

/** An order of the crowd, in columns or about to be. */
export interface CrowdOrder {
  readonly market: Market
  readonly side: 'B' | 'A'
  readonly px: string
  readonly sz: string
  readonly origSz: string
  readonly oid: number
  readonly timeMs: number
  /** Address. */
  readonly user: string
}

/** FrontendOrder. */
export function orderText({ market, side, px, sz, origSz, oid, timeMs }: CrowdOrder): string {
  const cloid = cloidOf(oid)
  return `{"coin":"${market.coin}","side":"${side}","limitPx":"${px}","sz":"${sz}","oid":${oid},"timestamp":${timeMs},"triggerCondition":"N/A","isTrigger":false,"triggerPx":"0.0","children":[],"isPositionTpsl":false,"reduceOnly":false,"orderType":"Limit","origSz":"${origSz}","tif":"Alo","cloid":${cloid === null ? 'null' : `"${cloid}"`}}`
}

/** NodeOrderStatus; `time` as the node writes it, `hash` null where the order ends. */
export function statusText(order: CrowdOrder, time: string, status: string, hash: string | null): string {
  return `{"time":"${time}","user":"${order.user}","hash":${hash === null ? 'null' : `"${hash}"`},"builder":null,"status":"${status}","order":${orderText(order)}}`
}

/** NodeBookDiff of an order that comes to rest, or is taken out. */
export function diffText({ user, oid, market, side, px, sz }: CrowdOrder, isNew: boolean): string {
  return `{"user":"${user}","oid":${oid},"coin":"${market.coin}","side":"${side}","px":"${px}","raw_book_diff":${isNew ? `{"new":{"sz":"${sz}"}}` : '"remove"'}}`
}

/** An order in the columns; `addressOf` answers the address of an account. */
export function crowdOrderAt(orders: CrowdOrders, slot: number, addressOf: (account: number) => string): CrowdOrder {
  const book = orders.book[slot]!
  const market = marketAt(book >> 1)
  return {
    market,
    side: book % 2 === 0 ? 'B' : 'A',
    px: decimalText(orders.px[slot]!, market.pxDecimals),
    sz: decimalText(orders.sz[slot]!, market.szDecimals),
    origSz: decimalText(orders.origSz[slot]!, market.szDecimals),
    oid: orders.oid[slot]!,
    timeMs: orders.timeMs[slot]!,
    user: addressOf(orders.owner[slot]!),
  }
}

/** The same as an object, for matching and for answers. */
export function crowdOrderObject(orders: CrowdOrders, slot: number): Order {
  const book = orders.book[slot]!
  const { id, tick, lot } = marketAt(book >> 1)
  const request = {
    owner: orders.owner[slot]!,
    market: id,
    side: book % 2 === 0 ? ('B' as const) : ('A' as const),
    px: BigInt(orders.px[slot]!) * tick,
    sz: BigInt(orders.origSz[slot]!) * lot,
    tif: 'Alo' as const,
    cloid: cloidOf(orders.oid[slot]!),
  }
  const order = orderOf(request, orders.oid[slot]!, orders.timeMs[slot]!)
  order.sz = BigInt(orders.sz[slot]!) * lot
  order.crowdSlot = slot
  return order
}
