// Table columns of fills, ledger events, funding, candles, positions, oracle updates and writer actions, and the cells
// of a row. Invariants: prices, sizes and
// amounts remain the strings that the node sent; fields without a column are stored in the column `other`.

import { type Coin, dexOf } from '../../core/coin.ts'
import type { Address, LedgerEvent, UserFill } from '../../protocol/feed/block.ts'
import type { OracleRow } from '../../protocol/feed/oracle-updates.ts'
import type { WriterAction } from '../../protocol/feed/writer-actions.ts'
import type { CandlePart } from '../candles.ts'
import type { PositionChange } from '../positions.ts'
import type { FundingRow, LineHead } from './rows.ts'

export type ColumnType = 'text' | 'whole' | 'time' | 'truth' | 'json'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly isOptional?: true
}

export type Cell = string | number | boolean | object | null

const POSITION_COLUMNS: readonly Column[] = [
  { name: 'height', type: 'whole' },
  { name: 'block_time', type: 'time' },
  { name: 'time', type: 'time' },
  { name: 'user', type: 'text' },
]

/** Fields of a fill by column. */
const FIELDS = {
  coin: { field: 'coin', type: 'text' },
  side: { field: 'side', type: 'text' },
  px: { field: 'px', type: 'text' },
  sz: { field: 'sz', type: 'text' },
  dir: { field: 'dir', type: 'text' },
  start_position: { field: 'startPosition', type: 'text' },
  closed_pnl: { field: 'closedPnl', type: 'text' },
  crossed: { field: 'crossed', type: 'truth' },
  fee: { field: 'fee', type: 'text' },
  fee_token: { field: 'feeToken', type: 'text' },
  oid: { field: 'oid', type: 'whole' },
  tid: { field: 'tid', type: 'whole' },
  hash: { field: 'hash', type: 'text' },
  builder: { field: 'builder', type: 'text' },
  builder_fee: { field: 'builderFee', type: 'text' },
  cloid: { field: 'cloid', type: 'text' },
  twap_id: { field: 'twapId', type: 'whole' },
} as const

const FILL_FIELDS = Object.entries(FIELDS).map(([name, field]) => ({ name, ...field }))
const IS_TYPE: Readonly<Record<ColumnType, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  whole: Number.isSafeInteger,
  time: Number.isSafeInteger,
  truth: (value) => typeof value === 'boolean',
  json: () => true,
}

export const FILL_COLUMNS: readonly Column[] = [
  ...POSITION_COLUMNS,
  // Old recordings lack some fields.
  ...FILL_FIELDS.map(({ name, type }): Column => ({ name, type, isOptional: true })),
  { name: 'other', type: 'json', isOptional: true },
]

export const LEDGER_COLUMNS: readonly Column[] = [
  ...POSITION_COLUMNS,
  { name: 'type', type: 'text' },
  { name: 'hash', type: 'text' },
  { name: 'users', type: 'json' },
  { name: 'delta', type: 'json' },
]

export const FUNDING_COLUMNS: readonly Column[] = [
  ...POSITION_COLUMNS,
  ...['coin', 'usdc', 'szi', 'funding_rate'].map((name): Column => ({ name, type: 'text' })),
]

export const CANDLE_COLUMNS: readonly Column[] = [
  { name: 'height', type: 'whole' },
  { name: 'coin', type: 'text' },
  { name: 'time', type: 'time' },
  ...['open', 'close', 'high', 'low', 'volume'].map((name): Column => ({ name, type: 'text' })),
  { name: 'trades', type: 'whole' },
  { name: 'complete', type: 'truth' },
]

/** `height` and `block_time` are the block of the last fill. */
export const POSITION_TABLE_COLUMNS: readonly Column[] = [
  { name: 'coin', type: 'text' },
  { name: 'user', type: 'text' },
  { name: 'szi', type: 'text' },
  { name: 'height', type: 'whole' },
  { name: 'block_time', type: 'time' },
  { name: 'break_height', type: 'whole', isOptional: true },
  { name: 'break_time', type: 'time', isOptional: true },
]

const BLOCK_COLUMNS: readonly Column[] = POSITION_COLUMNS.slice(0, 2)

