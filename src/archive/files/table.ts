// What is written for everyone else beside the pages. Types alone.

/** Sorted by user or coin, or in the order of the chain. */
export type TableName = 'candles-by-coin' | 'fills-by-user' | 'fills-by-time' | 'funding-by-user' | 'ledger-by-user'

export interface Table {
  readonly name: TableName
  readonly rows: number
  readonly bytes: Uint8Array
}
