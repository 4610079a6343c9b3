// Rows as ClickHouse of any age reads them into the columns of a table. What servers would have to be told how to read (JSON
// within text, truths, nothing, decimals) is written here as the column takes it, because old ones cannot be told. Law: the same
// rows for the same columns are the same bytes, by which a table may know a batch that comes again.

import type { Row } from '../topics/topic.ts'

/** Types by the names of the columns that may be written. */
export type TableColumns = ReadonlyMap<string, string>

const WRAPS = /^(?:(?:LowCardinality|Nullable)\()+/
const NULLABLE = /^(?:LowCardinality\()?Nullable\(/
const DECIMAL = /^-?\d+(?:\.\d+)?$/

/** A line for each row, with the fields that have a column. */
export function insertLines(rows: readonly Row[], columns: TableColumns): string {
  return rows.map((row) => `${lineOf(row, columns)}\n`).join('')
}

function lineOf(row: Row, columns: TableColumns): string {
  const fields = Object.entries(row).flatMap(([name, value]) => {
    const type = columns.get(name)
    const cell = type === undefined ? null : cellOf(value, type)
    return cell === null ? [] : [`${JSON.stringify(name)}:${cell}`]
  })
  return `{${fields.join(',')}}`
}

/** Null: the column is left to its default. */
function cellOf(value: unknown, type: string): string | null {
  if (value === undefined) return null
  if (value === null) return NULLABLE.test(type) ? 'null' : null
  const bare = type.replace(WRAPS, '')
  if (/^(?:Fixed)?String/.test(bare)) {
    // Half a character is refused.
    return JSON.stringify(typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value))
  }
  if (bare.startsWith('Decimal') && typeof value === 'string' && DECIMAL.test(value)) return value
  if (typeof value === 'boolean' && !bare.startsWith('Bool')) return value ? '1' : '0'
  return JSON.stringify(value)
}
