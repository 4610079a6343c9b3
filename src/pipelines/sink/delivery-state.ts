// What a delivery stores, what it owes, and what it asks of the world. Invariants: what is stored changes in one write; the
// sums that are owed only grow, and what of them was reported is owed no more; what arrived under a key is owed by that key,
// whoever pays for what comes after it.

import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import { type AccountId, type KeyHash, keyHashOf } from '../../core/ids.ts'
import { ReportedSpending } from '../../core/local-lease.ts'
import { visible } from '../../core/visible.ts'
import { METER_API_VERSION } from '../../metering/meter-version.ts'
import type { PipelineReport, PipelineResponse } from '../../metering/pipeline-report.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { DeliveryFailure, DeliveryResult, DeliverySuccess } from '../destinations/batch.ts'
import type { Pipeline } from '../pipeline.ts'
import type { SinkLogLine } from '../sink-api.ts'
import type { AssembledBatch, Assembler, ReaderState } from './batch-assembler.ts'
import type { EndPosition } from './source.ts'

export interface BatchInFlight {
  readonly from: number
  readonly to: number
  /** Tries that were begun. */
  readonly attempts: number
  readonly nextTryMs: number
  /** From here on order statuses were known as it was read; null: they were not asked for. */
  readonly ordersFrom: number | null
}

/** Sums since the pipeline was made, and what they cost. */
export interface Usage {
  readonly rows: number
  readonly spent: MicroCredits
}

/** What another key than the pipeline's owes up to these sums. */
interface Debt extends Usage {
  readonly by: KeyHash
}

export interface BillingState extends Usage {
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

export interface DeliveryState {
  /** Where the batch in flight begins, or the next one; null: before anything was read. */
  readonly at: ReaderState | null
  /** Where it ends, decided once; null: it goes on for good. */
  readonly end: EndPosition | null | 'undecided'
  readonly flight: BatchInFlight | null
  readonly confirmed: HeightAndTime | null
  readonly rows: number
  readonly bytes: number
  readonly batches: number
  /** Batches that lie there. */
  readonly deadLetters: number
  /** Dead letters are sent once more. */
  readonly isRedelivering: boolean
  /** Key of one that arrived and is counted, and may lie there still. */
  readonly arrivedLetter: string | null
  readonly owed: BillingState
  /** It waits for somebody: a batch was tried to the end. */
  readonly isFailed: boolean
  readonly isFinished: boolean
  /** From its first failure to its last, Unix ms; null: nothing goes wrong. `isOfBatch`: only a batch that the destination confirms ends it. */
  readonly lastError: {
    readonly sinceMs: number
    readonly atMs: number
    readonly words: string
    readonly isOfBatch: boolean
  } | null
  /** The last trouble that passed, until rows or blocks went on, Unix ms; null: none did. */
  readonly lastIncident: { readonly sinceMs: number; readonly words: string; readonly untilMs: number } | null
}

export const INITIAL_BILLING: BillingState = { rows: 0, spent: 0, told: 0, askAtMs: null }

export const INITIAL_DELIVERY: DeliveryState = {
  at: null,
  end: 'undecided',
  flight: null,
  confirmed: null,
  rows: 0,
  bytes: 0,
  batches: 0,
  deadLetters: 0,
  isRedelivering: false,
  isFailed: false,
  isFinished: false,
  lastError: null,
  lastIncident: null,
  arrivedLetter: null,
  owed: INITIAL_BILLING,
}

/** Of another beginning: totals, dead letters, the last incident and what is owed stay. */
export function restarted(state: DeliveryState): DeliveryState {
  const { at, end, flight, confirmed, isFailed, isFinished, lastError } = INITIAL_DELIVERY
  return { ...state, at, end, flight, confirmed, isFailed, isFinished, lastError }
}

/** A longer row counts for so many as it has pieces of this size, or a transform could put a batch into one. */
const ROW_CHARS = 1_024

/** Texts are JSON of rows. */
export function billedRowCount(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + Math.ceil(length / ROW_CHARS), 0)
}

/** What of the sums is to be reported. */
const reportOf = ({ spent, told }: BillingState) => new ReportedSpending(spent, told)
export const unreported = (owed: BillingState) => reportOf(owed).unreported

/** These rows arrived. Free ones are not counted: of rows that are told all were charged, or written off. */
export function addRows(owed: BillingState, rows: number, rowMicro: MicroCredits): BillingState {
  return rowMicro === 0 ? owed : { ...owed, rows: owed.rows + rows, spent: owed.spent + rows * rowMicro }
}

/** All that the meter has still to hear, in order. */
export function pendingDebts({ rows, spent, told, debts = [] }: BillingState, by: KeyHash): readonly Debt[] {
  return [...debts, { by, rows, spent }].filter((debt, at, all) => debt.spent > Math.max(told, all[at - 1]?.spent ?? 0))
}

/** Another key pays for what comes from now on. */
export function transferDebt(owed: BillingState, by: KeyHash): BillingState {
  const { rows, spent, told, debts = [] } = owed
  const isClear = spent <= Math.max(told, debts.at(-1)?.spent ?? 0)
  return isClear ? owed : { ...owed, debts: [...debts, { by, rows, spent }] }
}

/** The meter has heard of all up to this sum. */
export function markReported(owed: BillingState, spent: MicroCredits): BillingState {
  const { debts = [], ...rest } = owed
  const left = debts.filter((debt) => debt.spent > spent)
  const report = reportOf(owed)
  report.acknowledge(spent)
  return { ...rest, told: report.reported, ...(left.length > 0 && { debts: left }) }
}

