// Delivers a pipeline's rows and bills them. This is one file, because a batch and its billing are one state, stored in
// one write. Each turn runs the next of these steps:
//
//   log ─► #read ─► store range ─► canAfford ─► send ─► #acknowledge ─► #settle ─► log
//                        ▲                       │ failed: retry the same batch after a delay
//                        └───────────────────────┘ last attempt failed: stop, or store a dead letter
//
// Rows of heights that the archive got behind the cursor come between two batches (repair-rows.ts). The cursor waits for them.
//
// Invariants (docs/reference/pipelines.md): at least once, in block order except for repaired heights; one batch is in flight,
// whose range is stored before its first attempt and is the same for every attempt; a batch is sent only if the balance covers
// it, under a key that was valid KEY_CHECK_MS ago; the cursor and the amount owed are stored in one write after the destination
// has confirmed, so that a crash loses nothing and repeated reports change nothing; a waiting object has an alarm that reports
// what is owed; missing data is always reported. Dead letters are sent again oldest first, between batches; a delivered one is
// recorded before it is removed.

import type { MicroCredits } from '../../core/amount.ts'
import { type Backoff, backoffMs } from '../../core/backoff.ts'
import type { KeyHash } from '../../core/ids.ts'
import { AMPLE, isReportDue, REPORT_AT } from '../../metering/credit-lease.ts'
import type { BatchRange, DeliveryFailure, DeliverySuccess } from '../destinations/batch.ts'
import type { EmptyRange } from '../follower-api.ts'
import { FatalPipelineError } from '../pipeline.ts'
import type { SinkPhase } from '../sink-api.ts'
import { type AssembledBatch, afterBlock, type ReaderState } from './batch-assembler.ts'
import {
  addMinutes,
  addRows,
  type BatchInFlight,
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
  type RecordChange,
  restarted,
  transferDebt,
  unpaidMessage,
  unreported,
} from './delivery-state.ts'
import { afterFinding, afterRepair } from './repair-rows.ts'

/** Eight attempts take about ten minutes. */
export const MAX_ATTEMPTS = 8
const RETRY: Backoff = { firstMs: 5_000, capMs: 240_000, jitter: 0.2 }
/** Delay after the newest block was read. A Sink that is called when there are rows does not use it. */
const POLL_MS = 1_000
/** Delay while the log is empty. */
const BEGIN_RETRY_MS = 5_000
/** Maximum delay before a start in the future. */
const MAX_BEGIN_MS = 60_000
const READ_RETRY_MS = 5_000
/** A repeated error within this time is not logged again. */
const SAME_ERROR_MS = 60_000
/** Maximum lag of a live pipeline, in addition to `gatherMs`. */
const LIVE_LAG_MS = 10_000
/** Number of empty blocks to skip before the progress is stored. */
const MAX_UNSAVED_BLOCKS = 1_024
const MAX_BLOCKS = 20_000
const MAX_RETRY_AFTER_MS = 600_000
/** Dead letters use the operator's bucket. */
const MAX_DEAD_LETTERS = 1_000
/** How often the meter is asked whether the key is still valid, even if nothing is owed or rows are free. */
const KEY_CHECK_MS = 20_000
/** Maximum unreported amount while the meter does not respond; one more batch may be in flight. */
const MAX_UNREPORTED: MicroCredits = REPORT_AT
/** A meter that is away is asked again after this time. */
const METER_RETRY_MS = 10_000
const UNPAID_RETRY_MS = 60_000
/** How often repairs are looked for. A pipeline that waits for rows wakes as often. */
const REPAIRS_EVERY_MS = 4 * 60_000
/** Maximum number of repairs that are passed at once. */
const MAX_REPAIRS = 64
/** Minutes of a pipeline without rows are charged together after this time. */
const REST_CHARGE_MS = 10 * 60_000

