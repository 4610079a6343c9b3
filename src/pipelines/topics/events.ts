// Topics with the events of a channel: fills, one row per side; ledger, balance changes except funding, one row per
// affected wallet or per wallet of the filter; oracle_updates, one row per market; writer_actions; order_updates, order
// statuses of the filter's wallets. The last is live only: feeders send only requested wallets, and the archive has none.

import {
  type Cell,
  type Column,
  FILL_COLUMNS,
  fillCells,
  LEDGER_COLUMNS,
  ORACLE_COLUMNS,
  oracleCells,
  WRITER_COLUMNS,
  writerCells,
} from '../../archive/files/columns.ts'
import type { Address, LedgerEvent, UserFill } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { type OracleRow, oracleRows } from '../../protocol/feed/oracle-updates.ts'
import { type WriterAction, writerActions as writerActionsOf } from '../../protocol/feed/writer-actions.ts'
import type { EventView } from '../../relay/channel.ts'
import { ORDERS } from '../../relay/events/order-view.ts'
import { gapRow, ItemTriggers, keyedRows, type TopicDefinition, type TopicFold, visibleItems } from './topic.ts'

type KeyedRow = readonly [key: string, cells: Readonly<Record<string, unknown>>]

interface EventTopic extends Pick<TopicDefinition, 'lines' | 'columns'> {
  /** Why a block's items are unknown, which yields a gap; null if they are known. */
  readonly unknown?: (block: RelayEvents) => string | null
}

const onlyFills = ({ only }: RelayEvents) => (only ? 'only the fills of these blocks are known' : null)

/** `rowsOf`: rows of an item for the matching names (null: all). */
function eventTopic<Item>(
  { lines, columns, unknown = () => null }: EventTopic,
  view: EventView<Item>,
  rowsOf: (item: Item, names: readonly string[] | null, block: RelayEvents) => readonly KeyedRow[],
  parse: TopicFold<RelayEvents>['parse'] = (line) => JSON.parse(line) as RelayEvents,
): TopicDefinition {
  const triggers = new ItemTriggers(view, (block) => unknown(block as RelayEvents) !== null)
  return {
    lines,
    columns,
    trigger: (target) => triggers.of(target),
    open(target): TopicFold<RelayEvents> {
      const shown = visibleItems(target, view)
      const rows = (block: RelayEvents) => {
        const { height, time } = block
        const reason = unknown(block)
        if (reason !== null) return [gapRow(height, height, time, reason)]
        const keyed = shown(block).flatMap(({ item, names }) => rowsOf(item, names, block))
        return keyedRows(block, keyed)
      }
      return { parse, rows }
    },
  }
}

/** Height and block time, which the head of each row already contains. */
const POSITION_COLUMNS = 2
/** The cells of a table row by column, without its position. */
const cellsByName = (columns: readonly Column[], cells: readonly Cell[]) =>
  Object.fromEntries(columns.map(({ name }, at) => [name, cells[at + POSITION_COLUMNS]]))

const TOPIC_FILL_COLUMNS = FILL_COLUMNS.slice(POSITION_COLUMNS)
const FILLS_VIEW: EventView<UserFill> = { items: ({ fills }) => fills, text: JSON.stringify }

export const fills = eventTopic({ lines: 'events', columns: TOPIC_FILL_COLUMNS }, FILLS_VIEW, (fill, _, block) => {
  const [user, { tid, side }] = fill
  return [[`${tid}:${user}:${side}`, cellsByName(TOPIC_FILL_COLUMNS, fillCells({ ...block, rows: 1 }, fill))]]
})

const TOPIC_LEDGER_COLUMNS = LEDGER_COLUMNS.filter(({ name }) => name !== 'height' && name !== 'block_time')
const LEDGER_VIEW: EventView<LedgerEvent> = { items: ({ ledger }) => ledger, text: JSON.stringify }

export const ledger = eventTopic(
  { lines: 'events', columns: TOPIC_LEDGER_COLUMNS, unknown: onlyFills },
  LEDGER_VIEW,
  ({ hash, users, delta, time }, names) =>
    (names ?? [...new Set(users)]).map((user) => {
      return [`${hash}:${user}`, { time, user, type: delta.type, hash, users, delta }]
    }),
)

/** The reason is the same for adjacent blocks, whose gaps share one row. */
const withoutFile = (part: 'oracle' | 'writer', file: string) => (block: RelayEvents) =>
  onlyFills(block) ?? (block[part] === undefined ? `these blocks have no data of the node's file ${file}` : null)

const TOPIC_ORACLE_COLUMNS = ORACLE_COLUMNS.slice(POSITION_COLUMNS)
const ORACLE_VIEW: EventView<OracleRow> = { items: ({ oracle }) => oracleRows(oracle), text: JSON.stringify }

export const oracleUpdates = eventTopic(
  { lines: 'events', columns: TOPIC_ORACLE_COLUMNS, unknown: withoutFile('oracle', 'hip3_oracle_updates') },
  ORACLE_VIEW,
  (row, _, block) => [[`${row.coin}`, cellsByName(TOPIC_ORACLE_COLUMNS, oracleCells(block, row))]],
)

const TOPIC_WRITER_COLUMNS = WRITER_COLUMNS.slice(POSITION_COLUMNS)
const WRITER_VIEW: EventView<WriterAction> = { items: ({ writer }) => writerActionsOf(writer), text: JSON.stringify }

export const writerActions = eventTopic(
  {
    lines: 'events',
    columns: TOPIC_WRITER_COLUMNS,
    unknown: withoutFile('writer', 'system_and_core_writer_actions'),
  },
  WRITER_VIEW,
  (action, _, block) => {
    const cells = cellsByName(TOPIC_WRITER_COLUMNS, writerCells(block, action))
    return [[`${cells.evm_tx_hash}:${cells.nonce}`, cells]]
  },
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
