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
import type { Confirmed, Failed } from '../destinations/batch.ts'
import { CannotRun } from '../pipeline.ts'
import type { SinkPhase } from '../sink-api.ts'
import type { Taken } from './assembling.ts'
import {
  type Affords,
  type Answer,
  AWAY,
  begunAnew,
  type DeliveryPorts,
  type DeliveryState,
  endedWords,
  type Flight,
  handedOver,
  type Order,
  type Owed,
  owing,
  type Parcel,
  type Payer,
  toldOf,
  unpaidWords,
  withRows,
  wordsOfError,
} from './delivery-state.ts'

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
/** The meter is asked so often whether the key still works, also where nothing is owed or rows are free. */
const LOOK_EVERY_MS = 20_000
/** So much may be owed while the meter does not answer; one batch more may be on its way. */
const OWED_MOST: MicroCredits = REPORT_AT
const ASK_AGAIN_MS = 60_000

export class Delivery {
  readonly #ports: DeliveryPorts
  #state: DeliveryState
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
  /** What the meter said last, and of which key; null: nothing yet, or it did not answer. */
  #answer: (Answer & { readonly of: string }) | null = null
  #askedMs = Number.NEGATIVE_INFINITY
  /** The meter did not answer when it was last asked. */
  #isAway = false

  constructor(ports: DeliveryPorts, state: DeliveryState, order: Order) {
    this.#ports = ports
    this.#state = state
    this.#order = order
  }

  get state(): DeliveryState {
    return this.#state
  }

