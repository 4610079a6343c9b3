// The request log in a meter: its newest part is in the account's row, which each report writes anyway, and the rest in
// chunks. The log costs no call of the meter of its own, and two rows per chunk (test/metering/request-log.test.ts).

import { Tables } from '../core/tables.store.ts'
import type { MeterStorage, MeterStore } from './meter.store.ts'
import type { LogBatch, LogChunk, LogChunks } from './request-log/log-api.ts'
import { emptyTail, type LogTail, readTail, splitTail, tailText, trimTail, withBatch } from './request-log/log-tail.ts'

/** A megabyte, which takes a few milliseconds to search. */
const CHUNKS_MAX = 42

export class RequestLog extends Tables {
  readonly #store: MeterStore
  readonly #keptMs: number

  /** `keptMs`: how long calls are kept; 0: not at all. */
  constructor(sql: MeterStorage['sql'], store: MeterStore, keptMs: number) {
    super(sql)
    this.#store = store
    this.#keptMs = keptMs
  }

  /** Adds a batch. Runs inside a transaction of the store. */
  append(batch: LogBatch | undefined, nowMs: number): void {
    if (batch === undefined || this.#keptMs === 0) return
    const trimmed = trimTail(this.#tail() ?? emptyTail(nowMs), nowMs - this.#keptMs)
    const { tail, chunk } = splitTail(withBatch(trimmed, batch, nowMs))
    this.#store.putLog(tailText(tail))
    if (chunk === null) return
    const { sinceMs, untilMs, leftOut, lines } = chunk
    this.run(
      // Ends never decrease, so that the order of the numbers is that of the ends.
      `INSERT INTO request_log (since, until, left_out, lines)
       VALUES (?, max(?, coalesce((SELECT until FROM request_log ORDER BY number DESC LIMIT 1), 0)), ?, ?)`,
      sinceMs,
      untilMs,
      leftOut,
      lines,
    )
    this.prune(nowMs)
  }

  read(sinceMs: number, untilMs: number, nowMs: number): LogChunks {
    const firstMs = Math.max(sinceMs, nowMs - this.#keptMs)
    const stored = this.all<LogChunk>(
      `SELECT since AS sinceMs, until AS untilMs, left_out AS leftOut, lines FROM request_log
       WHERE until >= ? AND since <= ? ORDER BY number DESC LIMIT ?`,
      ...[firstMs, untilMs, CHUNKS_MAX + 1],
    )
    const tail = this.#tail()
    const isAsked = tail !== null && tail.untilMs >= firstMs && tail.sinceMs <= untilMs
    const all = (isAsked ? [tail, ...stored] : stored).sort((a, b) => b.untilMs - a.untilMs)
    const chunks = all
      .slice(0, CHUNKS_MAX)
      .map(({ sinceMs, untilMs, leftOut, lines }) => ({ sinceMs, untilMs, leftOut, lines }))
    return { chunks, restMs: all[CHUNKS_MAX]?.untilMs ?? null, keptMs: this.#keptMs }
  }

  /** Deletes chunks without calls that are kept. */
  prune(nowMs: number): void {
    this.run('DELETE FROM request_log WHERE until < ?', nowMs - this.#keptMs)
  }

  /** Deletes what `prune` does, and the newest part if it is too old. Runs inside a transaction of the store. */
  tidy(nowMs: number): void {
    this.prune(nowMs)
    const tail = this.#tail()
    if (tail === null || tail.untilMs === 0 || tail.untilMs >= nowMs - this.#keptMs) return
    this.#store.putLog(tailText(trimTail(tail, nowMs - this.#keptMs)))
  }

  /** Time until these calls have to be deleted; infinite if there are none. */
  endsInMs(batch: LogBatch | undefined): number {
    return batch === undefined || this.#keptMs === 0 ? Number.POSITIVE_INFINITY : this.#keptMs
  }

  /** When the last call has to be deleted; infinite if there is none. */
  endMs(): number {
    const last = this.first<{ until: number }>('SELECT until FROM request_log ORDER BY number DESC LIMIT 1')
    const lastMs = Math.max(last?.until ?? 0, this.#tail()?.untilMs ?? 0)
    return lastMs === 0 ? Number.POSITIVE_INFINITY : lastMs + this.#keptMs + 1
  }

  #tail(): LogTail | null {
    const text = this.#store.log()
    return text === '' ? null : readTail(text)
  }
}
