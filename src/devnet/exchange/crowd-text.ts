// The crowd's orders and events in the node's format, written directly as strings, because hundreds per block are too
// many for objects. Invariant: the string equals JSON.stringify of the same order or event (frontendOrder,
// NodeBookDiff, NodeOrderStatus).

import type { CrowdOrders } from './crowd-orders.ts'
import { decimalText } from './fixed-point.ts'
import { type Market, marketAt } from './market.ts'
import { type Order, orderOf } from './order.ts'
import type { Wallet } from './wallet.ts'

/** Client order id, derived from the order id. Every third order has none. */
function cloidOf(oid: number): string | null {
  if (oid % 3 === 0) return null
  return `0x${Math.imul(oid % 2 ** 31, 0x9e3779b1 | 1)
    .toString(16)
    .replace('-', '')
    .padStart(16, '0')}${oid.toString(16).padStart(16, '0')}`
}

/** A crowd order that is in the columns or about to be added. */
export interface CrowdOrder {
  readonly market: Market
  readonly side: 'B' | 'A'
  /** Price in ticks. */
  readonly ticks: number
  readonly px: string
  readonly sz: string
  readonly origSz: string
  readonly oid: number
  readonly timeMs: number
  /** Address. */
  readonly user: string
}

/**
 * Number of ids that an order uses. Some orders have a take-profit and a stop-loss order, which use the next two ids.
 */
export const idsOf = (oid: number): number => (oid % 97 === 0 ? 3 : 1)

function childrenText(order: CrowdOrder): string {
  return idsOf(order.oid) === 1
    ? '[]'
    : `[${triggerText(order, order.oid + 1, 5)},${triggerText(order, order.oid + 2, -5)}]`
}

/**
 * FrontendOrder that closes the position opened by the order `of`, at market, once the price is `percent` better, or worse
 * if `percent` is negative.
 */
export function triggerText(of: CrowdOrder, oid: number, percent: number): string {
  const { market, sz, timeMs } = of
  const up = of.side === 'B' ? percent : -percent
  const text = (ticks: number) => decimalText(Math.max(1, Math.round(ticks)), market.pxDecimals)
  const trigger = (of.ticks * (100 + up)) / 100
  const [limit, side] = of.side === 'B' ? [trigger * 0.92, 'A'] : [trigger * 1.08, 'B']
  return `{"coin":"${market.coin}","side":"${side}","limitPx":"${text(limit)}","sz":"${sz}","oid":${oid},"timestamp":${timeMs},"triggerCondition":"Price ${up > 0 ? 'above' : 'below'} ${text(trigger).replace(/\.0$/, '')}","isTrigger":true,"triggerPx":"${text(trigger)}","children":[],"isPositionTpsl":false,"reduceOnly":true,"orderType":"${percent > 0 ? 'Take Profit' : 'Stop'} Market","origSz":"${sz}","tif":null,"cloid":null}`
}

/** The order as a FrontendOrder. */
export function orderText(order: CrowdOrder): string {
  const { market, side, px, sz, origSz, oid, timeMs } = order
  const cloid = cloidOf(oid)
  return `{"coin":"${market.coin}","side":"${side}","limitPx":"${px}","sz":"${sz}","oid":${oid},"timestamp":${timeMs},"triggerCondition":"N/A","isTrigger":false,"triggerPx":"0.0","children":${childrenText(order)},"isPositionTpsl":false,"reduceOnly":false,"orderType":"Limit","origSz":"${origSz}","tif":"Alo","cloid":${cloid === null ? 'null' : `"${cloid}"`}}`
}

/** The order as a NodeOrderStatus. `time`: block time in the node's format. `hash`: null if the order ends. */
export function statusText(
  order: CrowdOrder,
  time: string,
  status: string,
  hash: string | null,
  text = orderText(order),
): string {
  return `{"time":"${time}","user":"${order.user}","hash":${hash === null ? 'null' : `"${hash}"`},"builder":null,"status":"${status}","order":${text}}`
}

/** NodeBookDiff for an order that starts to rest or is removed. */
export function diffText({ user, oid, market, side, px, sz }: CrowdOrder, isNew: boolean): string {
  return `{"user":"${user}","oid":${oid},"coin":"${market.coin}","side":"${side}","px":"${px}","raw_book_diff":${isNew ? `{"new":{"sz":"${sz}"}}` : '"remove"'}}`
}

/** An order in the columns. It has no user if `accounts` is omitted. */
export function crowdOrderAt(orders: CrowdOrders, slot: number, accounts: readonly Wallet[] = []): CrowdOrder {
  const book = orders.book[slot]!
  const market = marketAt(book >> 1)
  return {
    market,
    side: book % 2 === 0 ? 'B' : 'A',
    ticks: orders.px[slot]!,
    px: decimalText(orders.px[slot]!, market.pxDecimals),
    sz: decimalText(orders.sz[slot]!, market.szDecimals),
    origSz: decimalText(orders.origSz[slot]!, market.szDecimals),
    oid: orders.oid[slot]!,
    timeMs: orders.timeMs[slot]!,
    user: accounts[orders.owner[slot]!]?.address ?? '',
  }
}

/** An order in the columns as an object, for matching and for /info. */
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
  const children = JSON.parse(childrenText(crowdOrderAt(orders, slot)))
  const order: Order = { ...orderOf(request, orders.oid[slot]!, orders.timeMs[slot]!), children }
  order.sz = BigInt(orders.sz[slot]!) * lot
  order.crowdSlot = slot
  return order
}
