// Parquet tables written in addition to the pages. Types only.

/** Sorted by user or coin, or in chain order. */
export type TableName = 'candles-by-coin' | 'fills-by-user' | 'fills-by-time' | 'funding-by-user' | 'ledger-by-user'

export interface Table {
  readonly name: TableName
  readonly rows: number
  readonly bytes: Uint8Array
}