/** `mark_px` and others are prices. `states` has the whole fields of these names, with times and daily prices. */
export const ORACLE_COLUMNS: readonly Column[] = [
  ...BLOCK_COLUMNS,
  { name: 'coin', type: 'text' },
  { name: 'dex', type: 'text' },
  ...['update_class', 'mark_px', 'oracle_px', 'external_perp_px'].map(
    (name): Column => ({ name, type: 'text', isOptional: true }),
  ),
  ...['mark_px_inputs', 'spot_px_inputs', 'external_perp_px_inputs', 'states'].map(
    (name): Column => ({ name, type: 'json', isOptional: true }),
  ),
]

/** `destination` and `type` are those of the action. */
export const WRITER_COLUMNS: readonly Column[] = [
  ...BLOCK_COLUMNS,
  ...['user', 'destination', 'type', 'evm_tx_hash'].map((name): Column => ({ name, type: 'text', isOptional: true })),
  { name: 'nonce', type: 'whole', isOptional: true },
  { name: 'action', type: 'json', isOptional: true },
  { name: 'other', type: 'json', isOptional: true },
]

export function fillCells({ height, time }: LineHead, [user, { time: own, ...fill }]: UserFill): Cell[] {
  const other: Record<string, unknown> = { ...fill }
  const cells = FILL_FIELDS.map(({ field, type }): Cell => {
    const value = fill[field]
    if (!IS_TYPE[type](value)) return null
    delete other[field]
    return value as Cell
  })
  for (const name in other) if (other[name] == null) delete other[name]
  return [height, time, own, user, ...cells, Object.keys(other).length > 0 ? other : null]
}

/** The cells of a ledger event for one of its users. */
export function ledgerCells(
  { height, time }: LineHead,
  user: Address,
  { time: own, hash, users, delta }: LedgerEvent,
): Cell[] {
  return [height, time, own, user, delta.type, hash, users, delta]
}

export function fundingCells({ height, time }: LineHead, user: Address, [paidMs, ...row]: FundingRow): Cell[] {
  return [height, time, paidMs, user, ...row]
}

export function positionCells(coin: Coin, user: Address, { szi, height, time, at }: PositionChange): Cell[] {
  return [coin, user, szi, height, time, at?.height ?? null, at?.time ?? null]
}

/**
 * The cells of a one-minute candle whose blocks start at `height`. `isComplete`: the file has every block of the
 * minute.
 */
export function candleCells(
  { height }: LineHead,
  coin: Coin,
  { t, o, c, h, l, v, n }: CandlePart,
  isComplete: boolean,
): Cell[] {
  return [height, coin, t, o, c, h, l, v, n, isComplete]
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const pxOf = (state: unknown): string | null => textOrNull((Object(state) as { px?: unknown }).px)

export function oracleCells({ height, time }: Pick<LineHead, 'height' | 'time'>, row: OracleRow): Cell[] {
  const { coin, update_class, mark_px, oracle_px, external_perp_px } = row
  const { mark_px_inputs = null, spot_px_inputs = null, external_perp_px_inputs = null } = row
  const pxs = [mark_px, oracle_px, external_perp_px].map(pxOf)
  const inputs = [mark_px_inputs, spot_px_inputs, external_perp_px_inputs]
  const isStated = [mark_px, oracle_px, external_perp_px].some((state) => state !== undefined)
  const states = isStated ? { mark_px, oracle_px, external_perp_px } : null
  return [height, time, coin, dexOf(coin), textOrNull(update_class), ...pxs, ...inputs, states]
}

export function writerCells(
  { height, time }: Pick<LineHead, 'height' | 'time'>,
  { user, nonce, evm_tx_hash, action, ...more }: WriterAction,
): Cell[] {
  const { destination, type } = Object(action) as { destination?: unknown; type?: unknown }
  const texts = [user, destination, type, evm_tx_hash].map(textOrNull)
  const isWhole = Number.isSafeInteger(nonce)
  // A nonce beyond 2^53 is a string.
  const other = isWhole || nonce === undefined ? more : { ...more, nonce }
  const last = [(action ?? null) as Cell, Object.keys(other).length > 0 ? other : null]
  return [height, time, ...texts, isWhole ? (nonce as number) : null, ...last]
}
