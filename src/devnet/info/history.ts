// Answers from what is remembered of the blocks: orders, fills, trades, TWAP orders, funding, ledger and stake of a wallet.

import { fillRows } from '../../archive/fill-rows.ts'
import { frontendOrder, type Order } from '../exchange/order.ts'
import {
  type InfoContext,
  type InfoHandlers,
  isWithin,
  listedMarket,
  NOT_FOUND,
  type RequestFields,
} from './handler.ts'
import { INACTIVE_PXS } from './listing.ts'
import { walletOf } from './wallet.ts'

/** Rows of one answer: of fills, and of funding and ledger. */
const MAX_ROWS = 2_000
const MAX_UPDATES = 500

/** Oldest first, within the window that is asked for; without what only the node tells. */
function fillsOf({ history }: InfoContext, { user, aggregateByTime, ...window }: RequestFields) {
  const kept = history.wallet(user)?.fills.toArray() ?? []
  const blocks = Map.groupBy(kept.filter(isWithin(window)), ({ time }) => time)
  return [...blocks.values()].flatMap((fills) =>
    fillRows(
      fills.map((fill) => [user, fill]),
      aggregateByTime,
    ),
  )
}

/** Newest first. A slice's fill stands in an envelope that names the TWAP, and does not name it itself. */
function slicesOf(scene: InfoContext, fields: RequestFields) {
  return fillsOf(scene, fields)
    .filter(({ twapId }) => twapId !== null)
    .toReversed()
    .map((fill) => ({ fill: { ...fill, twapId: null }, twapId: fill.twapId }))
}

/** A resting order as it is now; what was reported when it came may be of a larger size. */
const restingRow = (order: Order) => ({
  order: frontendOrder(order),
  status: 'open',
  statusTimestamp: order.timestampMs,
})

const restingRows = ({ exchange }: InfoContext, user: string) => walletOf(exchange, user).orders.flat(2).map(restingRow)

/** Newest first: the last status of each of the last orders. */
function historicalOrders(scene: InfoContext, user: string) {
  const open = new Map(restingRows(scene, user).map((row) => [row.order.oid, row]))
  const rows = [...(scene.history.wallet(user)?.orders.values() ?? [])].reverse()
  return rows.map((row) => open.get(row.order.oid) ?? row)
}

function orderStatus(scene: InfoContext, { user, oid }: RequestFields) {
  const rows = [...restingRows(scene, user), ...historicalOrders(scene, user)]
  const order = rows.find(({ order }) => (typeof oid === 'number' ? order.oid === oid : order.cloid === oid))
  return order === undefined ? { status: 'unknownOid' } : { status: 'order', order }
}

/** Orders, fills and trades newest first unless by time; funding and ledger oldest first. A coin that does not exist is nothing. */
export const HISTORY_HANDLERS: InfoHandlers = {
  historicalOrders: (scene, { user }) => historicalOrders(scene, user),
  orderStatus,
  userFills: (scene, fields) => fillsOf(scene, fields).toReversed(),
  userFillsByTime: (scene, fields) => {
    const fills = fillsOf(scene, fields)
    return (fields.reversed ? fills.toReversed() : fills).slice(0, MAX_ROWS)
  },
  userTwapSliceFills: slicesOf,
  userTwapSliceFillsByTime: slicesOf,
  recentTrades: ({ exchange, history }, { coin }) =>
    listedMarket(exchange, coin) === undefined && !INACTIVE_PXS.has(coin) ? NOT_FOUND : history.trades(coin),
  twapHistory: ({ history }, { user }) => history.wallet(user)?.twaps.toArray().toReversed() ?? [],
  userFunding: ({ history }, fields) =>
    history.wallet(fields.user)?.payments.toArray().filter(isWithin(fields)).slice(0, MAX_UPDATES) ?? [],
  userNonFundingLedgerUpdates: ({ history }, fields) =>
    history.wallet(fields.user)?.ledger.toArray().filter(isWithin(fields)).slice(0, MAX_UPDATES) ?? [],
  delegatorHistory: ({ history }, { user }) => history.wallet(user)?.staking.toArray().toReversed() ?? [],
}
