// State of a delivery, its billing, and the ports it uses. Invariants: stored state changes in one write; billed totals
// only grow, and a reported amount is never owed again; rows that arrived under a key are owed by that key, even if
// another key pays later.

import type { RepairedHeights } from '../../archive/archive/archive-read.ts'
import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import { type AccountId, type KeyHash, keyHashOf } from '../../core/ids.ts'
import { ReportedSpending } from '../../core/local-lease.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { visible } from '../../core/visible.ts'
import { METER_API_VERSION } from '../../metering/meter-version.ts'
import type { PipelineReport, PipelineResponse } from '../../metering/pipeline-report.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { type HeightRange, withinLimit, withRange } from '../backfill.ts'
import type { BatchRange, DeliveryFailure, DeliveryResult, DeliverySuccess } from '../destinations/batch.ts'
import type { Pipeline } from '../pipeline.ts'
import type { SinkLogLine } from '../sink-api.ts'
import type { AssembledBatch, Assembler, ReaderState } from './batch-assembler.ts'
import type { EndPosition } from './source.ts'

export interface BatchInFlight {
  readonly from: number
  readonly to: number
  /** Attempts started. */
  readonly attempts: number
  readonly nextTryMs: number
  /** First height whose order statuses were known; null: the topic does not use them. */
  readonly ordersFrom: number | null
}

/** Totals since the pipeline was created: rows, and the cost of rows and minutes. */
export interface Usage {
  readonly rows: number
  readonly spent: MicroCredits
}

/** A key that is not the current payer owes for deliveries up to these totals. */
interface Debt extends Usage {
  readonly by: KeyHash
}

export interface BillingState extends Usage {
  /** The part of `spent` that has been reported to the meter. */
  readonly told: MicroCredits
  /** When to ask the meter again while the account cannot pay; null: it can pay. */
  readonly askAtMs: number | null
  /** Billed rows of the next batch, if they cost more than the balance. */
  readonly needs?: number
  /** End of the last charged minute, Unix ms; absent: the pipeline does not run. */
  readonly paidToMs?: number
  /** Unreported debts in order. Everything above the last one is owed by the current payer. */
  readonly debts?: readonly Debt[]
  /** Set if the paying key is revoked or expired. Delivery is then paused. */
  readonly ended?: { readonly atMs: number; readonly words: string }
}

/**
 * Blocks up to height `readTo` are read for the rows of a repair. `resume`: where to continue after it. `isReread`: the
 * fold is that of `rereadFold`.
 */
interface RepairInFlight extends RepairedHeights {
  readonly readTo: number
  readonly isReread: boolean
  readonly resume: ReaderState
}

export interface DeliveryState {
  /** Start of the batch in flight or the next batch; null: nothing has been read. */
  readonly at: ReaderState | null
  /** End of the pipeline, decided once; null: never. */
  readonly end: EndPosition | null | 'undecided'
  readonly flight: BatchInFlight | null
  readonly confirmed: HeightAndTime | null
  /** First height that was read; null: none yet. */
  readonly first: number | null
  /** Heights of this chain that were read before a restart; sorted, without overlaps. */
  readonly earlier: readonly HeightRange[]
  /** The repair whose rows are being delivered; null: none. */
  readonly repair: RepairInFlight | null
  /** All repairs up to this one are delivered, or concern no block that was read; null: not known yet. */
  readonly repairedTo: number | null
  readonly rows: number
  readonly bytes: number
  readonly batches: number
  /** Number of dead letters. */
  readonly deadLetters: number
  /** True while dead letters are being sent again. */
  readonly isRedelivering: boolean
  /** Key of a dead letter that was delivered and counted, but may still be in storage. */
  readonly arrivedLetter: string | null
  readonly owed: BillingState
  /** True if delivery has stopped after the last failed attempt. */
  readonly isFailed: boolean
  readonly isFinished: boolean
  /** First and last failure, Unix ms; null: no error. `isOfBatch`: only a confirmed batch clears it. */
  readonly lastError: {
    readonly sinceMs: number
    readonly atMs: number
    readonly words: string
    readonly isOfBatch: boolean
  } | null
  /** The last resolved error, Unix ms; null if there is none. */
  readonly lastIncident: { readonly sinceMs: number; readonly words: string; readonly untilMs: number } | null
}

