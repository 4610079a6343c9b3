// How a pipeline's rows come to their destination and are paid for. Over 500 lines, because a batch and what is owed for it are one
// state, stored in one write. One turn does the next of these:
//
//   log ─► #read ─► seal ─► affords ─► send ─► #acknowledge ─► #settle ─► log
//                    ▲                  │ failed: the same batch again, after a wait
//                    └──────────────────┘ failed to the end: it waits for somebody, or becomes a dead letter
//
// Invariants (docs/reference/pipelines.md): at least once and in the order of blocks; one batch is in flight, whose range is sealed
// (stored) before its first try, and is the same at every try; a batch is sent only where what is left pays for it, under a key
// that worked LOOK_EVERY_MS before; the cursor is stored once the destination has confirmed, in one write with what is owed for
// the batch, so that a kill loses none of it and what is reported again changes nothing; nobody sleeps on what is owed; nothing
// is left out without a word. Dead letters are sent once more oldest first, between two batches; one that arrived is written
// down before it is taken away.

import type { MicroCredits } from '../../core/amount.ts'
import { type Backoff, backoffMs } from '../../core/backoff.ts'
import type { KeyHash } from '../../core/ids.ts'
import { AMPLE, isReportDue, REPORT_AT, REPORT_EVERY_MS } from '../../metering/credit-lease.ts'
import type { DeliveryFailure, DeliverySuccess } from '../destinations/batch.ts'
import { FatalPipelineError } from '../pipeline.ts'
import type { SinkPhase } from '../sink-api.ts'
import type { AssembledBatch } from './batch-assembler.ts'
import {
  addRows,
  type BatchInFlight,
  type BatchRows,
  type BillingState,
  type CanAfford,
  type DeliveryPorts,
  type DeliveryState,
  type DesiredState,
  errorMessage,
  keyEndedMessage,
  METER_UNAVAILABLE,
  type MeterResponse,
  markReported,
  type Payer,
  restarted,
  transferDebt,
  unpaidMessage,
  unreported,
} from './delivery-state.ts'

/** Eight tries take some ten minutes. */
export const MAX_ATTEMPTS = 8
const RETRY: Backoff = { firstMs: 5_000, capMs: 240_000, jitter: 0.2 }
/** The log stores a segment a second. */
const POLL_MS = 1_000
/** What keeps blocks from being read may pass. */
const READ_RETRY_MS = 5_000
/** The same failure within this time is the one of before. */
const SAME_ERROR_MS = 60_000
/** So far behind it is live, beside what it gathers for. */
const LIVE_LAG_MS = 10_000
/** Blocks without rows are passed over without a word, so many before that is stored. */
const MAX_UNSAVED_BLOCKS = 1_024
/** Of a batch. */
const MAX_BLOCKS = 20_000
const MAX_RETRY_AFTER_MS = 600_000
/** They lie in the operator's bucket. */
const MAX_DEAD_LETTERS = 1_000
/** The meter is asked so often whether the key still works, also where nothing is owed or rows are free. */
const KEY_CHECK_MS = 20_000
/** So much may be owed while the meter does not answer; one batch more may be on its way. */
const MAX_UNREPORTED: MicroCredits = REPORT_AT
const UNPAID_RETRY_MS = 60_000

export class Delivery {
  readonly #ports: DeliveryPorts
  #state: DeliveryState
  #desired: DesiredState
  #assembler: ReturnType<DeliveryPorts['assembler']> | null = null
  /** The batch in flight, as it was read. */
  #batch: AssembledBatch | null = null
  #isSending = false
  /** Counts what makes rows others than they were, and what begins anew. */
  #definitions = 0
  #restarts = 0
  #unsavedBlocks = 0
  /** Blocks of the next batch: fewer where what is left did not pay for more. */
  #maxBlocks = MAX_BLOCKS
  /** The batch in flight was never sent: it may still be cut. */
  #isUnsent = false
  /** Key of the last dead letter that did not arrive. */
  #failedLetterKey: string | null = null
  /** Live rows come before the next dead letter. */
  #isLiveNext = false
  /** Nothing is read before: rows gather. */
  #readAtMs = 0
  /** What the meter said last, and of which key; null: nothing yet, or it did not answer. */
  #meter: (MeterResponse & { readonly of: string }) | null = null
  #settledMs = Number.NEGATIVE_INFINITY
  /** The meter did not answer when it was last asked. */
  #isMeterDown = false

