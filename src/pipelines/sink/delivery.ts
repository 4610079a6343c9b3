// How a pipeline's rows come to their destination. Invariants (docs/pipelines-delivery.md): at least once and in the order of blocks;
// one batch is in flight, whose range is stored before its first try, and is the same at every try; the cursor is stored
// once the destination has confirmed, in one write with what is owed for the batch; nothing is left out without a word. Dead
// letters are sent once more oldest first, between two batches; one that arrived is written down before it is taken away.

import { type Backoff, backoffMs } from '../../core/backoff.ts'
import type { Confirmed, Failed } from '../destinations/batch.ts'
import { CannotRun } from '../pipeline.ts'
import type { SinkPhase } from '../sink-api.ts'
import type { Bounds, Taken } from './assembling.ts'
import {
  type ArrivedLetter,
  begunAnew,
  type DeliveryPorts,
  DeliveryRecord,
  type DeliveryState,
  type Flight,
  type Order,
  type Parcel,
  wordsOfError,
} from './delivery-state.ts'
import { Paying } from './paying.ts'

/** Eight tries take some ten minutes. */
export const TRIES = 8
const RETRY: Backoff = { firstMs: 5_000, capMs: 240_000, jitter: 0.2 }
/** The log stores a segment a second. */
const POLL_MS = 1_000
/** What keeps blocks from being read may pass. */
const READ_AGAIN_MS = 5_000
/** The same failure within this time is the one of before. */
const GOES_ON_MS = 60_000
/** So far behind it is live, beside what it gathers for. */
const LIVE_MS = 10_000
/** Blocks without rows are passed over without a word, so many before that is stored. */
const UNSAVED_BLOCKS = 1_024
/** Of a batch. */
const BLOCKS_MOST = 20_000
const RETRY_AFTER_MOST_MS = 600_000
/** They lie in the operator's bucket. */
const LETTERS_MOST = 1_000

export class Delivery {
  readonly #ports: DeliveryPorts
  readonly paying: Paying
  readonly #record: DeliveryRecord
  #order: Order
  #assembler: ReturnType<DeliveryPorts['assembler']> | null = null
  /** The batch in flight, as it was read. */
  #taken: Taken | null = null
  #isSending = false
  /** Counts what makes rows others than they were, and what begins anew. */
  #definitions = 0
  #begins = 0
  #unsaved = 0
  /** Blocks of the next batch: fewer where what is left did not pay for more. */
  #blocksMost = BLOCKS_MOST
  /** The batch in flight was never sent: it may still be cut. */
  #isUnsent = false
  /** Key of the last dead letter that did not arrive. */
  #failedKey: string | null = null
  /** Live rows come before the next dead letter. */
  #isLiveNext = false
  /** Nothing is read before: rows gather. */
  #readAtMs = 0

