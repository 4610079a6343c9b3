// Messages that wait for delivery, in a table of a meter. Invariants: an attempt is counted before it starts, so an attempt
// that is lost when the object stops is repeated; a message is attempted for one day.

import { backoffMs } from '../../core/backoff.ts'
import { Tables } from '../../core/tables.store.ts'
import { GIVE_UP_MS, RETRY } from './webhook.ts'
import type { Delivery } from './webhook-api.ts'

/** Concurrent deliveries per table. */
const CONCURRENT_MAX = 8

export class Outbox extends Tables {
  readonly #table: string
  #nextMs: number

  /** The table has the columns `number`, `id`, `created`, `state`, `attempts`, `next` and `last`. */
  constructor(sql: SqlStorage, table: 'webhook_events' | 'alert_mails') {
    super(sql)
    this.#table = table
    this.#nextMs = this.#firstNext()
  }

  /** Time of the next attempt; infinite if none is due. */
  get nextMs(): number {
    return this.#nextMs
  }

  /** Must be called after rows were added or deleted. */
  refresh(): void {
    this.#nextMs = this.#firstNext()
  }

  /** Claims due messages and counts the attempt; expired ones are dropped. `random` is uniform from 0 to 1. */
  claim(nowMs: number, random: () => number): readonly string[] {
    this.run(
      `UPDATE ${this.#table} SET state = 'given_up', next = NULL
       WHERE state = 'due' AND next <= ?1 AND created <= ?1 - ?2`,
      nowMs,
      GIVE_UP_MS,
    )
    const due = this.all<{ number: number; id: string; attempts: number }>(
      `SELECT number, id, attempts FROM ${this.#table} WHERE state = 'due' AND next <= ? ORDER BY number LIMIT ?`,
      nowMs,
      CONCURRENT_MAX,
    )
    for (const { number, attempts } of due) {
      const next = nowMs + backoffMs(RETRY, attempts, random())
      this.run(`UPDATE ${this.#table} SET attempts = attempts + 1, next = ? WHERE number = ?`, next, number)
    }
    this.refresh()
    return due.map(({ id }) => id)
  }

  /** Records the result of an attempt. A failed message stays due unless its next attempt would be too late. */
  record(id: string, { delivered, answer }: Delivery): void {
    if (delivered) {
      this.run(`UPDATE ${this.#table} SET state = 'delivered', next = NULL, last = ? WHERE id = ?`, answer, id)
    } else {
      this.run(
        `UPDATE ${this.#table} SET last = ?1, state = iif(next > created + ?3, 'given_up', state),
         next = iif(next > created + ?3, NULL, next) WHERE id = ?2 AND state = 'due'`,
        answer,
        id,
        GIVE_UP_MS,
      )
    }
    this.refresh()
  }

  #firstNext(): number {
    const { next } = this.one<{ next: number | null }>(
      `SELECT min(next) AS next FROM ${this.#table} WHERE state = 'due'`,
    )
    return next ?? Number.POSITIVE_INFINITY
  }
}
