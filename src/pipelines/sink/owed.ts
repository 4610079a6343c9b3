// What a pipeline owes for rows that arrived. Invariants: the sums only grow; less what was told of them is what is still owed;
// what arrived under a key is owed by that key, whoever pays for what comes after it.

import type { MicroCredits } from '../../core/amount.ts'
import { METER_API_VERSION } from '../../metering/meter-version.ts'
import type { PipelineReport } from '../../metering/pipeline-report.ts'
import type { Pipeline } from '../pipeline.ts'

/** A longer row counts for so many as it has pieces of this size, or a transform could put a batch into one. */
const ROW_CHARS = 1_024

/** What another key than the pipeline's owes up to these sums. */
interface Debt extends Sums {
  readonly by: string
}

/** Sums since the pipeline was made. */
interface Sums {
  readonly rows: number
  readonly spent: MicroCredits
}

export interface Owed {
  /** Since the pipeline was made, and what they cost. */
  readonly rows: number
  readonly spent: MicroCredits
  /** What of that the meter has heard of. */
  readonly told: MicroCredits
  /** There are no credits: the meter is asked again then. Null: there are. */
  readonly askAtMs: number | null
  /** Counted rows that the next batch costs, where that is more than is left. */
  readonly needs?: number
  /** In the order of their sums, as long as they are not told; what is above the last is the pipeline's own key's. */
  readonly debts?: readonly Debt[]
  /** The key has ended: nothing more is sent under it. */
  readonly ended?: { readonly atMs: number; readonly words: string }
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

/** Another key pays for what comes from now on. */
export function handedOver(owed: Owed, by: string): Owed {
  const { rows, spent, told, debts = [] } = owed
  const isClear = spent <= Math.max(told, debts.at(-1)?.spent ?? 0)
  return isClear ? owed : { ...owed, debts: [...debts, { by, rows, spent }] }
}

/** What the meter is to be told first. `by`: the key of the pipeline. */
export const firstDebt = ({ rows, spent, debts = [] }: Owed, by: string): Debt => debts[0] ?? { by, rows, spent }

/** The meter has heard of all up to this sum. */
export function toldOf(owed: Owed, spent: MicroCredits): Owed {
  const { debts = [], ...rest } = owed
  const left = debts.filter((debt) => debt.spent > spent)
  return { ...rest, told: Math.max(owed.told, spent), ...(left.length > 0 && { debts: left }) }
}

/** All that the meter has still to hear, in order. */
export function billsOwed(owed: Owed, by: string): readonly Debt[] {
  const { rows, spent, told, debts = [] } = owed
  return [...debts, { by, rows, spent }].filter((debt, at, all) => debt.spent > Math.max(told, all[at - 1]?.spent ?? 0))
}

/** What a meter has to hear, and which. */
export interface Bill {
  readonly account: string
  readonly report: PipelineReport
}

type Billed = Pick<Pipeline, 'id' | 'account' | 'payer' | 'topic' | 'name'>

/** What a key owes. Where that is the pipeline's own, the meter also hears what to call the pipeline if that key has ended. */
export function billOf(
  { id, account, payer, topic, name }: Billed,
  { rows, spent }: Pick<Owed, 'rows' | 'spent'>,
  by: string,
  hold: MicroCredits = 0,
): Bill {
  const report = { v: METER_API_VERSION, pipeline: id, keyHash: by, type: topic, rows, spent, hold }
  return { account, report: by === payer ? { ...report, name } : report }
}

/** What a deleted pipeline owes. */
export function lastBills(pipeline: Billed, owed: Owed): readonly Bill[] {
  return billsOwed(owed, pipeline.payer).map((debt) => {
    const { account, report } = billOf(pipeline, debt, debt.by)
    const { name: _, ...rest } = report
    return { account, report: rest }
  })
}