export const INITIAL_BILLING: BillingState = { rows: 0, spent: 0, told: 0, askAtMs: null }

export const INITIAL_DELIVERY: DeliveryState = {
  at: null,
  end: 'undecided',
  flight: null,
  confirmed: null,
  first: null,
  earlier: [],
  repair: null,
  repairedTo: null,
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

/** The part of the state that owners see as it is. */
export function summaryOf(state: DeliveryState) {
  const { first, earlier, rows, bytes, batches, deadLetters, lastError, lastIncident } = state
  return { first, earlier, rows, bytes, batches, deadLetters, lastError, lastIncident }
}

/** Resets the progress; keeps totals, dead letters, the last incident, billing, and the heights read of the same chain. */
export function restarted(state: DeliveryState, isOtherChain: boolean): DeliveryState {
  const { at, end, flight, confirmed, first, repair, repairedTo, isFailed, isFinished, lastError } = INITIAL_DELIVERY
  const earlier = isOtherChain ? [] : readHeights(state)
  return { ...state, at, end, flight, confirmed, first, earlier, repair, repairedTo, isFailed, isFinished, lastError }
}

/** Includes a batch in flight, which may still arrive and be billed. */
function readHeights({ earlier, first, confirmed, flight }: DeliveryState): readonly HeightRange[] {
  const confirmedHeights = first === null || confirmed === null ? [] : [{ from: first, to: confirmed.height }]
  return withinLimit([...confirmedHeights, ...(flight ? [flight] : [])].reduce(withRange, earlier))
}

/**
 * A longer row is billed as several rows of this size, so that a transform cannot avoid charges by merging a batch into
 * one row.
 */
const ROW_CHARS = 1_024

/** `texts`: JSON of each row. */
export function billedRowCount(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + Math.ceil(length / ROW_CHARS), 0)
}

const reportOf = ({ spent, told }: BillingState) => new ReportedSpending(spent, told)
export const unreported = (owed: BillingState) => reportOf(owed).unreported

/** Adds delivered rows. Free rows are not counted, so that reported rows are always charged or written off. */
export function addRows(owed: BillingState, rows: number, rowMicro: MicroCredits): BillingState {
  return rowMicro === 0 ? owed : { ...owed, rows: owed.rows + rows, spent: owed.spent + rows * rowMicro }
}

/** Minutes charged at once. If the pipeline was not in memory for longer, the rest is free. */
const MAX_MINUTES = 30

/** Charges the minutes that have started. A pause does not repeat the minute in which it begins. */
export function addMinutes(
  owed: BillingState,
  { isRunning, nowMs, minuteMicro }: { isRunning: boolean; nowMs: number; minuteMicro: MicroCredits },
): BillingState {
  const { paidToMs, ...rest } = owed
  const isPaid = paidToMs !== undefined && nowMs < paidToMs && paidToMs - nowMs <= MINUTE_MS
  if (minuteMicro === 0 || isPaid) return owed
  if (!isRunning) return paidToMs === undefined ? owed : rest
  const begun = 1 + Math.floor(Math.max(0, nowMs - (paidToMs ?? nowMs)) / MINUTE_MS)
  const minutes = Math.min(begun, MAX_MINUTES)
  const fromMs =
    paidToMs === undefined || begun > MAX_MINUTES || nowMs < paidToMs ? nowMs - (minutes - 1) * MINUTE_MS : paidToMs
  return { ...rest, spent: rest.spent + minutes * minuteMicro, paidToMs: fromMs + minutes * MINUTE_MS }
}

