// What a delivery keeps, and what it needs of the world. Invariant: what is kept changes in one write.

import type { MicroCredits } from '../../core/amount.ts'
import { visible } from '../../core/visible.ts'
import type { PipelineAnswer } from '../../metering/pipeline-report.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { Confirmed, Failed, Sent } from '../destinations/batch.ts'
import type { SinkLogLine } from '../sink-api.ts'
import type { Assembler, Standing, Taken } from './assembling.ts'
import { NOTHING_OWED, type Owed } from './owed.ts'
import type { End } from './source.ts'

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

/** What is kept of a delivery, for all that change it. */
export class DeliveryRecord {
  readonly #ports: Pick<DeliveryPorts, 'nowMs' | 'save'>
  #state: DeliveryState

  constructor(ports: Pick<DeliveryPorts, 'nowMs' | 'save'>, state: DeliveryState) {
    this.#ports = ports
    this.#state = state
  }

  get state(): DeliveryState {
    return this.#state
  }

  save(change: Partial<DeliveryState>): void {
    const state = { ...this.#state, ...change }
    this.#ports.save(state)
    this.#state = state
  }

  /** Changes what is known of it; nothing is lost where that goes with the object. */
  note(change: Partial<DeliveryState>): void {
    this.#state = { ...this.#state, ...change }
  }

  /** With what goes wrong from now on. */
  troubled(words: string, isOfBatch = false): Partial<Health> {
    const atMs = this.#ports.nowMs()
    return { lastError: { sinceMs: this.#state.lastError?.sinceMs ?? atMs, atMs, words, isOfBatch } }
  }

  /** Rows or blocks go on. */
  healed(): Partial<Health> {
    const { lastError } = this.#state
    if (lastError === null) return {}
    const { sinceMs, words } = lastError
    return { lastError: null, lastIncident: { sinceMs, words, untilMs: this.#ports.nowMs() } }
  }
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

/** What a meter says. */
export type Answer = Pick<PipelineAnswer, 'available' | 'cap' | 'ended'>

/** The key that a pipeline is charged to, or that tests it. */
export interface Payer {
  readonly hash: string
  /** What people call it. */
  readonly name: string
}

export interface PayingPorts {
  nowMs(): number
  /** The price of a row; 0: it is free. */
  readonly rowMicro: MicroCredits
  payer(): Payer
  /**
   * Tells the meter of sums that a key owes, once they are stored; sums of 0 ask alone. `hold`: so much more is about to be owed, and
   * no other pipeline may count on it. Rejects where it does not answer.
   */
  settle(sums: Pick<Owed, 'rows' | 'spent'>, by: string, hold: MicroCredits): Promise<Answer>
  log(level: SinkLogLine['level'], words: string, batch: null): void
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

/** As many as the log of a pipeline keeps. */
export const WORDS_MOST = 2_000

/** What went wrong, as an owner may read it. */
export function wordsOfError(error: unknown): string {
  return visible(error instanceof Error ? error.message : String(error)).slice(0, WORDS_MOST)
}
