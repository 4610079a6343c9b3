// Orders of a wallet: those that rest come from its own lists, the others from what was last reported of them.

import { frontendOrder, type Order } from '../exchange/order.ts'
import type { Wallet } from '../exchange/wallet.ts'
import { ofDex, type Scene, type SomeAnswers } from './answer.ts'
import type { PastOrder } from './past.ts'
import type { RequestOf } from './request.ts'
import { openOrders, ordersOnDex, walletOf } from './wallet.ts'

const rowOf = ({ record, timeMs }: PastOrder) => ({
  order: record.order,
  status: record.status,
  statusTimestamp: timeMs,
})

/** A resting order as it is now; what was reported when it came may be of a larger size. */
const restingRow = (order: Order) => ({
  order: frontendOrder(order),
  status: 'open',
  statusTimestamp: order.timestampMs,
})

const resting = (wallet: Wallet) => wallet.orders.flat(2)

/** Newest first: the last status of each of the last orders. */
function historicalOrders({ exchange, past }: Scene, user: string) {
  const open = new Map(resting(walletOf(exchange, user)).map((order) => [order.oid, order]))
  const orders = [...(past.wallet(user)?.orders.values() ?? [])].reverse()
  return orders.map((row) => {
    const order = open.get(row.record.order.oid)
    return order === undefined ? rowOf(row) : restingRow(order)
  })
}

function orderStatus({ exchange, past }: Scene, { user, oid }: RequestOf<'orderStatus'>) {
  const wanted = (order: { readonly oid: number; readonly cloid: string | null }) =>
    typeof oid === 'number' ? order.oid === oid : order.cloid === oid
  const order = resting(walletOf(exchange, user)).find(wanted)
  if (order !== undefined) return { status: 'order', order: restingRow(order) }
  const orders = past.wallet(user)?.orders
  const row =
    typeof oid === 'number'
      ? orders?.get(oid)
      : [...(orders?.values() ?? [])].find(({ record }) => wanted(record.order))
  return row === undefined ? { status: 'unknownOid' } : { status: 'order', order: rowOf(row) }
}

/** The main DEX has the orders of spot and outcomes too. */
export const ORDER_ANSWERS = {
  openOrders: ofDex(({ exchange }, dex, { user }) => openOrders(walletOf(exchange, user), dex)),
  frontendOpenOrders: ofDex(({ exchange }, dex, { user }) =>
    ordersOnDex(walletOf(exchange, user), dex).map(frontendOrder),
  ),
  historicalOrders: (scene, { user }) => historicalOrders(scene, user),
  orderStatus,
} satisfies SomeAnswers