/** Unreported debts in order. The current payer's debt is the last. */
export function pendingDebts({ rows, spent, told, debts = [] }: BillingState, by: KeyHash): readonly Debt[] {
  return [...debts, { by, rows, spent }].filter((debt, at, all) => debt.spent > Math.max(told, all[at - 1]?.spent ?? 0))
}

/** Assigns the amount owed so far to the key `by`, because a different key pays from now on. */
export function transferDebt(owed: BillingState, by: KeyHash): BillingState {
  const { rows, spent, told, debts = [] } = owed
  const isClear = spent <= Math.max(told, debts.at(-1)?.spent ?? 0)
  return isClear ? owed : { ...owed, debts: [...debts, { by, rows, spent }] }
}

/** Marks everything up to this amount as reported. */
export function markReported(owed: BillingState, spent: MicroCredits): BillingState {
  const { debts = [], ...rest } = owed
  const left = debts.filter((debt) => debt.spent > spent)
  const report = reportOf(owed)
  report.acknowledge(spent)
  return { ...rest, told: report.reported, ...(left.length > 0 && { debts: left }) }
}

/** A report to the meter of an account. */
export interface Bill {
  readonly account: AccountId
  readonly report: PipelineReport
}

type BilledPipeline = Pick<Pipeline, 'id' | 'account' | 'payer' | 'topic' | 'name'>

/**
 * The report for a key. For the current payer it includes the pipeline's name, so that the meter can notify the
 * account when the key has ended.
 */
export function billOf(
  { id, account, payer, topic, name }: BilledPipeline,
  { rows, spent }: Usage,
  by: KeyHash,
  hold: MicroCredits = 0,
): Bill {
  const report = { v: METER_API_VERSION, pipeline: id, keyHash: by, type: topic, rows, spent, hold }
  return { account, report: by === payer ? { ...report, name } : report }
}

/** The last reports of a deleted pipeline. */
export function finalBills(pipeline: BilledPipeline, owed: BillingState): readonly Bill[] {
  // No payer: a deleted pipeline needs no pause notification.
  return pendingDebts(owed, pipeline.payer).map((debt) => billOf({ ...pipeline, payer: keyHashOf('') }, debt, debt.by))
}

/** A part of the record that changed. Of another chain, heights mean other blocks. */
export type RecordChange = 'chain' | 'start' | 'end' | 'rows'

/** Settings derived from the owner's record. */
export interface DesiredState {
  readonly isRunning: boolean
  readonly onFailure: 'pause' | 'dead_letter'
  /** Limits of a batch; its last block may exceed them. */
  readonly maxRows: number
  readonly maxChars: number
  /** Maximum time to read one batch. */
  readonly readMs: number
  /** Delay after reading the newest block, so that rows accumulate. */
  readonly gatherMs: number
}

/** The rows of a batch and their range. */
export type BatchRows = BatchRange & Pick<AssembledBatch, 'rows' | 'texts'>

/** Whether the payer can pay for this many rows. */
export type CanAfford = (countedRows: number) => Promise<boolean>

/** A delivered dead letter. `rows`: number of rows before transforms. */
interface RedeliveredLetter extends DeliverySuccess, BatchRange {
  readonly key: string
  readonly rows: number
}

/** Response of a meter. */
export type MeterResponse = Pick<PipelineResponse, 'available' | 'cap' | 'ended'>

/** A key that pays for a pipeline or a test, and its display name. */
export interface Payer {
  readonly hash: KeyHash
  readonly name: string
}

/**
 * A repair of the archive. `readFrom`: the height from which blocks are read again, because rows of other heights depend
 * on it; absent: only its own heights are read.
 */
export interface RepairedRange extends RepairedHeights {
  readonly readFrom?: number
}

