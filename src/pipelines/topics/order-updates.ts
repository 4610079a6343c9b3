// order_updates: what became of the orders of the wallets that the filter names, as the channel `orderUpdates` tells it. Live
// only: feeders send order statuses of wanted wallets alone, and the archive has none.

import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { ORDERS } from '../../relay/events/order-view.ts'
import { keyedRows, shownOf, type TopicDefinition, type TopicFold } from './topic.ts'

export const orderUpdates: TopicDefinition = {
  lines: 'orders',
  columns: [
    ...['user', 'coin', 'status', 'side', 'limit_px', 'sz', 'orig_sz'].map((name) => ({ name, type: 'text' }) as const),
    { name: 'oid', type: 'whole' },
    { name: 'timestamp', type: 'time' },
    { name: 'status_time', type: 'time' },
    { name: 'cloid', type: 'text', isOptional: true },
    { name: 'reduce_only', type: 'truth', isOptional: true },
  ],
  open(wanted): TopicFold<RelayEvents> {
    const shown = shownOf(wanted, ORDERS)
    return {
      parse: (line, orders = '') => {
        const { height, time, epoch } = JSON.parse(line) as RelayEvents
        return { height, time, epoch, orders: orders === '' ? [] : JSON.parse(orders) } as RelayEvents
      },
      rows: (block) =>
        keyedRows(
          block,
          shown(block).map(({ item }) => rowOf(item as Update)),
        ),
    }
  },
}

interface Update {
  readonly user: string
  readonly status: string
  readonly statusTimestamp: number
  readonly order: Readonly<Record<string, unknown>>
}

function rowOf({ user, status, statusTimestamp, order }: Update) {
  const { coin, oid, side, limitPx, sz, origSz, timestamp, cloid = null, reduceOnly = null } = order
  const amounts = { side, limit_px: limitPx, sz, orig_sz: origSz }
  const rest = { timestamp, status_time: statusTimestamp, cloid, reduce_only: reduceOnly }
  return [`${user}:${oid}:${status}`, { user, coin, status, ...amounts, oid, ...rest }] as const
}