export class Delivery {
  readonly #ports: DeliveryPorts
  #state: DeliveryState
  #desired: DesiredState
  #assembler: ReturnType<DeliveryPorts['assembler']> | null = null
  /** The batch in flight. */
  #batch: DeliveredBatch | null = null
  #isSending = false
  /** Number of restarts and of configuration changes that affect rows. */
  #definitions = 0
  #restarts = 0
  #unsavedBlocks = 0
  /** Maximum blocks of the next batch; reduced if the balance did not cover more. */
  #maxBlocks = MAX_BLOCKS
  /** True if the batch in flight has never been sent, so it may still be cut. */
  #isUnsent = false
  /** Key of the last dead letter that failed. */
  #failedLetterKey: string | null = null
  /** True if live rows come before the next dead letter. */
  #isLiveNext = false
  /** Reading waits until this time, so that rows accumulate. */
  #readAtMs = 0
  /** Last response of the meter and its key; null: none yet, or the meter did not respond. */
  #meter: (MeterResponse & { readonly of: string }) | null = null
  #settledMs = Number.NEGATIVE_INFINITY
  /** True if the meter did not respond to the last call. */
  #isMeterDown = false
  /** True if the last turn has read the newest block. */
  #isAtHead = false
  /** When repairs were last looked for. */
  #repairsAtMs = Number.NEGATIVE_INFINITY

  constructor(ports: DeliveryPorts, state: DeliveryState, order: DesiredState) {
    this.#ports = ports
    this.#state = state
    this.#desired = order
  }

  get state(): DeliveryState {
    return this.#state
  }

  /** Phase shown to the owner. `lagMs`: lag of the destination; null: unknown. */
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

  /** Why the next batch may not be sent; null: it may. */
  get waitsFor(): 'credits' | 'meter' | 'key' | null {
    const { owed } = this.#state
    if (owed.ended) return 'key'
    if (this.#isFree) return null
    if (owed.askAtMs !== null) return 'credits'
    return this.#isMeterDown && unreported(owed) >= MAX_UNREPORTED ? 'meter' : null
  }

  get #isFree(): boolean {
    return this.#ports.rowMicro === 0 && this.#ports.minuteMicro === 0
  }

