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
import type { Confirmed, Failed, Sent } from '../destinations/batch.ts'
import type { Pipeline } from '../pipeline.ts'
import type { SinkLogLine } from '../sink-api.ts'
import type { Assembler, Standing, Taken } from './assembling.ts'
import type { End } from './source.ts'

export interface Flight {
  readonly from: number
  readonly to: number
  /** Tries that were begun. */
  readonly attempts: number
  readonly nextTryMs: number
  /** From here on order statuses were known as it was read; null: they were not asked for. */
  readonly ordersFrom: number | null
}

/** Sums since the pipeline was made, and what they cost. */
export interface Sums {
  readonly rows: number
  readonly spent: MicroCredits
}

/** What another key than the pipeline's owes up to these sums. */
interface Debt extends Sums {
  readonly by: KeyHash
}

export interface Owed extends Sums {
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
  readonly at: Standing | null
  /** Where it ends, decided once; null: it goes on for good. */
  readonly end: End | null | 'undecided'
  readonly flight: Flight | null
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
  readonly owed: Owed
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

export const NOTHING_OWED: Owed = { rows: 0, spent: 0, told: 0, askAtMs: null }

export const NOTHING_DELIVERED: DeliveryState = {
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
  owed: NOTHING_OWED,
}

/** Of another beginning: totals, dead letters, the last incident and what is owed stay. */
export function begunAnew(state: DeliveryState): DeliveryState {
  const { at, end, flight, confirmed, isFailed, isFinished, lastError } = NOTHING_DELIVERED
  return { ...state, at, end, flight, confirmed, isFailed, isFinished, lastError }
}

/** A longer row counts for so many as it has pieces of this size, or a transform could put a batch into one. */
const ROW_CHARS = 1_024

/** Texts are JSON of rows. */
export function countedRows(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + Math.ceil(length / ROW_CHARS), 0)
}

/** What of the sums is to be reported. */
const reporting = ({ spent, told }: Owed) => new ReportedSpending(spent, told)
export const owing = (owed: Owed) => reporting(owed).unreported

/** These rows arrived. Free ones are not counted: of rows that are told all were charged, or written off. */
export function withRows(owed: Owed, rows: number, rowMicro: MicroCredits): Owed {
  return rowMicro === 0 ? owed : { ...owed, rows: owed.rows + rows, spent: owed.spent + rows * rowMicro }
}

/** All that the meter has still to hear, in order. */
export function billsOwed({ rows, spent, told, debts = [] }: Owed, by: KeyHash): readonly Debt[] {
  return [...debts, { by, rows, spent }].filter((debt, at, all) => debt.spent > Math.max(told, all[at - 1]?.spent ?? 0))
}

/** Another key pays for what comes from now on. */
export function handedOver(owed: Owed, by: KeyHash): Owed {
  const { rows, spent, told, debts = [] } = owed
  const isClear = spent <= Math.max(told, debts.at(-1)?.spent ?? 0)
  return isClear ? owed : { ...owed, debts: [...debts, { by, rows, spent }] }
}

/** The meter has heard of all up to this sum. */
export function toldOf(owed: Owed, spent: MicroCredits): Owed {
  const { debts = [], ...rest } = owed
  const left = debts.filter((debt) => debt.spent > spent)
  const report = reporting(owed)
  report.acknowledge(spent)
  return { ...rest, told: report.reported, ...(left.length > 0 && { debts: left }) }
}

/** What a meter has to hear, and which. */
export interface Bill {
  readonly account: AccountId
  readonly report: PipelineReport
}

type Billed = Pick<Pipeline, 'id' | 'account' | 'payer' | 'topic' | 'name'>

/** What a key owes. Where that is the pipeline's own, the meter also hears what to call the pipeline if that key has ended. */
export function billOf(
  { id, account, payer, topic, name }: Billed,
  { rows, spent }: Sums,
  by: KeyHash,
  hold: MicroCredits = 0,
): Bill {
  const report = { v: METER_API_VERSION, pipeline: id, keyHash: by, type: topic, rows, spent, hold }
  return { account, report: by === payer ? { ...report, name } : report }
}

