// Parquet tables, which are written in addition to the pages.

/** A table is sorted by user, by coin, or in chain order. */
export type TableName =
  | 'candles-by-coin'
  | 'fills-by-user'
  | 'funding-by-user'
  | 'ledger-by-user'
  | 'positions-by-coin'
  | `${'fills' | 'oracle-updates' | 'writer-actions'}-by-time`

/** True for a table in chain order. These have no day tables, so those of hours are permanent. */
export const isTimeTable = (name: TableName): boolean => name.endsWith('-by-time')

export interface Table {
  readonly name: TableName
  readonly rows: number
  readonly bytes: Uint8Array
}
