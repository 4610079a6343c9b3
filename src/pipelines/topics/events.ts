// Topics with the events of a channel: fills, one row per side; ledger, balance changes except funding, one row per
// affected wallet or per wallet of the filter; order_updates, order statuses of the filter's wallets. The last is live
// only: feeders send only requested wallets, and the archive has none.

import { FILL_COLUMNS, fillCells, LEDGER_COLUMNS } from '../../archive/files/columns.ts'
import type { Address, LedgerEvent, UserFill } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { EventView } from '../../relay/channel.ts'
import { ORDERS } from '../../relay/events/order-view.ts'
import { gapRow, ItemTriggers, keyedRows, type TopicDefinition, type TopicFold, visibleItems } from './topic.ts'

type KeyedRow = readonly [key: string, cells: Readonly<Record<string, unknown>>]

/**
 * `rowsOf`: rows of an item for the matching names (null: all). `needsAll`: blocks that contain only fills yield a gap.
 */
function eventTopic<Item>(
  { lines, columns, needsAll = false }: Pick<TopicDefinition, 'lines' | 'columns'> & { readonly needsAll?: boolean },
  view: EventView<Item>,
  rowsOf: (item: Item, names: readonly string[] | null, block: RelayEvents) => readonly KeyedRow[],
  parse: TopicFold<RelayEvents>['parse'] = (line) => JSON.parse(line) as RelayEvents,
): TopicDefinition {
  const triggers = new ItemTriggers(view)
  return {
    lines,
    columns,
    trigger: (target) => triggers.of(target),
    open(target): TopicFold<RelayEvents> {
      const shown = visibleItems(target, view)
      const rows = (block: RelayEvents) => {
        const { height, time, only } = block
        if (needsAll && only) return [gapRow(height, height, time, 'only the fills of these blocks are known')]
        const keyed = shown(block).flatMap(({ item, names }) => rowsOf(item, names, block))
        return keyedRows(block, keyed)
      }
      return { parse, rows }
    },
  }
}

/** Height and block time, which the head of each row already contains. */
const POSITION_COLUMNS = 2
const TOPIC_FILL_COLUMNS = FILL_COLUMNS.slice(POSITION_COLUMNS)
const FILLS_VIEW: EventView<UserFill> = { items: ({ fills }) => fills, text: JSON.stringify }

export const fills = eventTopic({ lines: 'events', columns: TOPIC_FILL_COLUMNS }, FILLS_VIEW, (fill, _, block) => {
  const [user, { tid, side }] = fill
  const cells = fillCells({ ...block, rows: 1 }, fill).slice(POSITION_COLUMNS)
  return [[`${tid}:${user}:${side}`, Object.fromEntries(TOPIC_FILL_COLUMNS.map(({ name }, at) => [name, cells[at]]))]]
})

const TOPIC_LEDGER_COLUMNS = LEDGER_COLUMNS.filter(({ name }) => name !== 'height' && name !== 'block_time')
const LEDGER_VIEW: EventView<LedgerEvent> = { items: ({ ledger }) => ledger, text: JSON.stringify }

export const ledger = eventTopic(
  { lines: 'events', columns: TOPIC_LEDGER_COLUMNS, needsAll: true },
  LEDGER_VIEW,
  ({ hash, users, delta, time }, names) =>
    (names ?? [...new Set(users)]).map((user) => {
      return [`${hash}:${user}`, { time, user, type: delta.type, hash, users, delta }]
    }),
)

interface OrderUpdate {
  readonly user: Address
  readonly status: string
  readonly statusTimestamp: number
  readonly order: Readonly<Record<string, unknown>>
}

export const orderUpdates = eventTopic(
  {
    lines: 'orders',
    columns: [
      ...['user', 'coin', 'status', 'side', 'limit_px', 'sz', 'orig_sz'].map(
        (name) => ({ name, type: 'text' }) as const,
      ),
      { name: 'oid', type: 'whole' },
      { name: 'timestamp', type: 'time' },
      { name: 'status_time', type: 'time' },
      { name: 'cloid', type: 'text', isOptional: true },
      { name: 'reduce_only', type: 'truth', isOptional: true },
    ],
  },
  ORDERS,
  (item) => {
    const { user, status, statusTimestamp, order } = item as OrderUpdate
    const { coin, oid, side, limitPx, sz, origSz, timestamp, cloid = null, reduceOnly = null } = order
    const amounts = { side, limit_px: limitPx, sz, orig_sz: origSz }
    const rest = { timestamp, status_time: statusTimestamp, cloid, reduce_only: reduceOnly }
    return [[`${user}:${oid}:${status}`, { user, coin, status, ...amounts, oid, ...rest }]]
  },
  (line, orders = '') => {
    const { height, time, epoch } = JSON.parse(line) as RelayEvents
    return { height, time, epoch, orders: orders === '' ? [] : JSON.parse(orders) } as RelayEvents
  },
)