/** What a deleted pipeline owes. */
export function lastBills(pipeline: Billed, owed: Owed): readonly Bill[] {
  // Nobody is told that it pauses.
  return billsOwed(owed, pipeline.payer).map((debt) => billOf({ ...pipeline, payer: keyHashOf('') }, debt, debt.by))
}

/** What its owner wants of it. */
export interface Order {
  readonly isRunning: boolean
  readonly onFailure: 'pause' | 'dead_letter'
  /** Of a batch; one block more may be in it. */
  readonly rowsMost: number
  readonly charsMost: number
  /** Reading of one batch ends. */
  readonly readMs: number
  /** Once all is read, so long nothing is: what comes gathers. */
  readonly gatherMs: number
}

/** A batch as ports are handed it: what was taken, and its name. */
export type Parcel = Pick<Taken, 'from' | 'to' | 'rows' | 'texts'>

/** Whether so many rows can be paid for. */
export type Affords = (countedRows: number) => Promise<boolean>

/** A dead letter that arrived once more; `rows`: as it was read. */
interface ArrivedLetter extends Confirmed {
  readonly key: string
  readonly from: number
  readonly to: number
  readonly rows: number
}

/** What a meter says. */
export type Answer = Pick<PipelineResponse, 'available' | 'cap' | 'ended'>

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
  settle(sums: Sums, by: KeyHash, hold: MicroCredits): Promise<Answer>
  /** Where the pipeline begins and ends, as its record has it; null: that is not known yet. */
  begin(): Promise<Standing | null>
  end(): Promise<End | null | 'undecided'>
  /** Throws CannotRun where there is none for this record. `flight`: what is to be read anew. */
  assembler(at: Standing, flight: Flight | null): Pick<Assembler, 'take' | 'retryMs' | 'ordersFrom'>
  /** Resolves once the destination's secret is opened and what runs SQL answers; throws CannotRun where a secret is lost. */
  ready(): Promise<void>
  /** Transforms, asks whether the rows that came of it can be paid for, and sends. Never rejects. */
  send(parcel: Parcel, affords: Affords): Promise<Sent>
  /** Puts it where it can be sent from once more. */
  bury(parcel: Parcel): Promise<void>
  /** The oldest dead letter behind `after`, its key, sent once more if it can be paid for; null: there is none. */
  unbury(after: string | null, affords: Affords): Promise<ArrivedLetter | (Failed & { readonly key: string }) | null>
  /** One that arrived is gone. */
  removeLetter(key: string): Promise<void>
  /** Keeps the state; what is saved is never taken back. */
  save(state: DeliveryState): void
  log(level: SinkLogLine['level'], words: string, batch: Pick<Parcel, 'from' | 'to'> | null): void
  /** For the minutes of metrics. */
  count(what: {
    readonly rows?: number
    readonly bytes?: number
    readonly batches?: number
    readonly failures?: number
  }): void
}

/** As many as the log of a pipeline keeps. */
export const WORDS_MOST = 2_000

/** What went wrong, as an owner may read it. */
export function wordsOfError(error: unknown): string {
  return visible(error instanceof Error ? error.message : String(error)).slice(0, WORDS_MOST)
}

export const AWAY = 'the meter of the account did not answer'

export function unpaidWords({ available, cap }: Answer, cost: MicroCredits): string {
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

export function endedWords({ hash, name }: Payer, ended: NonNullable<Answer['ended']>): string {
  const key = name === '' ? hash.slice(0, 8) : JSON.stringify(visible(name))
  const what = ended === 'revoked' ? 'was revoked' : 'has expired'
  return `paused: the key ${key}, which it is charged to, ${what}. Set it to run or adopt it with another key of the account`
}
