// Order statuses in the public server's format: the basic order, without trigger and type.

import * as z from 'zod'
import type { Coin } from '../../core/coin.ts'
import { Address } from '../../protocol/feed/block.ts'
import type { BlockEvents, EventView, UserRow } from '../channel.ts'

interface OrderUpdate {
  readonly user: Address
  readonly order: { readonly coin: Coin; readonly oid: number }
  readonly status: string
  readonly statusTimestamp: number
}

/** The fields that are sent, in the public key order. */
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

/** Length of a node's timestamp when cut to milliseconds. Nodes write UTC with nanoseconds and without a time zone. */
const MS_CHARS = '2026-05-05T17:39:13.024'.length

/** Skips rows that do not match the schema. */
function toOrderUpdates(row: unknown): OrderUpdate[] {
  const parsed = NodeOrderStatus.safeParse(row)
  if (!parsed.success) return []
  const { time, user, status, order } = parsed.data
  const { cloid, reduceOnly, ...bare } = order
  const statusTimestamp = Date.parse(`${time.slice(0, MS_CHARS)}Z`)
  if (Number.isNaN(statusTimestamp)) return []
  const shownOrder = { ...bare, ...(cloid && { cloid }), ...(reduceOnly && { reduceOnly }) }
  return [{ user, order: shownOrder, status, statusTimestamp }]
}

export const ORDERS: EventView<OrderUpdate> = {
  items: ({ orders = [] }) => orders.flatMap(toOrderUpdates),
  text: JSON.stringify,
}

/** Orders that somebody other than their user canceled. They have their own statuses, such as `marginCanceled`. */
export function nonUserCancels(block: BlockEvents): UserRow[] {
  const canceled = ORDERS.items(block).filter(({ status }) => status.endsWith('Canceled'))
  return canceled.map(({ user, order: { coin, oid } }) => ({ user, id: '', row: { coin, oid } }))
}

/** Offset of the order in a JSON string of the view. All wallets have the same length. */
const ORDER_OFFSET = `{"user":"0x${'0'.repeat(40)}",`.length

/** JSON strings of the orders without their users. */
export function withoutUsers(pieces: readonly string[]): readonly string[] {
  return pieces.map((piece) => `{${piece.slice(ORDER_OFFSET)}`)
}
