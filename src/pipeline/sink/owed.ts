// What a pipeline owes for rows that arrived. Law: the sums only grow; less what was told of them is what is still owed.

import type { MicroCredits } from '../../credit/amount.ts'

/** A longer row counts for so many as it has pieces of this size, or a transform could put a batch into one. */
const ROW_CHARS = 1_024

export interface Owed {
  /** Since the pipeline was made, and what they cost. */
  readonly rows: number
  readonly spent: MicroCredits
  /** What of that the meter has heard of. */
  readonly told: MicroCredits
  /** There are no credits: the meter is asked again then. Null: there are. */
  readonly askAtMs: number | null
}

export const NOTHING_OWED: Owed = { rows: 0, spent: 0, told: 0, askAtMs: null }

export const owing = ({ spent, told }: Owed) => spent - told

/** Texts are JSON of rows. */
export function countedRows(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + Math.ceil(length / ROW_CHARS), 0)
}

/** These rows arrived. Free ones are not counted: of rows that are told all were charged, or written off. */
export function withRows(owed: Owed, rows: number, rowMicro: MicroCredits): Owed {
  return rowMicro === 0 ? owed : { ...owed, rows: owed.rows + rows, spent: owed.spent + rows * rowMicro }
}
