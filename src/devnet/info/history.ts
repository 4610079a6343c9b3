// Handlers that read the history of a wallet: orders, fills, trades, TWAP orders, funding, ledger and staking.

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

/** Maximum number of rows per response: of fills, and of funding or ledger updates. */
const MAX_ROWS = 2_000
const MAX_UPDATES = 500

/** Fills in the requested window, oldest first, excluding fields that only the node shows. */
function fillsOf({ history }: InfoContext, { user, aggregateByTime, ...window }: RequestFields) {
  const fills = history.wallet(user)?.fills.toArray() ?? []
  const blocks = Map.groupBy(fills.filter(isWithin(window)), ({ time }) => time)
  return [...blocks.values()].flatMap((fills) =>
    fillRows(
      fills.map((fill) => [user, fill]),
      aggregateByTime,
    ),
  )
}

/** TWAP slice fills, newest first. Each fill is wrapped in an object that has the TWAP id; the fill itself has none. */
function slicesOf(context: InfoContext, fields: RequestFields) {
  return fillsOf(context, fields)
    .filter(({ twapId }) => twapId !== null)
    .toReversed()
    .map((fill) => ({ fill: { ...fill, twapId: null }, twapId: fill.twapId }))
}

/** The current state of a resting order, whose first status may have a larger size. */
const restingRow = (order: Order) => ({
  order: frontendOrder(order),
  status: 'open',
  statusTimestamp: order.timestampMs,
})

const restingRows = ({ exchange }: InfoContext, user: string) => walletOf(exchange, user).orders.flat(2).map(restingRow)

/** The last status of each recent order, newest first. */
function historicalOrders(context: InfoContext, user: string) {
  const open = new Map(restingRows(context, user).map((row) => [row.order.oid, row]))
  const rows = [...(context.history.wallet(user)?.orders.values() ?? [])].reverse()
  return rows.map((row) => open.get(row.order.oid) ?? row)
}

function orderStatus(context: InfoContext, { user, oid }: RequestFields) {
  const rows = [...restingRows(context, user), ...historicalOrders(context, user)]
  const order = rows.find(({ order }) => (typeof oid === 'number' ? order.oid === oid : order.cloid === oid))
  return order === undefined ? { status: 'unknownOid' } : { status: 'order', order }
}

/**
 * Orders, fills and trades are newest first unless requested by time; funding and ledger are oldest first. An unknown
 * coin is NOT_FOUND.
 */
export const HISTORY_HANDLERS: InfoHandlers = {
  historicalOrders: (context, { user }) => historicalOrders(context, user),
  orderStatus,
  userFills: (context, fields) => fillsOf(context, fields).toReversed(),
  userFillsByTime: (context, fields) => {
    const fills = fillsOf(context, fields)
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
