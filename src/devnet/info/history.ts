// Answers from what is remembered of the blocks: orders, fills, trades, TWAP orders, funding, ledger and stake of a wallet.

import { amountOf, formatAmount, notional, UNIT } from '../exchange/fixed-point.ts'
import type { NodeFill } from '../exchange/node-block.ts'
import { frontendOrder, type Order } from '../exchange/order.ts'
import type { Wallet } from '../exchange/wallet.ts'
import { listedMarket, NOTHING, type Scene, type SomeAnswers } from './answer.ts'
import { QUIET_PXS } from './listing.ts'
import type { PastOrder } from './past.ts'
import type { RequestOf } from './request.ts'
import { walletOf } from './wallet.ts'

/** Rows of one answer. */
const MAX_ROWS = 2_000

/** A fill as the public API shows it: without what only the node tells. */
type PublicFill = Omit<NodeFill, 'builder' | 'deployerFee'>

/** Takes away what the public API keeps to itself. */
function publicFill({ builder: _builder, deployerFee: _deployerFee, ...fill }: NodeFill): PublicFill {
  return fill
}

const sum = (a: string, b: string) => formatAmount(amountOf(a) + amountOf(b))

/** Two parts of one order as one fill at their average price. */
function joined(a: PublicFill, b: PublicFill): PublicFill {
  const size = amountOf(a.sz) + amountOf(b.sz)
  const ntl = notional(amountOf(a.px), amountOf(a.sz)) + notional(amountOf(b.px), amountOf(b.sz))
  return {
    ...a,
    px: formatAmount((ntl * UNIT) / size),
    sz: formatAmount(size),
    closedPnl: sum(a.closedPnl, b.closedPnl),
    fee: sum(a.fee, b.fee),
    ...(a.builderFee === undefined ? {} : { builderFee: sum(a.builderFee, b.builderFee ?? '0.0') }),
  }
}

/** Oldest first in and out. What has one order, block and direction becomes one fill. */
function aggregated(fills: readonly PublicFill[]): PublicFill[] {
  const merged = new Map<string, PublicFill>()
  for (const fill of fills) {
    const key = `${fill.oid} ${fill.time} ${fill.dir}`
    const known = merged.get(key)
    merged.set(key, known === undefined ? fill : joined(known, fill))
  }
  return [...merged.values()]
}

/** Oldest first, within [from, to]. */
function fillsOf({ past }: Scene, user: string, from: number, to: number, aggregate: boolean): PublicFill[] {
  const kept = past.wallet(user)?.fills.toArray() ?? []
  const fills = kept.filter(({ time }) => time >= from && time <= to).map(publicFill)
  return aggregate ? aggregated(fills) : fills
}

/** Newest first. A slice's fill stands in an envelope that names the TWAP, and does not name it itself. */
function slicesOf(scene: Scene, user: string, from: number, to: number) {
  return fillsOf(scene, user, from, to, false)
    .filter(({ twapId }) => twapId !== null)
    .toReversed()
    .map((fill) => ({ fill: { ...fill, twapId: null }, twapId: fill.twapId }))
}

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

const EVER = Number.POSITIVE_INFINITY
/** Of funding and of the ledger. */
const MAX_UPDATES = 500

/** The first rows of a window; oldest first in and out. */
function windowOf<T extends { readonly time: number }>(
  rows: readonly T[],
  {
    startTime,
    endTime,
  }: { readonly startTime?: number | null | undefined; readonly endTime?: number | null | undefined },
): T[] {
  return rows.filter(({ time }) => time >= (startTime ?? 0) && time <= (endTime ?? EVER)).slice(0, MAX_UPDATES)
}

/** Orders, fills and trades newest first unless by time; funding and ledger oldest first. A coin that does not exist is nothing. */
export const HISTORY_ANSWERS = {
  historicalOrders: (scene, { user }) => historicalOrders(scene, user),
  orderStatus,
  userFills: (scene, { user, aggregateByTime }) => fillsOf(scene, user, 0, EVER, aggregateByTime === true).toReversed(),
  userFillsByTime: (scene, { user, startTime, endTime, aggregateByTime, reversed }) => {
    const fills = fillsOf(scene, user, startTime, endTime ?? EVER, aggregateByTime === true)
    return (reversed === true ? fills.toReversed() : fills).slice(0, MAX_ROWS)
  },
  userTwapSliceFills: (scene, { user }) => slicesOf(scene, user, 0, EVER),
  userTwapSliceFillsByTime: (scene, { user, startTime, endTime }) => slicesOf(scene, user, startTime, endTime ?? EVER),
  recentTrades: ({ exchange, past }, { coin }) =>
    listedMarket(exchange, coin) === undefined && !QUIET_PXS.has(coin) ? NOTHING : past.trades(coin),
  twapHistory: ({ past }, { user }) => past.wallet(user)?.twaps.toArray().toReversed() ?? [],
  userFunding: ({ past }, request) => windowOf(past.wallet(request.user)?.payments.toArray() ?? [], request),
  userNonFundingLedgerUpdates: ({ past }, request) =>
    windowOf(past.wallet(request.user)?.ledger.toArray() ?? [], request),
  delegatorHistory: ({ past }, { user }) => past.wallet(user)?.staking.toArray().toReversed() ?? [],
} satisfies SomeAnswers