  constructor(ports: DeliveryPorts, state: DeliveryState, order: DesiredState) {
    this.#ports = ports
    this.#state = state
    this.#desired = order
  }

  get state(): DeliveryState {
    return this.#state
  }

  /** What it is doing, in a word for its owner. `lagMs`: how far the destination is behind the log; null: that is not known. */
  phase(lagMs: number | null): SinkPhase {
    const { isFailed, isFinished, flight, at } = this.#state
    const { waitsFor } = this
    if (!this.#desired.isRunning || waitsFor === 'key') return this.#isSending ? 'pausing' : 'paused'
    if (this.#isWorking && waitsFor) return waitsFor === 'credits' ? 'unpaid' : 'retrying'
    if (isFailed) return 'failed'
    if (isFinished) return 'finished'
    if (flight && (this.#isSending ? flight.attempts > 1 : flight.attempts > 0 || flight.nextTryMs > 0))
      return 'retrying'
    if (at === null) return 'idle'
    return lagMs === null || lagMs > LIVE_LAG_MS + this.#desired.gatherMs ? 'backfilling' : 'live'
  }

  /** What keeps the next batch from being sent. */
  get waitsFor(): 'credits' | 'meter' | 'key' | null {
    const { owed } = this.#state
    if (owed.ended) return 'key'
    if (this.#ports.rowMicro === 0) return null
    if (owed.askAtMs !== null) return 'credits'
    return this.#isMeterDown && unreported(owed) >= MAX_UNREPORTED ? 'meter' : null
  }

  /** There is something that may be sent. */
  get #isWorking(): boolean {
    const { isFailed, isFinished, isRedelivering } = this.#state
    return this.#desired.isRunning && ((!isFailed && !isFinished) || isRedelivering)
  }

  /** The record has changed: what it wants now, and what of it is another thing than it was. */
  applyDesired(order: DesiredState, change: 'none' | 'end' | 'rows' | 'start'): void {
    const { isFailed, owed } = this.#state
    const isWaiting = (this.#state.flight?.nextTryMs ?? 0) > 0 && !this.#isSending
    const isResumed = order.isRunning && (isFailed || isWaiting || !this.#desired.isRunning || owed.ended !== undefined)
    this.#desired = order
    if (change === 'start') this.#restarts++
    if (change !== 'none') {
      this.#definitions++
      this.#readAtMs = 0
    }
    if (change === 'start') this.#discardBatch(restarted(this.#state))
    if (change === 'rows') this.#discardBatch({})
    if (change === 'end') this.#discardBatch({ end: 'undecided', isFinished: false })
    // From its first try; the log may have become another meanwhile.
    if (isResumed) {
      this.#assembler = null
      const { flight } = this.#state
      this.#save({ isFailed: false, flight: flight && { ...flight, attempts: 0, nextTryMs: 0 } })
    }
    if (order.isRunning) this.#recheckMeter()
  }

  /** Dead letters are to be sent once more. */
  redeliver(): void {
    this.#failedLetterKey = null
    this.#save({ isRedelivering: true })
  }

  /** Rows that arrived beside the batches, and are to be paid for like theirs, by this key. */
  chargeRows(countedRows: number, by: KeyHash): void {
    this.#save({ owed: this.#billingWith(countedRows, by) })
  }

  /** The pipeline has another key now: what is owed so far stays with the one before. */
  changePayer(before: KeyHash): void {
    this.#save({ owed: transferDebt(this.#state.owed, before) })
  }

  /** Asks for so many rows beside the batches, for which this key pays; the words say why there are to be none. */
  async refusal(by: Payer = this.#ports.payer(), countedRows = 1): Promise<string | null> {
    const { rowMicro } = this.#ports
    if (rowMicro === 0) return null
    await this.#settle(false)
    const isAsked = by.hash !== this.#payer && !this.#isMeterDown
    const answer = isAsked ? await this.#ports.settle({ rows: 0, spent: 0 }, by.hash, 0).catch(() => null) : this.#meter
    if (answer === null) return `${METER_UNAVAILABLE}: send this again in a moment`
    if (answer.ended) return keyEndedMessage(by, answer.ended)
    const cost = countedRows * rowMicro
    return answer.available < cost ? unpaidMessage(answer, cost) : null
  }

  /** One step; answers after how long the next is due, null: when something changes. Never rejects. */
  async turn(): Promise<number | null> {
    try {
      const isWorking = this.#isWorking
      if (isWorking && this.#isSettleDue()) await this.#settle(true)
      const { waitsFor } = this
      const isUnpaid = isWorking && waitsFor !== null
      const waitMs = waitsFor === 'key' ? null : isUnpaid ? this.#unpaidMs : await this.#step()
      if (waitMs !== null) return waitMs
      if (unreported(this.#state.owed) > 0) await this.#settle(false)
      return unreported(this.#state.owed) > 0 ? REPORT_EVERY_MS : null
    } catch (error) {
      this.#assembler = null
      this.#batch = null
      return this.#onError(errorMessage(error), error instanceof FatalPipelineError)
    }
  }

  async #step(): Promise<number | null> {
    if (!this.#desired.isRunning) return null
    const { arrivedLetter } = this.#state
    // Before another one is put there under its name.
    if (arrivedLetter !== null) {
      await this.#ports.removeDeadLetter(arrivedLetter)
      this.#save({ arrivedLetter: null })
    }
    if (this.#isLetterNext()) return this.#sendDeadLetter()
    const { isFailed, isFinished, flight } = this.#state
    if (isFailed || isFinished) return null
    const waitMs = (flight?.nextTryMs ?? 0) - this.#ports.nowMs()
    // Of a longer time the clock went back.
    if (waitMs > 0 && waitMs <= MAX_RETRY_AFTER_MS) return waitMs
    const nextMs = this.#batch === null ? await this.#read() : null
    if (nextMs !== null) return nextMs
    // Paused meanwhile: nothing is in flight yet.
    if (!this.#desired.isRunning) return null
    // Of no try that the destination has: the gateway alone may be away.
    await this.#ports.ready()
    if (!this.#desired.isRunning) return null
    const taken = this.#batch
    const { flight: begun } = this.#state
    return taken === null || begun === null ? 0 : this.#send(taken, begun)
  }

  /** Takes the next batch; null: there is one to be sent. */
  async #read(): Promise<number | null> {
    const gatherMs = this.#readAtMs - this.#ports.nowMs()
    // Dead letters need not wait for what is live meanwhile, nor anybody for a clock that went back.
    if (gatherMs > 0 && gatherMs <= this.#desired.gatherMs) return this.#state.isRedelivering ? 0 : gatherMs
    const definitions = this.#definitions
    const at = this.#state.at ?? (await this.#ports.begin())
    const end = this.#state.end === 'undecided' ? await this.#ports.end() : this.#state.end
    if (definitions !== this.#definitions) return 0
    if (at === null || end === 'undecided') return POLL_MS
    if (at !== this.#state.at || end !== this.#state.end) this.#save({ at, end })
    const { flight } = this.#state
    const assembler = this.#assembler ?? this.#ports.assembler(at, flight)
    this.#assembler = assembler
    const { maxRows: rows, maxChars: chars, readMs } = this.#desired
    const most = { rows, chars, blocks: this.#maxBlocks, untilMs: this.#ports.nowMs() + readMs }
    const taken = await assembler.take(end, flight?.to ?? null, most)
    if (definitions !== this.#definitions) return 0
    if (taken === null) return Math.max(POLL_MS, assembler.retryMs)
    if (taken.rows.length === 0) return this.#skipEmpty(taken)
    const { from, to } = taken
    const { ordersFrom } = assembler
    this.#batch = taken
    this.#isUnsent = flight === null
    // Sealed with its first try: until then it may be read anew, or cut.
    this.#state = { ...this.#state, flight: flight ?? { from, to, attempts: 0, nextTryMs: 0, ordersFrom } }
    return null
  }

  /** Nothing of it is for the destination. */
  #skipEmpty(taken: AssembledBatch): number | null {
    if (taken.to < taken.from) {
      this.#save({ isFinished: true, ...this.#withoutError() })
      return null
    }
    this.#unsavedBlocks += taken.to - taken.from + 1
    // No destination has said anything to this.
    const health = this.#state.lastError?.isOfBatch ? {} : this.#withoutError()
    const isSaved =
      this.#unsavedBlocks >= MAX_UNSAVED_BLOCKS || taken.isEnd || this.#state.flight !== null || 'lastError' in health
    this.#acknowledge(taken, { flight: null, ...health }, isSaved)
    return this.#nextDelayMs(taken)
  }

  /** Sends the batch in flight, if it can be paid for. */
  async #send(taken: AssembledBatch, flight: BatchInFlight): Promise<number | null> {
    const begins = this.#restarts
    const definitions = this.#definitions
    if (flight.attempts >= MAX_ATTEMPTS && this.#desired.onFailure === 'dead_letter')
      return this.#giveUp(taken, flight, this.#state.lastError?.words ?? 'it ended amid its last try')
    const attempts = flight.attempts + 1
    const nextTryMs = this.#ports.nowMs() + backoffMs(RETRY, flight.attempts, this.#ports.random())
    // Counted before it is made: one that ends with the object was one.
    this.#save({ flight: { ...flight, attempts, nextTryMs } })
    const payer = this.#payer
    const outcome = await this.#whileSending(payer, (affords) => this.#ports.send(taken, affords))
    const isAsRead = definitions === this.#definitions
    // It begins elsewhere now: what came of this is of no matter, but that it came.
    if (begins !== this.#restarts) {
      if (outcome.ok) this.chargeRows(outcome.billedRows, payer)
      return 0
    }
    if (outcome.ok) {
      this.#maxBlocks = Math.min(MAX_BLOCKS, 2 * this.#maxBlocks)
      const counted = this.#countRows(taken.rows.length, outcome, payer)
      const batch = withKnownEnd(isAsRead, taken)
      this.#acknowledge(batch, { ...counted, ...this.#withoutError(), flight: null })
      return this.#nextDelayMs(batch)
    }
    const { message, retryAfterMs = 0, isNotAttempted = false, unpaidRows, isFinal } = outcome
    this.#isUnsent &&= isNotAttempted
    if (unpaidRows !== undefined && isAsRead) return this.#onUnpaid(unpaidRows, flight, payer)
    this.#recordFailure(message, isNotAttempted ? null : taken, !isNotAttempted)
    if (!isAsRead) return 0
    if (!isNotAttempted && (isFinal || attempts >= MAX_ATTEMPTS)) return this.#giveUp(taken, flight, message)
    const laterMs = this.#ports.nowMs() + Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)
    const next = isNotAttempted
      ? { ...flight, nextTryMs: laterMs }
      : { ...flight, attempts, nextTryMs: Math.max(nextTryMs, laterMs) }
    this.#save({ flight: next })
    return next.nextTryMs - this.#ports.nowMs()
  }

  /** Work that the destination sees, as far as this key can pay for it. */
  async #whileSending<T>(payer: KeyHash, work: (affords: CanAfford) => Promise<T>): Promise<T> {
    this.#isSending = true
    return work((rows) => this.#canAfford(rows, payer)).finally(() => {
      this.#isSending = false
    })
  }

  /** The credits do not pay for these rows: it tries fewer blocks, or waits. `flight`: as it was. */
  #onUnpaid(rows: number, flight: BatchInFlight, payer: KeyHash): 0 {
    const blocks = Math.min(this.#maxBlocks, flight.to - flight.from + 1)
    if (this.#isUnsent && blocks > 1 && this.waitsFor === null) {
      this.#maxBlocks = Math.floor(blocks / 2)
      this.#discardBatch({})
      return 0
    }
    this.#save({ flight })
    this.#waitForCredits(rows, payer)
    return 0
  }

  async #giveUp(taken: AssembledBatch, flight: BatchInFlight, words: string): Promise<number | null> {
    if (this.#desired.onFailure === 'pause' || this.#state.deadLetters >= MAX_DEAD_LETTERS) {
      this.#ports.log('error', `given up, and the pipeline waits: ${words}`, taken)
      this.#save({ isFailed: true })
      return null
    }
    const begins = this.#restarts
    const definitions = this.#definitions
    // From here on it is not tried any more: it would arrive, and lie there too.
    this.#save({ flight: { ...flight, attempts: MAX_ATTEMPTS, nextTryMs: 0 } })
    await this.#ports.putDeadLetter(taken)
    const deadLetters = this.#state.deadLetters + 1
    this.#ports.log('error', `given up, and set aside as a dead letter: ${words}`, taken)
    if (begins !== this.#restarts) this.#save({ deadLetters })
    else this.#acknowledge(withKnownEnd(definitions === this.#definitions, taken), { flight: null, deadLetters })
    return 0
  }

  /** The cursor moves behind a batch. */
  #acknowledge({ to, after, isEnd }: AssembledBatch, change: Partial<DeliveryState>, isSaved = true): void {
    this.#batch = null
    const moved = { ...change, at: after, confirmed: { height: to, time: after.timeMs }, isFinished: isEnd }
    if (isEnd) this.#ports.log('info', `it has come to its end, block ${to}`, null)
    if (isSaved) {
      this.#save(moved)
      this.#unsavedBlocks = 0
    } else this.#state = { ...this.#state, ...moved }
  }

  /** After how long there may be more. */
  #nextDelayMs({ isEnd, isHead }: AssembledBatch): number | null {
    if (isEnd) return null
    if (!isHead) return 0
    const { gatherMs } = this.#desired
    this.#readAtMs = this.#ports.nowMs() + gatherMs
    return gatherMs || POLL_MS
  }

  /** Whether a dead letter comes before what is read next: behind one that failed live rows come first, once. */
  #isLetterNext(): boolean {
    const { isRedelivering, flight, isFailed, isFinished } = this.#state
    const isLiveNext = this.#isLiveNext && !isFailed && !isFinished
    this.#isLiveNext = false
    return isRedelivering && (flight === null || isFailed) && !isLiveNext
  }

  /** Sends the oldest dead letter; answers after how long the next turn is due. */
  async #sendDeadLetter(): Promise<number> {
    await this.#ports.ready()
    const payer = this.#payer
    const outcome = await this.#whileSending(payer, (affords) =>
      this.#ports.sendDeadLetter(this.#failedLetterKey, affords),
    ).catch(
      // Where they cannot be read, that ends it.
      (error: unknown) =>
        ({ ok: false, message: errorMessage(error), key: null }) satisfies DeliveryFailure & { key: null },
    )
    if (outcome?.ok) {
      const { deadLetters, isFailed } = this.#state
      this.#ports.log('info', `a dead letter arrived: ${outcome.rows} rows`, outcome)
      this.#save({
        ...this.#countRows(outcome.rows, outcome, payer),
        deadLetters: Math.max(0, deadLetters - 1),
        arrivedLetter: outcome.key,
        // Another batch that failed waits on.
        ...(!isFailed && this.#withoutError()),
      })
      return 0
    }
    const { unpaidRows, isNotAttempted, retryAfterMs = 0 }: Partial<DeliveryFailure> = outcome ?? {}
    this.#isLiveNext = isNotAttempted === true || Boolean(outcome?.key)
    if (isNotAttempted) {
      if (unpaidRows !== undefined) this.#waitForCredits(unpaidRows, payer)
      return retryAfterMs
    }
    if (outcome) this.#recordFailure(`a dead letter did not arrive: ${outcome.message}`, null)
    if (outcome?.key) this.#failedLetterKey = outcome.key
    else {
      const isNoneLeft = outcome === null && this.#failedLetterKey === null
      this.#save({ isRedelivering: false, ...(isNoneLeft && { deadLetters: 0 }) })
    }
    return 0
  }

  /** Sums with a batch that arrived, and what is owed with it. */
  #countRows(count: number, { bytes, billedRows }: DeliverySuccess, payer: KeyHash): Partial<DeliveryState> {
    const { rows, bytes: before, batches } = this.#state
    this.#ports.count({ rows: count, bytes, batches: 1 })
    const owed = this.#billingWith(billedRows, payer)
    return { rows: rows + count, bytes: before + bytes, batches: batches + 1, owed }
  }

  /** Hash of the key that pays for what is begun now. */
  get #payer(): KeyHash {
    return this.#ports.payer().hash
  }

  /** With so many rows more, which this key owes. */
  #billingWith(countedRows: number, by: KeyHash): BillingState {
    const { owed } = this.#state
    const { rowMicro } = this.#ports
    if (by === this.#payer) return addRows(owed, countedRows, rowMicro)
    return transferDebt(addRows(transferDebt(owed, this.#payer), countedRows, rowMicro), by)
  }

  /** Whether what is left pays for so many rows, which this key is to owe once they arrive. Asked before they are sent. */
  async #canAfford(countedRows: number, by: KeyHash): Promise<boolean> {
    const cost = countedRows * this.#ports.rowMicro
    // While the meter is away it is asked between batches, and so much may be owed.
    if (cost === 0 || this.#isMeterDown) return true
    const { available = 0, of } = this.#meter ?? {}
    if (of === by && by === this.#payer && unreported(this.#state.owed) + cost <= available / AMPLE) return true
    await this.#settle(true, cost)
    if (by !== this.#payer || this.waitsFor !== null) return false
    return this.#meter === null || this.#meter.available >= cost
  }

  /** Waits until this key can pay for so many rows: the next batch cannot have fewer. */
  #waitForCredits(needs: number, by: KeyHash): void {
    if (this.waitsFor !== null || by !== this.#payer) return
    this.#saveBilling({ ...this.#state.owed, needs, askAtMs: this.#ports.nowMs() + UNPAID_RETRY_MS })
  }

  /** The meter is asked again after this time. */
  get #unpaidMs(): number {
    return Math.max(0, (this.#state.owed.askAtMs ?? this.#settledMs + REPORT_EVERY_MS) - this.#ports.nowMs())
  }

  /** The meter is to be asked at once about a key that had no credits or had ended, or where it did not answer. */
  #recheckMeter(): void {
    if (this.#isMeterDown) this.#settledMs = Number.NEGATIVE_INFINITY
    const { ended, needs: _, ...owed } = this.#state.owed
    if (ended) this.#meter = null
    const askAtMs = owed.askAtMs === null ? null : 0
    if (ended || askAtMs === 0) this.#save({ owed: { ...owed, askAtMs } })
  }

  #isSettleDue(): boolean {
    const nowMs = this.#ports.nowMs()
    const { owed } = this.#state
    const waitMs = (owed.askAtMs ?? 0) - nowMs
    // Of a longer time the clock went back, here and below.
    if (owed.askAtMs !== null) return waitMs <= 0 || waitMs > UNPAID_RETRY_MS
    const sinceMs = Math.abs(nowMs - this.#settledMs)
    if (this.#isMeterDown) return sinceMs >= REPORT_EVERY_MS
    if (this.#meter?.of !== this.#payer || this.#isShort || owed.debts || sinceMs >= KEY_CHECK_MS) return true
    return unreported(owed) > 0 && isReportDue(unreported(owed), sinceMs, this.#meter.available)
  }

  /** The balance does not cover the cheapest possible next batch. */
  get #isShort(): boolean {
    return this.#meter !== null && this.#meter.available < this.#minimumCost(this.#state.owed)
  }

  #minimumCost({ needs = 1 }: BillingState): MicroCredits {
    return needs * this.#ports.rowMicro
  }

  /** Reports what is owed, that of other keys first, and takes in what the meter says of the pipeline's own. */
  async #settle(isForBatch: boolean, hold: MicroCredits = 0): Promise<void> {
    const wasAway = this.#isMeterDown
    this.#settledMs = this.#ports.nowMs()
    const { rows, spent, debts = [] } = this.#state.owed
    const { by, ...sums } = debts[0] ?? { by: this.#payer, rows, spent }
    const answer = await this.#ports.settle(sums, by, hold).catch(() => null)
    this.#isMeterDown = answer === null
    const before = this.#state.owed
    const told = answer === null ? before : markReported(before, sums.spent)
    // Another key owed that: what the meter says of the pipeline's own is still to be heard.
    if (answer !== null && (by !== this.#payer || told.debts)) {
      this.#save({ owed: told })
      return this.#settle(isForBatch, hold)
    }
    this.#meter = answer && { ...answer, of: by }
    const isUnpaid = this.#isMeterDown ? before.askAtMs !== null : this.#isShort
    const askAtMs = isUnpaid ? this.#ports.nowMs() + UNPAID_RETRY_MS : null
    const { needs: _, ...paid } = told
    const kept = isForBatch ? { ...(isUnpaid ? told : paid), askAtMs } : told
    const ended = answer?.ended && {
      ended: { atMs: this.#ports.nowMs(), words: keyEndedMessage(this.#ports.payer(), answer.ended) },
    }
    this.#saveBilling({ ...kept, ...ended }, this.#isMeterDown && !wasAway ? METER_UNAVAILABLE : null)
  }

  /** Stores what is owed, and says what that means for the owner. */
  #saveBilling(owed: BillingState, awayWords: string | null = null): void {
    const before = this.#state.owed
    const isUnpaidNow = before.askAtMs === null && owed.askAtMs !== null
    const words = awayWords ?? (isUnpaidNow && this.#meter ? unpaidMessage(this.#meter, this.#minimumCost(owed)) : null)
    const isPaidAgain = before.askAtMs !== null && owed.askAtMs === null
    if (owed.ended && !before.ended) this.#ports.log('warn', owed.ended.words, null)
    if (words !== null) this.#ports.log('warn', words, null)
    if (isPaidAgain) this.#ports.log('info', 'there are credits: it goes on', null)
    const isSame = owed.told === before.told && owed.askAtMs === before.askAtMs && owed.ended === before.ended
    if (words !== null) this.#save({ owed, ...this.#withError(words, false) })
    else if (isPaidAgain) this.#save({ owed, ...this.#withoutError() })
    else if (!isSame) this.#save({ owed })
  }

  /** The batch in flight is read anew, unless it is under way. */
  #discardBatch(change: Partial<DeliveryState>): void {
    this.#assembler = null
    this.#batch = null
    this.#save({ flight: null, isFailed: false, ...change })
  }

  #save(change: Partial<DeliveryState>): void {
    const state = { ...this.#state, ...change }
    this.#ports.save(state)
    this.#state = state
  }

  /** A turn ended with an error: where it cannot run it waits for its record to be changed. */
  #onError(words: string, isForGood: boolean): number | null {
    try {
      if (isForGood) {
        this.#ports.log('error', `it cannot run, and waits for its record to be changed: ${words}`, null)
        this.#save({ isFailed: true, ...this.#withError(words, false) })
        return null
      }
      this.#recordFailure(words, null)
    } catch {
      // What cannot be stored cannot be said either. It is read again all the same.
    }
    return READ_RETRY_MS
  }

  /** Says what goes wrong, and stores it. What goes on is one line. */
  #recordFailure(words: string, batch: Pick<BatchRows, 'from' | 'to'> | null, isCounted = true): void {
    if (isCounted) this.#ports.count({ failures: 1 })
    const { lastError } = this.#state
    const isOld = lastError?.words === words && Math.abs(this.#ports.nowMs() - lastError.atMs) <= SAME_ERROR_MS
    if (batch !== null || !isOld) this.#ports.log('warn', words, batch)
    this.#save(this.#withError(words, batch !== null))
  }

  #withError(words: string, isOfBatch: boolean): Pick<DeliveryState, 'lastError'> {
    const atMs = this.#ports.nowMs()
    return { lastError: { sinceMs: this.#state.lastError?.sinceMs ?? atMs, atMs, words, isOfBatch } }
  }

  /** Rows or blocks go on; while the meter does not answer they do for a while only. */
  #withoutError(): Partial<DeliveryState> {
    const { lastError } = this.#state
    if (this.#isMeterDown || lastError === null) return {}
    const { sinceMs, words } = lastError
    return { lastError: null, lastIncident: { sinceMs, words, untilMs: this.#ports.nowMs() } }
  }
}

/** Where its record has changed since it was read, the pipeline may have another end by now. */
const withKnownEnd = (isAsRead: boolean, taken: AssembledBatch): AssembledBatch =>
  isAsRead ? taken : { ...taken, isEnd: false }