  /** Charges the minutes since the last call. Call this before a change of what `isRunning` depends on, and after it. */
  chargeMinutes(): void {
    const { isFailed, isFinished, owed } = this.#state
    const isRunning = this.#desired.isRunning && !isFailed && !isFinished && this.waitsFor === null
    const charged = addMinutes(owed, { isRunning, nowMs: this.#ports.nowMs(), minuteMicro: this.#ports.minuteMicro })
    if (charged !== owed) this.#save({ owed: charged })
  }

  /** True if the pipeline is running and has something to send. */
  get #isWorking(): boolean {
    const { isFailed, isFinished, isRedelivering } = this.#state
    return this.#desired.isRunning && ((!isFailed && !isFinished) || isRedelivering)
  }

  /** Height from which the pipeline can wait for rows, if there are none now; null: it has something else to do. */
  get waitsFrom(): number | null {
    const { isFailed, isFinished, isRedelivering, arrivedLetter, flight, at, end, repair } = this.#state
    const isStopped = isFailed || isFinished || isRedelivering || arrivedLetter !== null
    const isBusy = isStopped || flight !== null || repair !== null
    if (isBusy || !this.#desired.isRunning || this.waitsFor !== null || end === 'undecided') return null
    return at && 'height' in at.place ? at.place.height : null
  }

  /** True if the last turn has read the newest block, and nothing has changed since then. */
  get isAtHead(): boolean {
    return this.#isAtHead && this.waitsFrom !== null
  }

  /** Moves the cursor past blocks that have nothing for the pipeline. Ignored if that is not certain. */
  skip({ from, last }: EmptyRange): void {
    const { at } = this.#state
    const next = this.waitsFrom
    const isOtherEpoch = at?.epoch && last.epoch && at.epoch !== last.epoch
    if (!at || next === null || next < from || next > last.height || isOtherEpoch) return
    this.#assembler = null
    this.#unsavedBlocks += last.height - next + 1
    const confirmed = { height: last.height, time: last.time }
    this.#state = { ...this.#state, at: afterBlock(at, last), confirmed, first: this.#state.first ?? next }
  }

  /**
   * Stores a cursor that has moved past blocks without rows. Asks the meter whether the key is still valid, and looks for
   * repairs, if due.
   */
  async rest(): Promise<void> {
    const { paidToMs = Number.NEGATIVE_INFINITY } = this.#state.owed
    // A report of each minute would cost the operator more than all else.
    if (this.#ports.nowMs() - paidToMs >= REST_CHARGE_MS) this.chargeMinutes()
    if (this.#unsavedBlocks > 0) this.#save({})
    if (this.#isWorking && this.#isSettleDue()) await this.#settle(true)
    // A pipeline without rows reads nothing, so this is where it finds repairs. A later call finds what this one does not.
    if (this.waitsFrom !== null && this.#isRepairCheckDue) await this.#findRepair().catch(() => undefined)
  }

  /** True if an amount has not been reported to the meter. */
  get isOwing(): boolean {
    return unreported(this.#state.owed) > 0
  }

  /** Applies a changed record. `change`: the part that changed. */
  applyDesired(order: DesiredState, change: 'none' | RecordChange): void {
    this.chargeMinutes()
    const { isFailed, owed } = this.#state
    const isWaiting = (this.#state.flight?.nextTryMs ?? 0) > 0 && !this.#isSending
    const isResumed = order.isRunning && (isFailed || isWaiting || !this.#desired.isRunning || owed.ended !== undefined)
    this.#desired = order
    const isRestarted = change === 'start' || change === 'chain'
    if (isRestarted) this.#restarts++
    if (change !== 'none') {
      this.#definitions++
      this.#readAtMs = 0
    }
    if (isRestarted) this.#discardBatch(restarted(this.#state, change === 'chain'))
    if (change === 'rows') this.#discardBatch({})
    if (change === 'end') this.#discardBatch({ end: 'undecided', isFinished: false })
    // Restart the attempts, and reopen the log, which may have been replaced.
    if (isResumed) {
      this.#assembler = null
      const { flight } = this.#state
      this.#save({ isFailed: false, flight: flight && { ...flight, attempts: 0, nextTryMs: 0 } })
    }
    if (isResumed) this.#repairsAtMs = Number.NEGATIVE_INFINITY
    if (order.isRunning) this.#recheckMeter()
    this.chargeMinutes()
  }

  /** Sends the dead letters again. */
  redeliver(): void {
    this.#failedLetterKey = null
    this.#save({ isRedelivering: true })
  }

  /** Bills this key for rows that were delivered outside a batch. */
  chargeRows(countedRows: number, by: KeyHash): void {
    this.#save({ owed: this.#billingWith(countedRows, by) })
  }

  /** Changes the paying key. The amount owed so far stays with the previous key. */
  changePayer(before: KeyHash): void {
    this.chargeMinutes()
    this.#save({ owed: transferDebt(this.#state.owed, before) })
  }

  /** Why this key cannot pay for rows outside a batch; null: it can. */
  async refusal(by: Payer = this.#ports.payer(), countedRows = 1): Promise<string | null> {
    const { rowMicro } = this.#ports
    if (this.#isFree) return null
    await this.#settle(false)
    const isAsked = by.hash !== this.#payer && !this.#isMeterDown
    const answer = isAsked ? await this.#ports.settle({ rows: 0, spent: 0 }, by.hash, 0).catch(() => null) : this.#meter
    if (answer === null) return `${METER_UNAVAILABLE}. Try again in a moment`
    if (answer.ended) return keyEndedMessage(by, answer.ended)
    const cost = countedRows * rowMicro
    return answer.available < cost ? unpaidMessage(answer, cost) : null
  }

  /** Runs one step. Returns the delay before the next; null: wait for a change. Never rejects. */
  async turn(): Promise<number | null> {
    try {
      this.#isAtHead = false
      this.chargeMinutes()
      const isWorking = this.#isWorking
      if (isWorking && this.#isSettleDue()) await this.#settle(true)
      const { waitsFor } = this
      const isUnpaid = isWorking && waitsFor !== null
      const waitMs = waitsFor === 'key' ? null : isUnpaid ? this.#unpaidMs : await this.#step()
      if (waitMs !== null) return waitMs
      if (unreported(this.#state.owed) > 0) await this.#settle(false)
      return unreported(this.#state.owed) > 0 ? METER_RETRY_MS : null
    } catch (error) {
      this.#assembler = null
      this.#batch = null
      return this.#onError(errorMessage(error), error instanceof FatalPipelineError)
    }
  }

  async #step(): Promise<number | null> {
    if (!this.#desired.isRunning) return null
    const { arrivedLetter } = this.#state
    // Remove it before another dead letter is stored under the same key.
    if (arrivedLetter !== null) {
      await this.#ports.removeDeadLetter(arrivedLetter)
      this.#save({ arrivedLetter: null })
    }
    if (this.#isLetterNext()) return this.#sendDeadLetter()
    const { isFailed, isFinished, flight } = this.#state
    if (isFailed || isFinished) return null
    const waitMs = (flight?.nextTryMs ?? 0) - this.#ports.nowMs()
    // A longer wait means that the clock was set back.
    if (waitMs > 0 && waitMs <= MAX_RETRY_AFTER_MS) return waitMs
    const nextMs = this.#batch === null ? await this.#read() : null
    if (nextMs !== null) return nextMs
    // The pipeline was paused in the meantime, with no batch in flight.
    if (!this.#desired.isRunning) return null
    // This is not an attempt at the destination: perhaps only the gateway is unavailable.
    await this.#ports.ready()
    if (!this.#desired.isRunning) return null
    const taken = this.#batch
    const { flight: started } = this.#state
    return taken === null || started === null ? 0 : this.#send(taken, started)
  }

  /** Reads the next batch. Null: a batch is ready to send; otherwise the delay. */
  async #read(): Promise<number | null> {
    const gatherMs = this.#readAtMs - this.#ports.nowMs()
    // Dead letters do not wait for rows to accumulate, and nothing waits after the clock was set back.
    if (gatherMs > 0 && gatherMs <= this.#desired.gatherMs) return this.#state.isRedelivering ? 0 : gatherMs
    const definitions = this.#definitions
    const at = this.#state.at ?? (await this.#ports.begin())
    const end = this.#state.end === 'undecided' ? await this.#ports.end() : this.#state.end
    if (definitions !== this.#definitions) return 0
    if (at === null || end === 'undecided') return BEGIN_RETRY_MS
    if (at !== this.#state.at || end !== this.#state.end) this.#save({ at, end })
    if (this.#isRepairCheckDue) await this.#findRepair()
    if (definitions !== this.#definitions) return 0
    const { flight, repair } = this.#state
    const assembler = this.#assembler ?? this.#ports.assembler(this.#state.at ?? at, flight, this.#state)
    this.#assembler = assembler
    const { maxRows: rows, maxChars: chars, readMs } = this.#desired
    const limits = { rows, chars, blocks: this.#maxBlocks, untilMs: this.#ports.nowMs() + readMs }
    const found = await assembler.take(repair ? { height: repair.readTo } : end, flight?.to ?? null, limits)
    if (definitions !== this.#definitions) return 0
    const taken = found && repair ? { ...found, repair: repair.id } : found
    if (taken === null) this.#isAtHead = assembler.retryMs === 0
    if (taken === null) return Math.max(this.#nextBlockMs(at), assembler.retryMs)
    if (taken.rows.length === 0) return this.#skipEmpty(taken)
    const { from, to } = taken
    const { ordersFrom } = assembler
    this.#batch = taken
    this.#isUnsent = flight === null
    // The range is stored at the first attempt. Until then, the batch may be read again, or cut.
    this.#state = { ...this.#state, flight: flight ?? { from, to, attempts: 0, nextTryMs: 0, ordersFrom } }
    return null
  }

  get #isRepairCheckDue(): boolean {
    const { flight, repair } = this.#state
    const sinceMs = Math.abs(this.#ports.nowMs() - this.#repairsAtMs)
    return flight === null && repair === null && sinceMs >= REPAIRS_EVERY_MS
  }

  /** Looks for heights that were repaired behind the cursor, and turns to them. Repairs ahead of it are left to it. */
  async #findRepair(): Promise<void> {
    const definitions = this.#definitions
    for (let count = 0; count < MAX_REPAIRS; count++) {
      const { repairedTo } = this.#state
      const found = await this.#ports.repairAfter(repairedTo)
      if (definitions !== this.#definitions) return
      if (found === null || repairedTo === null) this.#repairsAtMs = this.#ports.nowMs()
      const change = afterFinding(this.#state, found)
      // The assembler may have read these heights as a gap already.
      if (found) this.#assembler = null
      if (Object.keys(change).length > 0) this.#save(change)
      if (found === null || repairedTo === null || this.#state.repair !== null) return
    }
  }

  /** Delay until the next block may be available. */
  #nextBlockMs({ place }: ReaderState): number {
    if ('first' in place) return BEGIN_RETRY_MS
    const startMs = 'timeMs' in place ? place.timeMs - this.#ports.nowMs() : 0
    return Math.min(Math.max(POLL_MS, startMs), MAX_BEGIN_MS)
  }

  /** Skips blocks that have no rows. */
  #skipEmpty(taken: AssembledBatch): number | null {
    if (taken.to < taken.from) {
      const { repair, at } = this.#state
      if (repair === null) this.#save({ isFinished: true, ...this.#withoutError() })
      else this.#discardBatch(afterRepair(this.#state, at))
      return repair === null ? null : 0
    }
    this.#unsavedBlocks += taken.to - taken.from + 1
    // An error of a batch stays, because the destination has confirmed nothing.
    const health = this.#state.lastError?.isOfBatch ? {} : this.#withoutError()
    const isSaved =
      this.#unsavedBlocks >= MAX_UNSAVED_BLOCKS || taken.isEnd || this.#state.flight !== null || 'lastError' in health
    this.#acknowledge(taken, { flight: null, ...health }, isSaved)
    return this.#nextDelayMs(taken)
  }

  /** Sends the batch in flight if it can be paid for. */
  async #send(taken: DeliveredBatch, flight: BatchInFlight): Promise<number | null> {
    const begins = this.#restarts
    const definitions = this.#definitions
    if (flight.attempts >= MAX_ATTEMPTS && this.#desired.onFailure === 'dead_letter')
      return this.#giveUp(taken, flight, this.#state.lastError?.words ?? 'The last attempt was interrupted')
    const attempts = flight.attempts + 1
    const nextTryMs = this.#ports.nowMs() + backoffMs(RETRY, flight.attempts, this.#ports.random())
    // The attempt is counted before it runs, so that one interrupted by a restart counts too.
    this.#save({ flight: { ...flight, attempts, nextTryMs } })
    const payer = this.#payer
    const outcome = await this.#whileSending(payer, (affords) => this.#ports.send(taken, affords))
    const isAsRead = definitions === this.#definitions
    // The pipeline was restarted during the attempt, so only the delivered rows are billed.
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

  /** Runs work that sends to the destination, limited to what the key can pay for. */
  async #whileSending<T>(payer: KeyHash, work: (affords: CanAfford) => Promise<T>): Promise<T> {
    this.#isSending = true
    return work((rows) => this.#canAfford(rows, payer)).finally(() => {
      this.#isSending = false
    })
  }

  /** The balance does not cover these rows: try fewer blocks, or wait. `flight`: the state before the attempt. */
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

  async #giveUp(taken: DeliveredBatch, flight: BatchInFlight, words: string): Promise<number | null> {
    if (this.#desired.onFailure === 'pause' || this.#state.deadLetters >= MAX_DEAD_LETTERS) {
      this.#ports.log('error', `Gave up on the batch; the pipeline is waiting: ${words}`, taken)
      this.#save({ isFailed: true })
      return null
    }
    const begins = this.#restarts
    const definitions = this.#definitions
    // Make no more attempts after this, or the batch could arrive and also become a dead letter.
    this.#save({ flight: { ...flight, attempts: MAX_ATTEMPTS, nextTryMs: 0 } })
    await this.#ports.putDeadLetter(taken)
    const deadLetters = this.#state.deadLetters + 1
    this.#ports.log('error', `Gave up on the batch and stored it as a dead letter: ${words}`, taken)
    if (begins !== this.#restarts) this.#save({ deadLetters })
    else this.#acknowledge(withKnownEnd(definitions === this.#definitions, taken), { flight: null, deadLetters })
    return 0
  }

  /** Moves the cursor past a batch. */
  #acknowledge({ from, to, after, isEnd }: AssembledBatch, change: Partial<DeliveryState>, isSaved = true): void {
    this.#batch = null
    if (this.#state.repair) {
      if (isEnd) this.#assembler = null
      return this.#save({ ...change, ...(isEnd ? afterRepair(this.#state, after) : { at: after }) })
    }
    const first = this.#state.first ?? from
    const moved = { ...change, at: after, confirmed: { height: to, time: after.timeMs }, isFinished: isEnd, first }
    if (isEnd) this.#ports.log('info', `Reached the end of the pipeline at block ${to}`, null)
    if (isSaved) this.#save(moved)
    else this.#state = { ...this.#state, ...moved }
  }

  /** Delay until more blocks may be available. */
  #nextDelayMs({ isEnd, isHead }: AssembledBatch): number | null {
    if (isEnd) return this.#state.isFinished ? null : 0
    // The cursor reads the heights of a repair ahead of it only if it knows the repair.
    if (!isHead) this.#repairsAtMs = Number.NEGATIVE_INFINITY
    if (!isHead) return 0
    this.#isAtHead = true
    const { gatherMs } = this.#desired
    this.#readAtMs = this.#ports.nowMs() + gatherMs
    return gatherMs || POLL_MS
  }

  /** Whether a dead letter is next. After a failed dead letter, live rows go first once. */
  #isLetterNext(): boolean {
    const { isRedelivering, flight, isFailed, isFinished } = this.#state
    const isLiveNext = this.#isLiveNext && !isFailed && !isFinished
    this.#isLiveNext = false
    return isRedelivering && (flight === null || isFailed) && !isLiveNext
  }

  /** Sends the oldest dead letter; returns the delay before the next turn. */
  async #sendDeadLetter(): Promise<number> {
    await this.#ports.ready()
    const payer = this.#payer
    const outcome = await this.#whileSending(payer, (affords) =>
      this.#ports.sendDeadLetter(this.#failedLetterKey, affords),
    ).catch(
      // Unreadable dead letters end the redelivery.
      (error: unknown) =>
        ({ ok: false, message: errorMessage(error), key: null }) satisfies DeliveryFailure & { key: null },
    )
    if (outcome?.ok) {
      const { deadLetters, isFailed } = this.#state
      this.#ports.log('info', `Delivered a dead letter: ${outcome.rows} rows`, outcome)
      this.#save({
        ...this.#countRows(outcome.rows, outcome, payer),
        deadLetters: Math.max(0, deadLetters - 1),
        arrivedLetter: outcome.key,
        // The error of a different failed batch is kept.
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
    if (outcome) this.#recordFailure(`A dead letter could not be delivered: ${outcome.message}`, null)
    if (outcome?.key) this.#failedLetterKey = outcome.key
    else {
      const isNoneLeft = outcome === null && this.#failedLetterKey === null
      this.#save({ isRedelivering: false, ...(isNoneLeft && { deadLetters: 0 }) })
    }
    return 0
  }

  /** Totals and billing after a delivered batch. */
  #countRows(count: number, { bytes, billedRows }: DeliverySuccess, payer: KeyHash): Partial<DeliveryState> {
    const { rows, bytes: before, batches } = this.#state
    this.#ports.count({ rows: count, bytes, batches: 1 })
    const owed = this.#billingWith(billedRows, payer)
    return { rows: rows + count, bytes: before + bytes, batches: batches + 1, owed }
  }

  /** Hash of the current payer. */
  get #payer(): KeyHash {
    return this.#ports.payer().hash
  }

  /** Billing after this key delivered more rows. */
  #billingWith(countedRows: number, by: KeyHash): BillingState {
    const { owed } = this.#state
    const { rowMicro } = this.#ports
    if (by === this.#payer) return addRows(owed, countedRows, rowMicro)
    return transferDebt(addRows(transferDebt(owed, this.#payer), countedRows, rowMicro), by)
  }

  /** Whether this key can pay for these rows. Called before they are sent. */
  async #canAfford(countedRows: number, by: KeyHash): Promise<boolean> {
    const cost = countedRows * this.#ports.rowMicro
    // While the meter is unavailable, batches continue up to a limited debt, and the meter is asked between them.
    if (cost === 0 || this.#isMeterDown) return true
    const { available = 0, of } = this.#meter ?? {}
    if (of === by && by === this.#payer && unreported(this.#state.owed) + cost <= available / AMPLE) return true
    await this.#settle(true, cost)
    if (by !== this.#payer || this.waitsFor !== null) return false
    return this.#meter === null || this.#meter.available >= cost
  }

  /** Waits until this key can pay for this many rows, because the next batch cannot have fewer. */
  #waitForCredits(needs: number, by: KeyHash): void {
    if (this.waitsFor !== null || by !== this.#payer) return
    this.#saveBilling({ ...this.#state.owed, needs, askAtMs: this.#ports.nowMs() + UNPAID_RETRY_MS })
  }

  /** Delay before the meter is asked again. */
  get #unpaidMs(): number {
    return Math.max(0, (this.#state.owed.askAtMs ?? this.#settledMs + METER_RETRY_MS) - this.#ports.nowMs())
  }

  /** Asks the meter immediately if the key was unpaid or ended, or the meter was unavailable. */
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
    // Here and below, a longer wait means that the clock was set back.
    if (owed.askAtMs !== null) return waitMs <= 0 || waitMs > UNPAID_RETRY_MS
    const sinceMs = Math.abs(nowMs - this.#settledMs)
    if (this.#isMeterDown) return sinceMs >= METER_RETRY_MS
    if (this.#meter?.of !== this.#payer || this.#isShort || owed.debts || sinceMs >= KEY_CHECK_MS) return true
    return unreported(owed) > 0 && isReportDue(unreported(owed), sinceMs, this.#meter.available)
  }

  /** True if the balance does not cover the cheapest possible next batch. */
  get #isShort(): boolean {
    return this.#meter !== null && this.#meter.available < this.#minimumCost(this.#state.owed)
  }

  #minimumCost({ needs = 1 }: BillingState): MicroCredits {
    return Math.max(needs * this.#ports.rowMicro, this.#ports.minuteMicro)
  }

  /** Reports what is owed, other keys first, and applies the meter's response for the current payer. */
  async #settle(isForBatch: boolean, hold: MicroCredits = 0): Promise<void> {
    const wasAway = this.#isMeterDown
    this.#settledMs = this.#ports.nowMs()
    const { rows, spent, debts = [] } = this.#state.owed
    const { by, ...sums } = debts[0] ?? { by: this.#payer, rows, spent }
    const answer = await this.#ports.settle(sums, by, hold).catch(() => null)
    this.#isMeterDown = answer === null
    const before = this.#state.owed
    const told = answer === null ? before : markReported(before, sums.spent)
    // This report was for another key: continue until the current payer's response.
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

  /** Stores the billing state and reports its consequences to the owner. */
  #saveBilling(owed: BillingState, awayWords: string | null = null): void {
    const before = this.#state.owed
    const isUnpaidNow = before.askAtMs === null && owed.askAtMs !== null
    const words = awayWords ?? (isUnpaidNow && this.#meter ? unpaidMessage(this.#meter, this.#minimumCost(owed)) : null)
    const isPaidAgain = before.askAtMs !== null && owed.askAtMs === null
    if (owed.ended && !before.ended) this.#ports.log('warn', owed.ended.words, null)
    if (words !== null) this.#ports.log('warn', words, null)
    if (isPaidAgain) this.#ports.log('info', 'Credits are available again; resuming', null)
    const isSame = owed.told === before.told && owed.askAtMs === before.askAtMs && owed.ended === before.ended
    if (words !== null) this.#save({ owed, ...this.#withError(words, false) })
    else if (isPaidAgain) this.#save({ owed, ...this.#withoutError() })
    else if (!isSame) this.#save({ owed })
  }

  /** Discards the batch in flight, so that it is read again. */
  #discardBatch(change: Partial<DeliveryState>): void {
    this.#assembler = null
    this.#batch = null
    this.#save({ flight: null, isFailed: false, ...change })
  }

  #save(change: Partial<DeliveryState>): void {
    const state = { ...this.#state, ...change }
    this.#ports.save(state)
    this.#state = state
    this.#unsavedBlocks = 0
  }

  /** Handles an error of a turn. A fatal error stops the pipeline until its record changes. */
  #onError(words: string, isForGood: boolean): number | null {
    try {
      if (isForGood) {
        this.#ports.log('error', `The pipeline cannot run until its configuration changes: ${words}`, null)
        this.#save({ isFailed: true, ...this.#withError(words, false) })
        return null
      }
      this.#recordFailure(words, null)
    } catch {
      // Reading is retried even if the error cannot be stored.
    }
    return READ_RETRY_MS
  }

  /** Logs and stores a failure. A repeated error is logged once. */
  #recordFailure(words: string, batch: BatchRange | null, isCounted = true): void {
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

  /** Clears the error once delivery or reading progresses, except while the meter is unavailable. */
  #withoutError(): Partial<DeliveryState> {
    const { lastError } = this.#state
    if (this.#isMeterDown || lastError === null) return {}
    const { sinceMs, words } = lastError
    return { lastError: null, lastIncident: { sinceMs, words, untilMs: this.#ports.nowMs() } }
  }
}

/** If the record changed since reading, the pipeline may have a different end. */
type DeliveredBatch = AssembledBatch & BatchRange

const withKnownEnd = (isAsRead: boolean, taken: AssembledBatch): AssembledBatch =>
  isAsRead ? taken : { ...taken, isEnd: false }
