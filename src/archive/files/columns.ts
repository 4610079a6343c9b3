// Table columns of fills, ledger events, funding and candles, and the cells of a row. Invariants: prices, sizes and
// amounts remain the strings that the node sent; fields without a column are stored in the column `other`.

import type { Coin } from '../../core/coin.ts'
import type { Address, LedgerEvent, UserFill } from '../../protocol/feed/block.ts'
import type { CandlePart } from '../candles.ts'
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
