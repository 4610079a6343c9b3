// Parquet tables, which are written in addition to the pages. This file contains only types.

/** A table is sorted by user, by coin, or in chain order. */
export type TableName = 'candles-by-coin' | 'fills-by-user' | 'fills-by-time' | 'funding-by-user' | 'ledger-by-user'

export interface Table {
  readonly name: TableName
  readonly rows: number
  readonly bytes: Uint8Array
}
