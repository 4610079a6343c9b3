// Builds the DDL that a table lacks for a batch: CREATE TABLE, or missing columns. Pure. Invariants: every name is
// quoted; the same rows and table produce the same statement; existing columns never change.

import type { Column, ColumnType } from '../../archive/files/columns.ts'
import { HEAD_COLUMNS, NOTE_COLUMNS } from '../topics/topic.ts'
import type { Batch } from './batch.ts'

type CellType = ColumnType | 'decimal' | 'number'
export interface TableColumn {
  readonly name: string
  readonly type: CellType
}

interface Dialect {
  readonly types: Readonly<Record<CellType, string>>
  readonly quoted: (name: string) => string
  /** Type of the key column. */
  readonly key: string
  readonly optional: (type: string) => string
  readonly engine: string
}

const KEY_COLUMN = '_key'
/** Topic columns with decimal strings; other text columns stay text. */
const DECIMALS = new Set([
  ...['px', 'sz', 'limit_px', 'orig_sz', 'start_position', 'closed_pnl', 'fee', 'builder_fee'],
  ...['open', 'close', 'high', 'low', 'volume'],
])

export const POSTGRES: Dialect = {
  types: {
    text: 'text',
    whole: 'bigint',
    time: 'bigint',
    truth: 'boolean',
    json: 'jsonb',
    decimal: 'numeric',
    number: 'numeric',
  },
  quoted: (name) => `"${name.replaceAll('"', '""')}"`,
  key: 'text PRIMARY KEY',
  optional: (type) => type,
  engine: '',
}

export const CLICKHOUSE: Dialect = {
  types: {
    text: 'String',
    whole: 'Int64',
    time: 'Int64',
    truth: 'UInt8',
    json: 'String',
    decimal: 'Decimal(38, 18)',
    number: 'Float64',
  },
  quoted: (name) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``,
  key: 'String',
  optional: (type) => `Nullable(${type})`,
  engine: ' ENGINE = ReplacingMergeTree ORDER BY `_key`',
}

/** Columns of the topic, or of the last transform. */
export function tableColumns({ rows, columns }: Pick<Batch, 'rows' | 'columns'>): readonly TableColumn[] {
  const own = columns === null ? selectedColumns(rows) : columns.map(topicColumn)
  // Head columns keep their types even if a transform selects them.
  const all = [...HEAD_COLUMNS, ...own, ...HEAD_COLUMNS, ...NOTE_COLUMNS]
  return [...new Map(all.map(({ name, type }) => [name, { name, type }])).values()]
}

const topicColumn = ({ name, type }: Column): TableColumn => ({
  name,
  type: type === 'text' && DECIMALS.has(name) ? 'decimal' : type,
})

/** Numbers are not mapped to integers, because the next batch may have fractions. */
function selectedColumns(rows: Batch['rows']): TableColumn[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  return [...names].map((name) => {
    const cells = rows.map((row) => row[name]).filter((cell) => cell !== null && cell !== undefined)
    const isNumber = cells.length > 0 && cells.every((cell) => typeof cell === 'number')
    return { name, type: isNumber ? 'number' : 'text' }
  })
}

/** `table` is quoted. `existing`: column names, empty if the table does not exist. Null: nothing is missing. */
export function missingDdl(
  { types, quoted, key, optional, engine }: Dialect,
  table: string,
  required: readonly TableColumn[],
  existing: readonly string[],
): string | null {
  const lacking = required.filter(({ name }) => !existing.includes(name))
  if (lacking.length === 0) return null
  const definitions = lacking.map(({ name, type }) =>
    name === KEY_COLUMN ? `${quoted(name)} ${key}` : `${quoted(name)} ${optional(types[type])}`,
  )
  if (existing.length === 0) return `CREATE TABLE IF NOT EXISTS ${table} (${definitions.join(', ')})${engine}`
  return `ALTER TABLE ${table} ${definitions.map((one) => `ADD COLUMN ${one}`).join(', ')}`
}

const MAX_DDL_CHARS = 6_000

export function missingTableMessage(table: string, ddl: string | null): string {
  const statement = ddl !== null && ddl.length <= MAX_DDL_CHARS ? `: ${ddl}` : ''
  return `Table ${table} does not exist. Set "create_table" to true in destination_config, or create the table${statement}`
}
