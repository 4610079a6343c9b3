// Compares event channels with the node's rows. Invariant: between the acknowledgement of a body and the loss of its
// socket, every row comes once, in the node's order, without omissions; bodies of our library that replay earlier
// blocks continue across sockets. A row is identified by a number, because there are millions.

import type { SubscriptionBody } from '../../src/client/subscription.ts'
import { hash32 } from '../../src/core/hash.ts'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { type Trade, tradesOf } from '../../src/protocol/feed/trades.ts'

interface OrderRow {
  readonly user: string
  readonly order: { readonly oid: number; readonly sz: string }
  readonly status: string
  readonly statusTimestamp: number
}

export interface TrueRow {
  readonly of: 'fill' | 'trade' | 'order'
  readonly id: number
  readonly timeMs: number
  readonly user: string
  readonly coin: string
  readonly builder: string | null
  readonly isLiquidation: boolean
  readonly isSlice: boolean
}

/** What a client was told without a break. From `sureMs` on, in the time of blocks, nothing may be missing. */
export interface Segment {
  readonly sureMs: number
  readonly ids: readonly number[]
  /** It goes on: all that the node has written must be there. */
  readonly isOpen: boolean
}

const fillId = ([user, { coin, tid, oid, time, px, sz }]: UserFill) =>
  hash32(`${user} ${coin} ${tid} ${oid} ${time} ${px} ${sz}`)
const tradeId = ({ coin, tid, time, px, sz, side, users }: Trade) =>
  hash32(`${coin} ${tid} ${time} ${px} ${sz} ${side} ${users}`)
const orderId = ({ user, order, status, statusTimestamp }: OrderRow) =>
  hash32(`${user} ${order.oid} ${order.sz} ${status} ${statusTimestamp}`)

const NOT_A_FILL = { user: '', coin: '', builder: null, isLiquidation: false, isSlice: false }

/** Of one block, in the node's order. */
export function rowsOfFills(fills: readonly UserFill[]): TrueRow[] {
  return [
    ...fills.map((row): TrueRow => {
      const [user, { coin, time, builder, liquidation, twapId }] = row
      const more = { isLiquidation: liquidation !== undefined, isSlice: typeof twapId === 'number' }
      return { of: 'fill', id: fillId(row), timeMs: time, user, coin, builder: (builder as string) ?? null, ...more }
    }),
    ...tradesOf(fills).map(
      (trade): TrueRow => ({ ...NOT_A_FILL, of: 'trade', id: tradeId(trade), timeMs: trade.time, coin: trade.coin }),
    ),
  ]
}

/** An order status as the node writes it; `timeMs`: of its block. */
export function rowOfStatus(row: Omit<OrderRow, 'statusTimestamp'>, timeMs: number): TrueRow {
  const { user } = row
  return { ...NOT_A_FILL, of: 'order', id: orderId({ ...row, statusTimestamp: timeMs }), timeMs, user }
}

interface EventFrame {
  readonly channel: string
  readonly fills?: readonly UserFill[]
  readonly updates?: readonly OrderRow[]
  readonly data?: unknown
}

/** Numbers and times of the rows of a frame; none of a channel that is not looked at row by row. */
export function rowsOfFrame(body: SubscriptionBody, frame: EventFrame): readonly Pick<TrueRow, 'id' | 'timeMs'>[] {
  const fillRow = (row: UserFill) => ({ id: fillId(row), timeMs: row[1].time })
  if (frame.fills) return frame.fills.map(fillRow)
  if (frame.updates) return frame.updates.map((row) => ({ id: orderId(row), timeMs: row.statusTimestamp }))
  if (frame.channel === 'trades')
    return (frame.data as Trade[]).map((trade) => ({ id: tradeId(trade), timeMs: trade.time }))
  const { fills = [] } = frame.channel === 'user' ? (frame.data as { fills?: UserFill[1][] }) : {}
  return fills.map((fill) => fillRow([String(body.user), fill]))
}

/** What a body shows of the node's rows; null where that is not looked at. */
export function shownTo(body: SubscriptionBody): ((row: TrueRow) => boolean) | null {
  const users = new Set([body.addresses ?? body.user ?? []].flat())
  switch (body.type) {
    case 'trades':
      return ({ of, coin }) => of === 'trade' && coin === body.coin
    case 'allFills':
      return ({ of, coin }) => of === 'fill' && (body.coin === undefined || coin === body.coin)
    case 'userFills':
      return ({ of, user }) => of === 'fill' && users.has(user)
    case 'userEvents':
      return ({ of, user, isSlice }) => of === 'fill' && users.has(user) && !isSlice
    case 'builderFills':
      return ({ of, builder }) => of === 'fill' && builder === body.builder
    case 'liquidationFills':
      return ({ of, isLiquidation }) => of === 'fill' && isLiquidation
    case 'orderUpdates':
      return ({ of, user }) => of === 'order' && users.has(user)
    default:
      return null
  }
}

/** What is wrong with a segment, in words; null for nothing. `truth`: all that its body shows, in the node's order. */
export function wrongOf({ sureMs, ids, isOpen }: Segment, truth: readonly TrueRow[]): string | null {
  const sure = truth.findIndex(({ timeMs }) => timeMs >= sureMs)
  const begin = ids.length === 0 ? sure : truth.findIndex(({ id }) => id === ids[0])
  if (begin < 0) return ids.length === 0 ? null : 'the node did not write its first row'
  if (sure >= 0 && begin > sure) {
    const ms = truth[sure]!.timeMs - sureMs
    return `begins ${begin - sure} rows late, the first of them ${ms} ms after it is sure (${new Date(sureMs).toISOString()})`
  }
  const at = ids.findIndex((id, index) => truth[begin + index]?.id !== id)
  if (at >= 0) {
    const where = `after ${at} of ${ids.length} rows`
    if (ids.indexOf(ids[at]!) < at) return `${where} one comes again`
    const next = truth.findIndex(({ id }, index) => index > begin + at && id === ids[at])
    return next < 0 ? `${where} one that the node did not write` : `${where} ${next - begin - at} are missing`
  }
  const missing = begin + ids.length < truth.length ? truth.length - begin - ids.length : 0
  return isOpen && missing > 0 ? `the last ${missing} rows are missing` : null
}
