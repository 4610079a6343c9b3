// Order statuses as the public server tells of them: the bare order, without its trigger and its kind.

import * as z from 'zod'
import type { Coin } from '../../core/coin.ts'
import { Address } from '../../protocol/feed/block.ts'
import type { BlockEvents, EventView, UserRow } from '../channel.ts'

/** What became of an order. */
interface OrderUpdate {
  readonly user: Address
  readonly order: { readonly coin: Coin; readonly oid: number }
  readonly status: string
  readonly statusTimestamp: number
}

/** As far as it is shown, in the public order of keys. */
const NodeOrder = z.object({
  coin: z.string(),
  side: z.string(),
  limitPx: z.string(),
  sz: z.string(),
  oid: z.int(),
  timestamp: z.int(),
  origSz: z.string(),
  cloid: z.string().nullish(),
  reduceOnly: z.boolean().optional(),
})
const NodeOrderStatus = z.object({ time: z.string(), user: Address, status: z.string(), order: NodeOrder })

/** Of a time that the node wrote: UTC in nanoseconds, without a zone. */
const MS_CHARS = '2026-05-05T17:39:13.024'.length

/** What has no shape that could be shown is left out. */
function toOrderUpdates(row: unknown): OrderUpdate[] {
  const read = NodeOrderStatus.safeParse(row)
  if (!read.success) return []
  const { time, user, status, order } = read.data
  const { cloid, reduceOnly, ...bare } = order
  const statusTimestamp = Date.parse(`${time.slice(0, MS_CHARS)}Z`)
  if (Number.isNaN(statusTimestamp)) return []
  const told = { ...bare, ...(cloid && { cloid }), ...(reduceOnly && { reduceOnly }) }
  return [{ user, order: told, status, statusTimestamp }]
}

export const ORDERS: EventView<OrderUpdate> = {
  items: ({ orders = [] }) => orders.flatMap(toOrderUpdates),
  text: JSON.stringify,
}

/** Orders that somebody else than their user ended: those have a status of their own, such as `marginCanceled`. */
export function nonUserCancels(block: BlockEvents): UserRow[] {
  const ended = ORDERS.items(block).filter(({ status }) => status.endsWith('Canceled'))
  return ended.map(({ user, order: { coin, oid } }) => ({ user, id: '', row: { coin, oid } }))
}

/** Before the order in a text of the view: wallets are of one length. */
const ORDER_OFFSET = `{"user":"0x${'0'.repeat(40)}",`.length

/** Texts without their users. */
export function withoutUsers(pieces: readonly string[]): readonly string[] {
  return pieces.map((piece) => `{${piece.slice(ORDER_OFFSET)}`)
}