  /** What it is doing, in a word for its owner. `lagMs`: how far the destination is behind the log; null: that is not known. */
  phase(lagMs: number | null): SinkPhase {
    const { isFailed, isFinished, flight, at } = this.#state
    const { waitsFor } = this
    if (!this.#order.isRunning || waitsFor === 'key') return this.#isSending ? 'pausing' : 'paused'
    if (this.#isWorking && waitsFor) return waitsFor === 'credits' ? 'unpaid' : 'retrying'
    if (isFailed) return 'failed'
    if (isFinished) return 'finished'
    if (flight && (this.#isSending ? flight.attempts > 1 : flight.attempts > 0 || flight.nextTryMs > 0))
      return 'retrying'
    if (at === null) return 'idle'
    return lagMs === null || lagMs > LIVE_MS + this.#order.gatherMs ? 'backfilling' : 'live'
  }

  /** What keeps the next batch from being sent. */
  get waitsFor(): 'credits' | 'meter' | 'key' | null {
    const { owed } = this.#state
    if (owed.ended) return 'key'
    if (this.#ports.rowMicro === 0) return null
    if (owed.askAtMs !== null) return 'credits'
    return this.#isAway && owing(owed) >= OWED_MOST ? 'meter' : null
  }

  /** There is something that may be sent. */
  get #isWorking(): boolean {
    const { isFailed, isFinished, isRedelivering } = this.#state
    return this.#order.isRunning && ((!isFailed && !isFinished) || isRedelivering)
  }

  /** The record has changed: what it wants now, and what of it is another thing than it was. */
  ordered(order: Order, change: 'none' | 'end' | 'rows' | 'start'): void {
    const { isFailed, owed } = this.#state
    const isWaiting = (this.#state.flight?.nextTryMs ?? 0) > 0 && !this.#isSending
    const isResumed = order.isRunning && (isFailed || isWaiting || !this.#order.isRunning || owed.ended !== undefined)
    this.#order = order
    if (change === 'start') this.#begins++
    if (change !== 'none') {
      this.#definitions++
      this.#readAtMs = 0
    }
    if (change === 'start') this.#drop(begunAnew(this.#state))
    if (change === 'rows') this.#drop({})
    if (change === 'end') this.#drop({ end: 'undecided', isFinished: false })
    // From its first try; the log may have become another meanwhile.
    if (isResumed) {
      this.#assembler = null
      const { flight } = this.#state
      this.#save({ isFailed: false, flight: flight && { ...flight, attempts: 0, nextTryMs: 0 } })
    }
    if (order.isRunning) this.#askAnew()
  }

  /** Dead letters are to be sent once more. */
  redeliver(): void {
    this.#failedKey = null
    this.#save({ isRedelivering: true })
  }

  /** Rows that arrived beside the batches, and are to be paid for like theirs, by this key. */
  arrived(countedRows: number, by: KeyHash): void {
    this.#save({ owed: this.#owedWith(countedRows, by) })
  }

  /** The pipeline has another key now: what is owed so far stays with the one before. */
  handOver(before: KeyHash): void {
    this.#save({ owed: handedOver(this.#state.owed, before) })
  }

  /** Asks for so many rows beside the batches, for which this key pays; the words say why there are to be none. */
  async refusal(by: Payer = this.#ports.payer(), countedRows = 1): Promise<string | null> {
    const { rowMicro } = this.#ports
    if (rowMicro === 0) return null
    await this.#settle(false)
    const isAsked = by.hash !== this.#payer && !this.#isAway
    const answer = isAsked
      ? await this.#ports.settle({ rows: 0, spent: 0 }, by.hash, 0).catch(() => null)
      : this.#answer
    if (answer === null) return `${AWAY}: send this again in a moment`
    if (answer.ended) return endedWords(by, answer.ended)
    const cost = countedRows * rowMicro
    return answer.available < cost ? unpaidWords(answer, cost) : null
  }

  /** One step; answers after how long the next is due, null: when something changes. Never rejects. */
  async turn(): Promise<number | null> {
    try {
      const isWorking = this.#isWorking
      if (isWorking && this.#isDue()) await this.#settle(true)
      const { waitsFor } = this
      const isUnpaid = isWorking && waitsFor !== null
      const waitMs = waitsFor === 'key' ? null : isUnpaid ? this.#unpaidMs : await this.#step()
      if (waitMs !== null) return waitMs
      if (owing(this.#state.owed) > 0) await this.#settle(false)
      return owing(this.#state.owed) > 0 ? REPORT_EVERY_MS : null
    } catch (error) {
      this.#assembler = null
      this.#taken = null
      return this.#stopped(wordsOfError(error), error instanceof CannotRun)
    }
  }

  async #step(): Promise<number | null> {
    if (!this.#order.isRunning) return null
    const { arrivedLetter } = this.#state
    // Before another one is put there under its name.
    if (arrivedLetter !== null) {
      await this.#ports.removeLetter(arrivedLetter)
      this.#save({ arrivedLetter: null })
    }
    if (this.#isLetterNext()) return this.#sendLetter()
    const { isFailed, isFinished, flight } = this.#state
    if (isFailed || isFinished) return null
    const waitMs = (flight?.nextTryMs ?? 0) - this.#ports.nowMs()
    // Of a longer time the clock went back.
    if (waitMs > 0 && waitMs <= RETRY_AFTER_MOST_MS) return waitMs
    const nextMs = this.#taken === null ? await this.#read() : null
    if (nextMs !== null) return nextMs
    // Paused meanwhile: nothing is in flight yet.
    if (!this.#order.isRunning) return null
    // Of no try that the destination has: the gateway alone may be away.
    await this.#ports.ready()
    if (!this.#order.isRunning) return null
    const taken = this.#taken
    const { flight: begun } = this.#state
    return taken === null || begun === null ? 0 : this.#send(taken, begun)
  }

  /** Takes the next batch; null: there is one to be sent. */
  async #read(): Promise<number | null> {
    const gatherMs = this.#readAtMs - this.#ports.nowMs()
    // Dead letters need not wait for what is live meanwhile, nor anybody for a clock that went back.
    if (gatherMs > 0 && gatherMs <= this.#order.gatherMs) return this.#state.isRedelivering ? 0 : gatherMs
    const definitions = this.#definitions
    const at = this.#state.at ?? (await this.#ports.begin())
    const end = this.#state.end === 'undecided' ? await this.#ports.end() : this.#state.end
    if (definitions !== this.#definitions) return 0
    if (at === null || end === 'undecided') return POLL_MS
    if (at !== this.#state.at || end !== this.#state.end) this.#save({ at, end })
    const { flight } = this.#state
    const assembler = this.#assembler ?? this.#ports.assembler(at, flight)
    this.#assembler = assembler
    const { rowsMost: rows, charsMost: chars, readMs } = this.#order
    const most = { rows, chars, blocks: this.#blocksMost, untilMs: this.#ports.nowMs() + readMs }
    const taken = await assembler.take(end, flight?.to ?? null, most)
    if (definitions !== this.#definitions) return 0
    if (taken === null) return Math.max(POLL_MS, assembler.retryMs)
    if (taken.rows.length === 0) return this.#passed(taken)
    const { from, to } = taken
    const { ordersFrom } = assembler
    this.#taken = taken
    this.#isUnsent = flight === null
    // Sealed with its first try: until then it may be read anew, or cut.
    this.#state = { ...this.#state, flight: flight ?? { from, to, attempts: 0, nextTryMs: 0, ordersFrom } }
    return null
  }

  /** Nothing of it is for the destination. */
  #passed(taken: Taken): number | null {
    if (taken.to < taken.from) {
      this.#save({ isFinished: true, ...this.#healed() })
      return null
    }
    this.#unsaved += taken.to - taken.from + 1
    // No destination has said anything to this.
    const health = this.#state.lastError?.isOfBatch ? {} : this.#healed()
    const isSaved =
      this.#unsaved >= UNSAVED_BLOCKS || taken.isEnd || this.#state.flight !== null || 'lastError' in health
    this.#acknowledge(taken, { flight: null, ...health }, isSaved)
    return this.#behind(taken)
  }

  /** Sends the batch in flight, if it can be paid for. */
  async #send(taken: Taken, flight: Flight): Promise<number | null> {
    const begins = this.#begins
    const definitions = this.#definitions
    if (flight.attempts >= TRIES && this.#order.onFailure === 'dead_letter')
      return this.#giveUp(taken, flight, this.#state.lastError?.words ?? 'it ended amid its last try')
    const attempts = flight.attempts + 1
    const nextTryMs = this.#ports.nowMs() + backoffMs(RETRY, flight.attempts, this.#ports.random())
    // Counted before it is made: one that ends with the object was one.
    this.#save({ flight: { ...flight, attempts, nextTryMs } })
    const payer = this.#payer
    const outcome = await this.#sending(payer, (affords) => this.#ports.send(taken, affords))
    const isAsRead = definitions === this.#definitions
    // It begins elsewhere now: what came of this is of no matter, but that it came.
    if (begins !== this.#begins) {
      if (outcome.ok) this.arrived(outcome.countedRows, payer)
      return 0
    }
    if (outcome.ok) {
      this.#blocksMost = Math.min(BLOCKS_MOST, 2 * this.#blocksMost)
      const counted = this.#counted(taken.rows.length, outcome, payer)
      const batch = endingIf(isAsRead, taken)
      this.#acknowledge(batch, { ...counted, ...this.#healed(), flight: null })
      return this.#behind(batch)
    }
    const { words, retryAfterMs = 0, isUntried = false, unpaidRows, isFinal } = outcome
    this.#isUnsent &&= isUntried
    if (unpaidRows !== undefined && isAsRead) return this.#unpaid(unpaidRows, flight, payer)
    this.#told(words, isUntried ? null : taken, !isUntried)
    if (!isAsRead) return 0
    if (!isUntried && (isFinal || attempts >= TRIES)) return this.#giveUp(taken, flight, words)
    const laterMs = this.#ports.nowMs() + Math.min(retryAfterMs, RETRY_AFTER_MOST_MS)
    const next = isUntried
      ? { ...flight, nextTryMs: laterMs }
      : { ...flight, attempts, nextTryMs: Math.max(nextTryMs, laterMs) }
    this.#save({ flight: next })
    return next.nextTryMs - this.#ports.nowMs()
  }

  /** Work that the destination sees, as far as this key can pay for it. */
  async #sending<T>(payer: KeyHash, work: (affords: Affords) => Promise<T>): Promise<T> {
    this.#isSending = true
    return work((rows) => this.#affords(rows, payer)).finally(() => {
      this.#isSending = false
    })
  }

  /** The credits do not pay for these rows: it tries fewer blocks, or waits. `flight`: as it was. */
  #unpaid(rows: number, flight: Flight, payer: KeyHash): 0 {
    const blocks = Math.min(this.#blocksMost, flight.to - flight.from + 1)
    if (this.#isUnsent && blocks > 1 && this.waitsFor === null) {
      this.#blocksMost = Math.floor(blocks / 2)
      this.#drop({})
      return 0
    }
    this.#save({ flight })
    this.#waitFor(rows, payer)
    return 0
  }

  async #giveUp(taken: Taken, flight: Flight, words: string): Promise<number | null> {
    if (this.#order.onFailure === 'pause' || this.#state.deadLetters >= LETTERS_MOST) {
      this.#ports.log('error', `given up, and the pipeline waits: ${words}`, taken)
      this.#save({ isFailed: true })
      return null
    }
    const begins = this.#begins
    const definitions = this.#definitions
    // From here on it is not tried any more: it would arrive, and lie there too.
    this.#save({ flight: { ...flight, attempts: TRIES, nextTryMs: 0 } })
    await this.#ports.bury(taken)
    const deadLetters = this.#state.deadLetters + 1
    this.#ports.log('error', `given up, and set aside as a dead letter: ${words}`, taken)
    if (begins !== this.#begins) this.#save({ deadLetters })
    else this.#acknowledge(endingIf(definitions === this.#definitions, taken), { flight: null, deadLetters })
    return 0
  }

  /** The cursor moves behind a batch. */
  #acknowledge({ to, after, isEnd }: Taken, change: Partial<DeliveryState>, isSaved = true): void {
    this.#taken = null
    const moved = { ...change, at: after, confirmed: { height: to, time: after.timeMs }, isFinished: isEnd }
    if (isEnd) this.#ports.log('info', `it has come to its end, block ${to}`, null)
    if (isSaved) {
      this.#save(moved)
      this.#unsaved = 0
    } else this.#state = { ...this.#state, ...moved }
  }

  /** After how long there may be more. */
  #behind({ isEnd, isHead }: Taken): number | null {
    if (isEnd) return null
    if (!isHead) return 0
    const { gatherMs } = this.#order
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
  async #sendLetter(): Promise<number> {
    await this.#ports.ready()
    const payer = this.#payer
    const outcome = await this.#sending(payer, (affords) => this.#ports.unbury(this.#failedKey, affords)).catch(
      // Where they cannot be read, that ends it.
      (error: unknown) => ({ ok: false, words: wordsOfError(error), key: null }) satisfies Failed & { key: null },
    )
    if (outcome?.ok) {
      const { deadLetters, isFailed } = this.#state
      this.#ports.log('info', `a dead letter arrived: ${outcome.rows} rows`, outcome)
      this.#save({
        ...this.#counted(outcome.rows, outcome, payer),
        deadLetters: Math.max(0, deadLetters - 1),
        arrivedLetter: outcome.key,
        // Another batch that failed waits on.
        ...(!isFailed && this.#healed()),
      })
      return 0
    }
    const { unpaidRows, isUntried, retryAfterMs = 0 }: Partial<Failed> = outcome ?? {}
    this.#isLiveNext = isUntried === true || Boolean(outcome?.key)
    if (isUntried) {
      if (unpaidRows !== undefined) this.#waitFor(unpaidRows, payer)
      return retryAfterMs
    }
    if (outcome) this.#told(`a dead letter did not arrive: ${outcome.words}`, null)
    if (outcome?.key) this.#failedKey = outcome.key
    else {
      const isNoneLeft = outcome === null && this.#failedKey === null
      this.#save({ isRedelivering: false, ...(isNoneLeft && { deadLetters: 0 }) })
    }
    return 0
  }

  /** Sums with a batch that arrived, and what is owed with it. */
  #counted(count: number, { bytes, countedRows }: Confirmed, payer: KeyHash): Partial<DeliveryState> {
    const { rows, bytes: before, batches } = this.#state
    this.#ports.count({ rows: count, bytes, batches: 1 })
    const owed = this.#owedWith(countedRows, payer)
    return { rows: rows + count, bytes: before + bytes, batches: batches + 1, owed }
  }

  /** Hash of the key that pays for what is begun now. */
  get #payer(): KeyHash {
    return this.#ports.payer().hash
  }

  /** With so many rows more, which this key owes. */
  #owedWith(countedRows: number, by: KeyHash): Owed {
    const { owed } = this.#state
    const { rowMicro } = this.#ports
    if (by === this.#payer) return withRows(owed, countedRows, rowMicro)
    return handedOver(withRows(handedOver(owed, this.#payer), countedRows, rowMicro), by)
  }

  /** Whether what is left pays for so many rows, which this key is to owe once they arrive. Asked before they are sent. */
  async #affords(countedRows: number, by: KeyHash): Promise<boolean> {
    const cost = countedRows * this.#ports.rowMicro
    // While the meter is away it is asked between batches, and so much may be owed.
    if (cost === 0 || this.#isAway) return true
    const { available = 0, of } = this.#answer ?? {}
    if (of === by && by === this.#payer && owing(this.#state.owed) + cost <= available / AMPLE) return true
    await this.#settle(true, cost)
    if (by !== this.#payer || this.waitsFor !== null) return false
    return this.#answer === null || this.#answer.available >= cost
  }

  /** Waits until this key can pay for so many rows: the next batch cannot have fewer. */
  #waitFor(needs: number, by: KeyHash): void {
    if (this.waitsFor !== null || by !== this.#payer) return
    this.#owe({ ...this.#state.owed, needs, askAtMs: this.#ports.nowMs() + ASK_AGAIN_MS })
  }

  /** The meter is asked again after this time. */
  get #unpaidMs(): number {
    return Math.max(0, (this.#state.owed.askAtMs ?? this.#askedMs + REPORT_EVERY_MS) - this.#ports.nowMs())
  }

  /** The meter is to be asked at once about a key that had no credits or had ended, or where it did not answer. */
  #askAnew(): void {
    if (this.#isAway) this.#askedMs = Number.NEGATIVE_INFINITY
    const { ended, needs: _, ...owed } = this.#state.owed
    if (ended) this.#answer = null
    const askAtMs = owed.askAtMs === null ? null : 0
    if (ended || askAtMs === 0) this.#save({ owed: { ...owed, askAtMs } })
  }

  #isDue(): boolean {
    const nowMs = this.#ports.nowMs()
    const { owed } = this.#state
    const waitMs = (owed.askAtMs ?? 0) - nowMs
    // Of a longer time the clock went back, here and below.
    if (owed.askAtMs !== null) return waitMs <= 0 || waitMs > ASK_AGAIN_MS
    const sinceMs = Math.abs(nowMs - this.#askedMs)
    if (this.#isAway) return sinceMs >= REPORT_EVERY_MS
    if (this.#answer?.of !== this.#payer || this.#isShort || owed.debts || sinceMs >= LOOK_EVERY_MS) return true
    return owing(owed) > 0 && isReportDue(owing(owed), sinceMs, this.#answer.available)
  }

  /** The balance does not cover the cheapest possible next batch. */
  get #isShort(): boolean {
    return this.#answer !== null && this.#answer.available < this.#leastCost(this.#state.owed)
  }

  #leastCost({ needs = 1 }: Owed): MicroCredits {
    return needs * this.#ports.rowMicro
  }

  /** Reports what is owed, that of other keys first, and takes in what the meter says of the pipeline's own. */
  async #settle(isForBatch: boolean, hold: MicroCredits = 0): Promise<void> {
    const wasAway = this.#isAway
    this.#askedMs = this.#ports.nowMs()
    const { rows, spent, debts = [] } = this.#state.owed
    const { by, ...sums } = debts[0] ?? { by: this.#payer, rows, spent }
    const answer = await this.#ports.settle(sums, by, hold).catch(() => null)
    this.#isAway = answer === null
    const before = this.#state.owed
    const told = answer === null ? before : toldOf(before, sums.spent)
    // Another key owed that: what the meter says of the pipeline's own is still to be heard.
    if (answer !== null && (by !== this.#payer || told.debts)) {
      this.#save({ owed: told })
      return this.#settle(isForBatch, hold)
    }
    this.#answer = answer && { ...answer, of: by }
    const isUnpaid = this.#isAway ? before.askAtMs !== null : this.#isShort
    const askAtMs = isUnpaid ? this.#ports.nowMs() + ASK_AGAIN_MS : null
    const { needs: _, ...paid } = told
    const kept = isForBatch ? { ...(isUnpaid ? told : paid), askAtMs } : told
    const ended = answer?.ended && {
      ended: { atMs: this.#ports.nowMs(), words: endedWords(this.#ports.payer(), answer.ended) },
    }
    this.#owe({ ...kept, ...ended }, this.#isAway && !wasAway ? AWAY : null)
  }

  /** Stores what is owed, and says what that means for the owner. */
  #owe(owed: Owed, awayWords: string | null = null): void {
    const before = this.#state.owed
    const isUnpaidNow = before.askAtMs === null && owed.askAtMs !== null
    const words = awayWords ?? (isUnpaidNow && this.#answer ? unpaidWords(this.#answer, this.#leastCost(owed)) : null)
    const isPaidAgain = before.askAtMs !== null && owed.askAtMs === null
    if (owed.ended && !before.ended) this.#ports.log('warn', owed.ended.words, null)
    if (words !== null) this.#ports.log('warn', words, null)
    if (isPaidAgain) this.#ports.log('info', 'there are credits: it goes on', null)
    const isSame = owed.told === before.told && owed.askAtMs === before.askAtMs && owed.ended === before.ended
    if (words !== null) this.#save({ owed, ...this.#troubled(words, false) })
    else if (isPaidAgain) this.#save({ owed, ...this.#healed() })
    else if (!isSame) this.#save({ owed })
  }

  /** The batch in flight is read anew, unless it is under way. */
  #drop(change: Partial<DeliveryState>): void {
    this.#assembler = null
    this.#taken = null
    this.#save({ flight: null, isFailed: false, ...change })
  }

  #save(change: Partial<DeliveryState>): void {
    const state = { ...this.#state, ...change }
    this.#ports.save(state)
    this.#state = state
  }

  /** A turn ended with an error: where it cannot run it waits for its record to be changed. */
  #stopped(words: string, isForGood: boolean): number | null {
    try {
      if (isForGood) {
        this.#ports.log('error', `it cannot run, and waits for its record to be changed: ${words}`, null)
        this.#save({ isFailed: true, ...this.#troubled(words, false) })
        return null
      }
      this.#told(words, null)
    } catch {
      // What cannot be stored cannot be said either. It is read again all the same.
    }
    return READ_AGAIN_MS
  }

  /** Says what goes wrong, and stores it. What goes on is one line. */
  #told(words: string, batch: Pick<Parcel, 'from' | 'to'> | null, isCounted = true): void {
    if (isCounted) this.#ports.count({ failures: 1 })
    const { lastError } = this.#state
    const isOld = lastError?.words === words && Math.abs(this.#ports.nowMs() - lastError.atMs) <= GOES_ON_MS
    if (batch !== null || !isOld) this.#ports.log('warn', words, batch)
    this.#save(this.#troubled(words, batch !== null))
  }

  #troubled(words: string, isOfBatch: boolean): Pick<DeliveryState, 'lastError'> {
    const atMs = this.#ports.nowMs()
    return { lastError: { sinceMs: this.#state.lastError?.sinceMs ?? atMs, atMs, words, isOfBatch } }
  }

  /** Rows or blocks go on; while the meter does not answer they do for a while only. */
  #healed(): Partial<DeliveryState> {
    const { lastError } = this.#state
    if (this.#isAway || lastError === null) return {}
    const { sinceMs, words } = lastError
    return { lastError: null, lastIncident: { sinceMs, words, untilMs: this.#ports.nowMs() } }
  }
}

/** Where its record has changed since it was read, the pipeline may have another end by now. */
const endingIf = (isAsRead: boolean, taken: Taken): Taken => (isAsRead ? taken : { ...taken, isEnd: false })