  constructor(ports: DeliveryPorts, state: DeliveryState, order: Order) {
    this.#ports = ports
    this.#record = new DeliveryRecord(ports, state)
    this.paying = new Paying(ports, this.#record)
    this.#order = order
  }

  get state(): DeliveryState {
    return this.#record.state
  }

  /** What it is doing, in a word for its owner. `lagMs`: how far the destination is behind the log; null: that is not known. */
  phase(lagMs: number | null): SinkPhase {
    const { isFailed, isFinished, flight, at } = this.#record.state
    const { waitsFor } = this.paying
    if (!this.#order.isRunning || waitsFor === 'key') return this.#isSending ? 'pausing' : 'paused'
    if (this.#isWorking && waitsFor) return waitsFor === 'credits' ? 'unpaid' : 'retrying'
    if (isFailed) return 'failed'
    if (isFinished) return 'finished'
    if (flight && (this.#isSending ? flight.attempts > 1 : flight.attempts > 0 || flight.nextTryMs > 0))
      return 'retrying'
    if (at === null) return 'idle'
    return lagMs === null || lagMs > LIVE_MS + this.#order.gatherMs ? 'backfilling' : 'live'
  }

  /** There is something that may be sent. */
  get #isWorking(): boolean {
    const { isFailed, isFinished, isRedelivering } = this.#record.state
    return this.#order.isRunning && ((!isFailed && !isFinished) || isRedelivering)
  }

  /** The record has changed: what it wants now, and what of it is another thing than it was. */
  ordered(order: Order, changes: 'none' | 'end' | 'rows' | 'start'): void {
    const { isFailed, owed, flight } = this.#record.state
    const isWaiting = (flight?.nextTryMs ?? 0) > 0 && !this.#isSending
    const isResumed = order.isRunning && (isFailed || isWaiting || !this.#order.isRunning || owed.ended !== undefined)
    this.#order = order
    if (changes === 'start') this.#begins++
    if (changes !== 'none') {
      this.#definitions++
      this.#readAtMs = 0
    }
    if (changes === 'start') this.#drop(begunAnew(this.#record.state))
    if (changes === 'rows') this.#drop({})
    if (changes === 'end') this.#drop({ end: 'undecided', isFinished: false })
    if (isResumed) this.#again()
    if (order.isRunning) this.paying.askAnew()
  }

  /** What was given up, or waits for its next try, is tried again, from its first try; the log may have become another meanwhile. */
  #again(): void {
    this.#assembler = null
    const { flight } = this.#record.state
    this.#record.save({ isFailed: false, flight: flight && { ...flight, attempts: 0, nextTryMs: 0 } })
  }

  /** Dead letters are to be sent once more. */
  redeliver(): void {
    this.#failedKey = null
    this.#record.save({ isRedelivering: true })
  }

  /** Rows that arrived beside the batches, and are to be paid for like theirs, by this key. */
  arrived(countedRows: number, by: string): void {
    this.#record.save({ owed: this.paying.owedWith(countedRows, by) })
  }

  /** The batch in flight is read anew, unless it is under way. */
  #drop(change: Partial<DeliveryState>): void {
    this.#assembler = null
    this.#taken = null
    this.#record.save({ flight: null, isFailed: false, ...change })
  }

  /** One step; answers after how long the next is due, null: when something changes. Never rejects. */
  async turn(): Promise<number | null> {
    try {
      const unpaidMs = this.#isWorking ? await this.paying.beforeBatch() : null
      const stepMs = this.paying.waitsFor === 'key' ? null : (unpaidMs ?? (await this.#step()))
      return stepMs ?? (await this.paying.beforeSleep())
    } catch (error) {
      this.#assembler = null
      this.#taken = null
      return this.#ended(error)
    }
  }

  async #step(): Promise<number | null> {
    if (!this.#order.isRunning) return null
    await this.#tidied()
    if (this.#isLetterNext()) return this.#redelivered()
    const { isFailed, isFinished, flight } = this.#record.state
    if (isFailed || isFinished) return null
    const waitMs = (flight?.nextTryMs ?? 0) - this.#ports.nowMs()
    // Of a longer time the clock went back.
    if (waitMs > 0 && waitMs <= RETRY_AFTER_MOST_MS) return waitMs
    if (this.#taken === null) {
      const nextMs = await this.#read()
      if (nextMs !== null) return nextMs
      // Paused meanwhile: nothing is in flight yet.
      if (!this.#order.isRunning) return null
    }
    // Of no try that the destination has: the gateway alone may be away.
    await this.#ports.ready()
    if (!this.#order.isRunning) return null
    return this.#taken === null ? 0 : this.#try(this.#taken)
  }

  /** What cannot be stored cannot be said either. */
  #ended(error: unknown): number | null {
    try {
      if (error instanceof CannotRun) return this.#stuck(wordsOfError(error))
      this.#fail(wordsOfError(error), null)
    } catch {
      // It is read again all the same.
    }
    return READ_AGAIN_MS
  }

  /** Takes the next batch; null: there is one to be sent. */
  async #read(): Promise<number | null> {
    const gatherMs = this.#readAtMs - this.#ports.nowMs()
    // Dead letters need not wait for what is live meanwhile, nor anybody for a clock that went back.
    if (gatherMs > 0 && gatherMs <= this.#order.gatherMs) return this.#record.state.isRedelivering ? 0 : gatherMs
    const definitions = this.#definitions
    const at = this.#record.state.at ?? (await this.#ports.begin())
    const end = this.#record.state.end === 'undecided' ? await this.#ports.end() : this.#record.state.end
    if (definitions !== this.#definitions) return 0
    if (at === null || end === 'undecided') return POLL_MS
    if (at !== this.#record.state.at || end !== this.#record.state.end) this.#record.save({ at, end })
    const { flight } = this.#record.state
    const assembler = this.#assembler ?? this.#ports.assembler(at, flight)
    this.#assembler = assembler
    const { rowsMost: rows, charsMost: chars, readMs } = this.#order
    const most: Bounds = { rows, chars, blocks: this.#blocksMost, untilMs: this.#ports.nowMs() + readMs }
    const taken = await assembler.take(end, flight?.to ?? null, most)
    if (definitions !== this.#definitions) return 0
    if (taken === null) return Math.max(POLL_MS, assembler.retryMs)
    if (taken.rows.length === 0) return this.#passed(taken)
    this.#taken = taken
    const { from, to } = taken
    const { ordersFrom } = assembler
    this.#isUnsent = flight === null
    this.#record.note({ flight: flight ?? { from, to, attempts: 0, nextTryMs: 0, ordersFrom } })
    return null
  }

  /** Nothing of it is for the destination. */
  #passed(taken: Taken): number | null {
    if (taken.to < taken.from) {
      this.#record.save({ isFinished: true, ...this.#healed() })
      return null
    }
    this.#unsaved += taken.to - taken.from + 1
    // No destination has said anything to this.
    const health = this.#record.state.lastError?.isOfBatch ? {} : this.#healed()
    const isSaved =
      this.#unsaved >= UNSAVED_BLOCKS || taken.isEnd || this.#record.state.flight !== null || 'lastError' in health
    this.#confirm(taken, { flight: null, ...health }, isSaved)
    return this.#behind(taken)
  }

  /** After how long there may be more. */
  #behind({ isEnd, isHead }: Taken): number | null {
    if (isEnd) return null
    if (!isHead) return 0
    const { gatherMs } = this.#order
    this.#readAtMs = this.#ports.nowMs() + gatherMs
    return gatherMs || POLL_MS
  }

  async #try(taken: Taken): Promise<number | null> {
    const begins = this.#begins
    const definitions = this.#definitions
    const { flight } = this.#record.state
    if (flight === null) return 0
    const { attempts } = flight
    const { payer } = this.paying
    if (attempts >= TRIES && this.#order.onFailure === 'dead_letter')
      return this.#givenUp(taken, this.#record.state.lastError?.words ?? 'it ended amid its last try')
    const nextTryMs = this.#ports.nowMs() + backoffMs(RETRY, attempts, this.#ports.random())
    // Counted before it is made: one that ends with the object was one.
    this.#record.save({ flight: { ...flight, attempts: attempts + 1, nextTryMs } })
    this.#isSending = true
    const isUnsent = this.#isUnsent
    this.#isUnsent = false
    const affords = (rows: number) => this.paying.affords(rows, payer)
    const outcome = await this.#ports.send(taken, affords).finally(() => {
      this.#isSending = false
    })
    // It begins elsewhere now: what came of this is of no matter, but that it came.
    if (begins !== this.#begins && outcome.ok) this.arrived(outcome.countedRows, payer)
    if (begins !== this.#begins) return 0
    if (outcome.ok) return this.#delivered(this.#asOf(definitions, taken), outcome, payer)
    this.#isUnsent = isUnsent && outcome.isUntried === true
    if (outcome.unpaidRows !== undefined && definitions === this.#definitions)
      return this.#unpaid(outcome.unpaidRows, flight, payer)
    const untriedMs = outcome.isUntried
      ? this.#untried(outcome, definitions === this.#definitions ? flight : null)
      : null
    if (untriedMs !== null) return untriedMs
    this.#fail(outcome.words, taken)
    if (definitions !== this.#definitions) return 0
    if (outcome.isFinal || attempts + 1 >= TRIES) return this.#givenUp(taken, outcome.words)
    const waitMs = Math.min(outcome.retryAfterMs ?? 0, RETRY_AFTER_MOST_MS)
    const laterMs = Math.max(nextTryMs, this.#ports.nowMs() + waitMs)
    this.#record.save({ flight: { ...flight, attempts: attempts + 1, nextTryMs: laterMs } })
    return laterMs - this.#ports.nowMs()
  }

  /** Nothing was run or sent: no try is counted. `flight`: as it was; null: it is read anew. */
  #untried({ words, retryAfterMs = 0 }: Failed, flight: Flight | null): number {
    this.#told(words, null)
    const waitMs = Math.min(retryAfterMs, RETRY_AFTER_MOST_MS)
    if (flight !== null) this.#record.save({ flight: { ...flight, nextTryMs: this.#ports.nowMs() + waitMs } })
    return flight === null ? 0 : waitMs
  }

  /** The credits do not pay for these rows: it tries fewer blocks, or waits. `flight`: as it was. */
  #unpaid(rows: number, flight: Flight, payer: string): 0 {
    const blocks = Math.min(this.#blocksMost, flight.to - flight.from + 1)
    if (this.#isUnsent && blocks > 1 && this.paying.waitsFor === null) {
      this.#blocksMost = Math.floor(blocks / 2)
      this.#drop({})
      return 0
    }
    this.#record.save({ flight })
    this.paying.waitFor(rows, payer)
    return 0
  }

  #delivered(taken: Taken, confirmed: Confirmed, payer: string): number | null {
    this.#blocksMost = Math.min(BLOCKS_MOST, 2 * this.#blocksMost)
    this.#confirm(
      taken,
      { ...this.#counted(taken.rows.length, confirmed, payer), ...this.#healed(), flight: null },
      true,
    )
    return this.#behind(taken)
  }

  async #givenUp(taken: Taken, words: string): Promise<number | null> {
    if (this.#order.onFailure === 'pause' || this.#record.state.deadLetters >= LETTERS_MOST) {
      this.#ports.log('error', `given up, and the pipeline waits: ${words}`, taken)
      this.#record.save({ isFailed: true })
      return null
    }
    const begins = this.#begins
    const definitions = this.#definitions
    // From here on it is not tried any more: it would arrive, and lie there too.
    const { flight } = this.#record.state
    this.#record.save({ flight: flight && { ...flight, attempts: TRIES, nextTryMs: 0 } })
    await this.#ports.bury(taken)
    const deadLetters = this.#record.state.deadLetters + 1
    this.#ports.log('error', `given up, and set aside as a dead letter: ${words}`, taken)
    if (begins !== this.#begins) this.#record.save({ deadLetters })
    else this.#confirm(this.#asOf(definitions, taken), { flight: null, deadLetters }, true)
    return 0
  }

  /** It may have another end by now. */
  #asOf(definitions: number, taken: Taken): Taken {
    return definitions === this.#definitions ? taken : { ...taken, isEnd: false }
  }

  /** The cursor moves behind a batch. */
  #confirm({ to, after, isEnd }: Taken, change: Partial<DeliveryState>, isSaved: boolean): void {
    this.#taken = null
    const confirmed = { height: to, time: after.timeMs }
    const moved = { ...change, at: after, confirmed, isFinished: isEnd }
    if (isEnd) this.#ports.log('info', `it has come to its end, block ${to}`, null)
    if (isSaved) this.#record.save(moved)
    else this.#record.note(moved)
    if (isSaved) this.#unsaved = 0
  }

  /** Takes away what arrived, before another one is put there under its name. */
  async #tidied(): Promise<void> {
    const { arrivedLetter } = this.#record.state
    if (arrivedLetter === null) return
    await this.#ports.removeLetter(arrivedLetter)
    this.#record.save({ arrivedLetter: null })
  }

  /** Whether a dead letter comes before what is read next: behind one that failed live rows come first, once. */
  #isLetterNext(): boolean {
    const { isRedelivering, flight, isFailed, isFinished } = this.#record.state
    const isLiveNext = this.#isLiveNext && !isFailed && !isFinished
    this.#isLiveNext = false
    return isRedelivering && (flight === null || isFailed) && !isLiveNext
  }

  /** Sends the oldest dead letter; answers after how long the next turn is due. */
  async #redelivered(): Promise<number> {
    await this.#ports.ready()
    this.#isSending = true
    const { payer } = this.paying
    const affords = (rows: number) => this.paying.affords(rows, payer)
    const outcome = await this.#ports
      .unbury(this.#failedKey, affords)
      // Where they cannot be read, that ends it.
      .catch(
        (error: unknown) =>
          ({ ok: false as const, words: wordsOfError(error), key: null }) satisfies Failed & { key: null },
      )
      .finally(() => {
        this.#isSending = false
      })
    if (outcome?.ok) return this.#letterArrived(outcome, payer)
    const { unpaidRows, isUntried, retryAfterMs = 0 }: Partial<Failed> = outcome ?? {}
    if (isUntried) {
      if (unpaidRows !== undefined) this.paying.waitFor(unpaidRows, payer)
      this.#isLiveNext = true
      return retryAfterMs
    }
    if (outcome) this.#fail(`a dead letter did not arrive: ${outcome.words}`, null)
    if (outcome?.key) {
      this.#failedKey = outcome.key
      this.#isLiveNext = true
      return 0
    }
    const isNoneLeft = outcome === null && this.#failedKey === null
    this.#record.save({ isRedelivering: false, ...(isNoneLeft && { deadLetters: 0 }) })
    return 0
  }

  #letterArrived(letter: ArrivedLetter, payer: string): 0 {
    const { deadLetters, isFailed } = this.#record.state
    this.#ports.log('info', `a dead letter arrived: ${letter.rows} rows`, letter)
    this.#record.save({
      ...this.#counted(letter.rows, letter, payer),
      deadLetters: Math.max(0, deadLetters - 1),
      arrivedLetter: letter.key,
      // Another batch that failed waits on.
      ...(!isFailed && this.#healed()),
    })
    return 0
  }

  /** Sums with a batch that arrived, and what is owed with it. */
  #counted(count: number, { bytes, countedRows }: Confirmed, payer: string): Partial<DeliveryState> {
    const { rows, bytes: before, batches } = this.#record.state
    this.#ports.count({ rows: count, bytes, batches: 1 })
    const owed = this.paying.owedWith(countedRows, payer)
    return { rows: rows + count, bytes: before + bytes, batches: batches + 1, owed }
  }

  #stuck(words: string): null {
    this.#ports.log('error', `it cannot run, and waits for its record to be changed: ${words}`, null)
    this.#record.save({ isFailed: true, ...this.#record.troubled(words) })
    return null
  }

  #fail(words: string, batch: Pick<Parcel, 'from' | 'to'> | null): void {
    this.#ports.count({ failures: 1 })
    this.#told(words, batch)
  }

  #told(words: string, batch: Pick<Parcel, 'from' | 'to'> | null): void {
    const atMs = this.#ports.nowMs()
    const { lastError } = this.#record.state
    // What goes on is one line.
    const isNew = batch !== null || lastError?.words !== words || Math.abs(atMs - lastError.atMs) > GOES_ON_MS
    if (isNew) this.#ports.log('warn', words, batch)
    this.#record.save(this.#record.troubled(words, batch !== null))
  }

  /** Rows or blocks go on; while the meter does not answer they do for a while only. */
  #healed(): Partial<DeliveryState> {
    return this.paying.isAway ? {} : this.#record.healed()
  }
}
