// userHistoricalOrders: the status of a user's latest orders. The newest history comes first, then new entries.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { FRONTEND_ORDER, TIME, USER } from '../../protocol/info/examples.ts'
import { OrderWithStatus } from '../../protocol/info/order-shapes.ts'
import { WalletAddress } from '../body-fields.ts'
import { defineStateChannel } from '../channel.ts'
import { USER_STATE_MS } from './user-states.ts'

const TYPE = 'userHistoricalOrders'

/** A full response would be almost a megabyte. */
const HISTORY_ROWS = 500

interface Row {
  readonly order: { readonly oid: number }
  readonly status: string
  readonly statusTimestamp: number
}

/** The newest time that was sent, and the rows of that time. */
interface LastShown {
  readonly time: number
  readonly ids: ReadonlySet<string>
}

const idOf = ({ order, status }: Row) => `${order.oid} ${status}`
const isNewTo = (row: Row, { time, ids }: LastShown) =>
  row.statusTimestamp > time || (row.statusTimestamp === time && !ids.has(idOf(row)))

const example = { order: FRONTEND_ORDER, status: 'filled', statusTimestamp: TIME }

export const userHistoricalOrders = defineStateChannel({
  type: TYPE,
  summary: "A user's order status history",
  example: { request: { user: USER }, data: { isSnapshot: true, user: USER, orderHistory: [example] } },
  request: z.strictObject({ type: z.literal(TYPE), user: WalletAddress }),
  dataSchema: z.object({
    isSnapshot: z.literal(true).optional().describe('Whether the entries are history; absent or false for new ones'),
    user: Address,
    orderHistory: z.array(OrderWithStatus),
  }),
  requests: ({ user }) => [[{ type: 'historicalOrders', user }, USER_STATE_MS]],
  /** Oldest first. */
  extract: ({ value }) => (value as readonly Row[]).toReversed(),
  data: ({ user }, [rows = []]) => JSON.stringify({ isSnapshot: true, user, orderHistory: rows.slice(-HISTORY_ROWS) }),
  changes: ({ user }, [rows = []], mark) => {
    const shown = (mark as LastShown | undefined) ?? { time: Number.NEGATIVE_INFINITY, ids: new Set<string>() }
    const orderHistory = rows.filter((row) => isNewTo(row, shown))
    if (orderHistory.length === 0) return { text: null, mark: shown }
    const time = Math.max(...orderHistory.map(({ statusTimestamp }) => statusTimestamp))
    const ids = orderHistory.filter(({ statusTimestamp }) => statusTimestamp === time).map(idOf)
    const before = time === shown.time ? shown.ids : []
    return { text: JSON.stringify({ user, orderHistory }), mark: { time, ids: new Set([...before, ...ids]) } }
  },
})
