// Calls that wait to be reported to the meter. Invariants (test/metering/request-log.test.ts): every call is counted; a
// batch is sent until it is acknowledged, so its number identifies it; failed calls do not displace answered ones; all
// buffers of an isolate together hold a bounded number of calls. This is on the path of every call, so a call costs one
// array push at most.

import { MINUTE_MS } from '../../core/time.ts'
import type { CallCounts, LogBatch, LoggedCall } from './log-api.ts'

/** Rows of a batch per second since the batch before it, and their limits. Busy isolates send a batch every second. */
const ROWS_PER_SECOND = 2
const ROWS_MIN = 24
const ROWS_MAX = 64
/** Answered calls get this many times the rows of failed ones. */
const ANSWERED_SHARE = 4

/** Room for the waiting calls of all buffers that share it. */
export class LogRoom {
  #free: number

  constructor(calls: number) {
    this.#free = calls
  }

  /** False: there is no room. */
  take(): boolean {
    if (this.#free <= 0) return false
    this.#free--
    return true
  }

  giveBack(calls: number): void {
    this.#free += calls
  }
}

/** An even sample of at most `max` calls. When it is full, it drops every second call, and then takes half as many. */
class Sample {
  calls = 0
  rows: LoggedCall[] = []
  /** An even number. */
  #max: number
  readonly #room: LogRoom
  #every = 1

  constructor(max: number, room: LogRoom) {
    this.#max = max
    this.#room = room
  }

  add(call: LoggedCall): void {
    const number = this.calls++
    if (number % this.#every !== 0) return
    if (this.rows.length >= this.#max) {
      this.rows = this.rows.filter((_, at) => at % 2 === 0)
      this.#room.giveBack(this.#max - this.rows.length)
      this.#every *= 2
      if (number % this.#every !== 0) return
    }
    if (this.#room.take()) this.rows.push(call)
  }

  /** The rows so far. The sample starts again with at most `max`, and the caller has the room of the rows. */
  take(max = this.#max): readonly LoggedCall[] {
    const { rows } = this
    this.#max = max
    this.rows = []
    this.calls = 0
    this.#every = 1
    return rows
  }
}

/** Minutes and keys that a batch counts apart. Reports are more frequent, so an isolate counts one key in two minutes. */
const COUNTS_MAX = 16

/** Counts calls by minute and key. If there are too many of these, the last one also counts the calls of others. */
class Counts {
  #rows: { -readonly [Name in keyof CallCounts]: CallCounts[Name] }[] = []

  add({ keyHash, atMs, status }: LoggedCall): void {
    const minute = Math.floor(atMs / MINUTE_MS)
    let row = this.#rows.findLast((one) => one.minute === minute && one.keyHash === keyHash)
    if (row === undefined && this.#rows.length === COUNTS_MAX) row = this.#rows.at(-1)
    if (row === undefined) {
      row = { keyHash, minute, calls: 0, refused: 0, failed: 0, limited: 0 }
      this.#rows.push(row)
    }
    row.calls++
    if (status >= 500) row.failed++
    else if (status >= 400) row.refused++
    if (status === 429) row.limited++
  }

  take(): readonly CallCounts[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }
}

/** Calls of a key in an isolate, or of an account at a relay. */
export class CallBuffer {
  readonly #room: LogRoom
  readonly #answered: Sample
  readonly #failed: Sample
  readonly #counts = new Counts()
  /** Id of this buffer. */
  readonly #source: string
  #number = 0
  /** The batch that may not have arrived yet. */
  #sending: LogBatch | null = null
  /** Times of the first call in `#sending`, and of the first call after it. */
  #sendingMs = 0
  #firstMs = 0
  /** Time of the last batch. */
  #batchMs = 0

  /** `source`: an id that no other buffer has. */
  constructor(source: string, room: LogRoom) {
    this.#source = source
    this.#room = room
    this.#answered = new Sample(ROWS_MAX, room)
    this.#failed = new Sample(ROWS_MAX / ANSWERED_SHARE, room)
  }

  add(call: LoggedCall): void {
    if (this.#calls === 0) this.#firstMs = call.atMs
    const sample = call.code === '' ? this.#answered : this.#failed
    sample.add(call)
    this.#counts.add(call)
  }

  get isEmpty(): boolean {
    return this.#sending === null && this.#calls === 0
  }

  /** Time since the first call that waits; 0 if none does. */
  waitedMs(nowMs: number): number {
    if (this.isEmpty) return 0
    return nowMs - (this.#sending === null ? this.#firstMs : this.#sendingMs)
  }

  /** The batch to send: one that was not acknowledged, or else a new one. Null: no call waits. */
  next(nowMs: number): LogBatch | null {
    const calls = this.#calls
    if (this.#sending !== null || calls === 0) return this.#sending
    const max = maxRows(nowMs - this.#batchMs)
    this.#batchMs = nowMs
    const rows = [...this.#answered.take(max), ...this.#failed.take(max / ANSWERED_SHARE)]
    this.#sendingMs = this.#firstMs
    this.#sending = { source: this.#source, number: ++this.#number, calls, rows, counts: this.#counts.take() }
    return this.#sending
  }

  /** The meter has this batch. */
  acknowledge(batch: LogBatch): void {
    if (batch === this.#sending) this.#drop()
  }

  /** Forgets everything, because it can no longer be reported. */
  clear(): void {
    this.#drop()
    this.#counts.take()
    this.#room.giveBack(this.#answered.take().length + this.#failed.take().length)
  }

  get #calls(): number {
    return this.#answered.calls + this.#failed.calls
  }

  #drop(): void {
    this.#room.giveBack(this.#sending?.rows.length ?? 0)
    this.#sending = null
  }
}

/** Maximum for the next batch, a multiple of 8, if it comes as soon as the last one did. */
function maxRows(intervalMs: number): number {
  const rows = Math.min(ROWS_MAX, Math.max(ROWS_MIN, (ROWS_PER_SECOND * intervalMs) / 1_000))
  return rows - (rows % (2 * ANSWERED_SHARE))
}
