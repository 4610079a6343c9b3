// What a delivery keeps, and what it needs of the world.

import type { HeightAndTime } from '../../feed/held-fills.ts'
import type { Confirmed, Failed, Sent } from '../batch.ts'
import type { SinkLogLine } from '../sink-api.ts'
import type { Assembler, Standing, Taken } from './assembling.ts'
import { NOTHING_OWED, type Owed } from './owed.ts'
import type { PayingPorts } from './paying.ts'
import type { End } from './position.ts'

interface Trouble {
  /** Its first failure, Unix ms. */
  readonly sinceMs: number
  /** Its last failure, Unix ms. */
  readonly atMs: number
  /** Of the last failure. */
  readonly words: string
  /** Only a batch that the destination confirms ends it. */
  readonly isOfBatch: boolean
}

interface Incident extends Pick<Trouble, 'sinceMs' | 'words'> {
  /** Rows or blocks went on, Unix ms. */
  readonly untilMs: number
}

export interface Health {
  /** Null: nothing goes wrong. */
  readonly lastError: Trouble | null
  /** The last trouble that passed; null: none did. */
  readonly lastIncident: Incident | null
}

export interface Flight {
  readonly from: number
  readonly to: number
  /** Tries that were begun. */
  readonly attempts: number
  readonly nextTryMs: number
  /** From here on order statuses were known as it was read; null: they were not asked for. */
  readonly ordersFrom: number | null
}

export interface DeliveryState extends Health {
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
}

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
  const { rows, bytes, batches, deadLetters, isRedelivering, arrivedLetter, owed, lastIncident } = state
  const sums = { rows, bytes, batches, deadLetters, owed }
  return { ...NOTHING_DELIVERED, ...sums, isRedelivering, arrivedLetter, lastIncident }
}

export function troubled({ lastError }: Health, atMs: number, words: string, isOfBatch = false): Partial<Health> {
  return { lastError: { sinceMs: lastError?.sinceMs ?? atMs, atMs, words, isOfBatch } }
}

export function healed({ lastError }: Health, nowMs: number): Partial<Health> {
  if (lastError === null) return {}
  const { sinceMs, words } = lastError
  return { lastError: null, lastIncident: { sinceMs, words, untilMs: nowMs } }
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
export interface ArrivedLetter extends Confirmed {
  readonly key: string
  readonly from: number
  readonly to: number
  readonly rows: number
}

export interface DeliveryPorts extends PayingPorts {
  /** Uniform in [0, 1). */
  random(): number
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