/** The repairs up to `repairedTo`, or up to `repair`, are part of what a pipeline reads. Later ones are not. */
export type KnownRepairs = Pick<DeliveryState, 'repair' | 'repairedTo'>

export interface DeliveryPorts {
  nowMs(): number
  /** A random number, uniform in [0, 1). */
  random(): number
  /** Price of a row and of a minute in which the pipeline runs; 0: free. */
  readonly rowMicro: MicroCredits
  readonly minuteMicro: MicroCredits
  payer(): Payer
  /**
   * Reports stored totals of a key to the meter. Zero totals only query it. `hold`: an amount about to be owed,
   * reserved against other pipelines. Rejects if the meter does not respond.
   */
  settle(sums: Usage, by: KeyHash, hold: MicroCredits): Promise<MeterResponse>
  /** Start and end of the pipeline according to its record; null: not known yet. */
  begin(): Promise<ReaderState | null>
  end(): Promise<EndPosition | null | 'undecided'>
  /** The first repair after `id`, or the newest repair if `id` is null. Null: there is none, or the topic has no use for it. */
  repairAfter(id: number | null): Promise<RepairedRange | null>
  /**
   * Throws FatalPipelineError if the record cannot run. `flight`: the range to read again. With a `repair`, the rows
   * are those that it adds.
   */
  assembler(
    at: ReaderState,
    flight: BatchInFlight | null,
    repairs: KnownRepairs,
  ): Pick<Assembler, 'take' | 'retryMs' | 'ordersFrom'>
  /**
   * Resolves once the secret is decrypted and the SQL runner responds. Throws FatalPipelineError if the secret is lost.
   */
  ready(): Promise<void>
  /** Runs transforms, checks the balance for their rows, and sends them. Never rejects. */
  send(parcel: BatchRows, affords: CanAfford): Promise<DeliveryResult>
  /** Stores a dead letter. */
  putDeadLetter(parcel: BatchRows): Promise<void>
  /** Sends the oldest dead letter after `after`, if it can be paid for. Null: there is none. */
  sendDeadLetter(
    after: string | null,
    affords: CanAfford,
  ): Promise<RedeliveredLetter | (DeliveryFailure & { readonly key: string }) | null>
  /** Removes a delivered dead letter. */
  removeDeadLetter(key: string): Promise<void>
  /** Stores the state. Stored states are never rolled back. */
  save(state: DeliveryState): void
  log(level: SinkLogLine['level'], message: string, batch: BatchRange | null): void
  /** Adds to the metrics of the current minute. */
  count(what: {
    readonly rows?: number
    readonly bytes?: number
    readonly batches?: number
    readonly failures?: number
  }): void
}

/** Maximum length of an error message and of a log line. */
export const MAX_MESSAGE_CHARS = 2_000

/** Message of an error, safe to show to the owner. */
export function errorMessage(error: unknown): string {
  return visible(error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_CHARS)
}

export const METER_UNAVAILABLE = "The account's meter did not respond"

export function unpaidMessage({ available, cap }: MeterResponse, cost: MicroCredits): string {
  const [who, remedy] =
    cap === undefined
      ? ['the account has', 'a top-up or the start of the next plan period']
      : [`the paying key (cap ${formatCredits(cap)}) has`, 'its cap is raised']
  const left =
    available <= 0
      ? 'no credits left'
      : `${formatCredits(available)} credits left, but the next rows or minutes cost ${formatCredits(cost)}`
  return `Unpaid: ${who} ${left}. Delivery resumes within a minute after ${remedy}; set the pipeline to running then to resume immediately`
}

export function keyEndedMessage({ hash, name }: Payer, ended: NonNullable<MeterResponse['ended']>): string {
  const key = name === '' ? hash.slice(0, 8) : JSON.stringify(visible(name))
  const what = ended === 'revoked' ? 'was revoked' : 'has expired'
  return `Paused: the paying key ${key} ${what}. Run or adopt the pipeline with another key of the account`
}