/** What a meter has to hear, and which. */
export interface Bill {
  readonly account: AccountId
  readonly report: PipelineReport
}

type BilledPipeline = Pick<Pipeline, 'id' | 'account' | 'payer' | 'topic' | 'name'>

/** What a key owes. Where that is the pipeline's own, the meter also hears what to call the pipeline if that key has ended. */
export function billOf(
  { id, account, payer, topic, name }: BilledPipeline,
  { rows, spent }: Usage,
  by: KeyHash,
  hold: MicroCredits = 0,
): Bill {
  const report = { v: METER_API_VERSION, pipeline: id, keyHash: by, type: topic, rows, spent, hold }
  return { account, report: by === payer ? { ...report, name } : report }
}

/** What a deleted pipeline owes. */
export function finalBills(pipeline: BilledPipeline, owed: BillingState): readonly Bill[] {
  // Nobody is told that it pauses.
  return pendingDebts(owed, pipeline.payer).map((debt) => billOf({ ...pipeline, payer: keyHashOf('') }, debt, debt.by))
}

/** What its owner wants of it. */
export interface DesiredState {
  readonly isRunning: boolean
  readonly onFailure: 'pause' | 'dead_letter'
  /** Of a batch; one block more may be in it. */
  readonly maxRows: number
  readonly maxChars: number
  /** Reading of one batch ends. */
  readonly readMs: number
  /** Once all is read, so long nothing is: what comes gathers. */
  readonly gatherMs: number
}

/** A batch as ports are handed it: what was taken, and its name. */
export type BatchRows = Pick<AssembledBatch, 'from' | 'to' | 'rows' | 'texts'>

/** Whether so many rows can be paid for. */
export type CanAfford = (countedRows: number) => Promise<boolean>

/** A dead letter that arrived once more; `rows`: as it was read. */
interface RedeliveredLetter extends DeliverySuccess {
  readonly key: string
  readonly from: number
  readonly to: number
  readonly rows: number
}

/** What a meter says. */
export type MeterResponse = Pick<PipelineResponse, 'available' | 'cap' | 'ended'>

/** The key that a pipeline is charged to, or that tests it, and what people call it. */
export interface Payer {
  readonly hash: KeyHash
  readonly name: string
}

export interface DeliveryPorts {
  nowMs(): number
  /** Uniform in [0, 1). */
  random(): number
  /** The price of a row; 0: it is free. */
  readonly rowMicro: MicroCredits
  payer(): Payer
  /**
   * Tells the meter of sums that a key owes, once they are stored; sums of 0 ask alone. `hold`: so much more is about to be owed, and
   * no other pipeline may count on it. Rejects where it does not answer.
   */
  settle(sums: Usage, by: KeyHash, hold: MicroCredits): Promise<MeterResponse>
  /** Where the pipeline begins and ends, as its record has it; null: that is not known yet. */
  begin(): Promise<ReaderState | null>
  end(): Promise<EndPosition | null | 'undecided'>
  /** Throws CannotRun where there is none for this record. `flight`: what is to be read anew. */
  assembler(at: ReaderState, flight: BatchInFlight | null): Pick<Assembler, 'take' | 'retryMs' | 'ordersFrom'>
  /** Resolves once the destination's secret is opened and what runs SQL answers; throws CannotRun where a secret is lost. */
  ready(): Promise<void>
  /** Transforms, asks whether the rows that came of it can be paid for, and sends. Never rejects. */
  send(parcel: BatchRows, affords: CanAfford): Promise<DeliveryResult>
  /** Puts it where it can be sent from once more. */
  putDeadLetter(parcel: BatchRows): Promise<void>
  /** The oldest dead letter behind `after`, its key, sent once more if it can be paid for; null: there is none. */
  sendDeadLetter(
    after: string | null,
    affords: CanAfford,
  ): Promise<RedeliveredLetter | (DeliveryFailure & { readonly key: string }) | null>
  /** One that arrived is gone. */
  removeDeadLetter(key: string): Promise<void>
  /** Keeps the state; what is saved is never taken back. */
  save(state: DeliveryState): void
  log(level: SinkLogLine['level'], words: string, batch: Pick<BatchRows, 'from' | 'to'> | null): void
  /** For the minutes of metrics. */
  count(what: {
    readonly rows?: number
    readonly bytes?: number
    readonly batches?: number
    readonly failures?: number
  }): void
}

/** As many as the log of a pipeline keeps. */
export const MAX_MESSAGE_CHARS = 2_000

/** What went wrong, as an owner may read it. */
export function errorMessage(error: unknown): string {
  return visible(error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_CHARS)
}

export const METER_UNAVAILABLE = 'the meter of the account did not answer'

export function unpaidMessage({ available, cap }: MeterResponse, cost: MicroCredits): string {
  const [who, remedy] =
    cap === undefined
      ? ['the account has', 'there are some, of a top-up or the next period of its plan']
      : [`the key that it is charged to, whose cap is ${formatCredits(cap)}, has`, 'its owner raises the cap']
  const left =
    available <= 0
      ? 'no credits left'
      : `${formatCredits(available)} credits left, and the next rows cost ${formatCredits(cost)}`
  return `unpaid: ${who} ${left}. Nothing is lost: it goes on within a minute once ${remedy}, or at once when it is set to run then`
}

export function keyEndedMessage({ hash, name }: Payer, ended: NonNullable<MeterResponse['ended']>): string {
  const key = name === '' ? hash.slice(0, 8) : JSON.stringify(visible(name))
  const what = ended === 'revoked' ? 'was revoked' : 'has expired'
  return `paused: the key ${key}, which it is charged to, ${what}. Set it to run or adopt it with another key of the account`
}
