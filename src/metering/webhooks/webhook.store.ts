// Webhook of an account and its event outbox, in the account's meter. Invariants: an event is written in the
// transaction that caused it; an attempt is counted before it starts, so an attempt that is lost when the object stops
// is repeated; at most a hundred events are stored; secrets are stored encrypted.

import type { MicroCredits } from '../../core/amount.ts'
import { backoffMs } from '../../core/backoff.ts'
import type { AccountId } from '../../core/ids.ts'
import { Tables } from '../../core/tables.store.ts'
import { type LowBalanceWatch, startWatch, type Threshold, watchBalance } from './low-balance.ts'
import { GIVE_UP_MS, lowBalanceBody, type PausedPipeline, pipelinePausedBody, RETRY } from './webhook.ts'
import type { Delivery, Webhook, WebhookEvent, WebhookInput } from './webhook-api.ts'

const EVENTS_MAX = 100
/** Threshold column of events that are not about a balance. */
const NO_THRESHOLD = ''
/** Concurrent deliveries per account. */
const CONCURRENT_MAX = 8

/** Destination of events, and the encrypted signing secret. */
export interface WebhookTarget {
  readonly account: AccountId
  readonly url: string
  readonly secret: string
}

export interface NewSecret {
  readonly secret: string
  readonly sealed: string
}

export interface Attempt {
  readonly id: string
  readonly body: string
  readonly target: WebhookTarget
}

type WebhookRow = WebhookTarget & { readonly thresholds: string; readonly watch: string }

export class WebhookStore extends Tables {
  #has: boolean
  #nextMs: number

  constructor(sql: SqlStorage) {
    super(sql)
    this.#has = this.#row() !== null
    this.#nextMs = this.#firstNext()
  }

  /** Time of the next attempt; infinite if none is due. */
  get nextMs(): number {
    return this.#nextMs
  }

  target(): WebhookTarget | null {
    return this.#row()
  }

  /**
   * `drawn` is used if there is no secret or a new one is requested. `mostMicro`: highest balance in the plan's period.
   */
  set(
    order: WebhookInput,
    drawn: NewSecret,
    left: MicroCredits,
    mostMicro: MicroCredits,
    nowMs: number,
  ): Webhook & { readonly secret: string | null } {
    const known = this.#row()
    const isDrawn = known === null || order.newSecret
    const watch = startWatch(order.thresholds, mostMicro, known && parsedWatch(known))
    this.run('DELETE FROM webhook')
    this.run(
      'INSERT INTO webhook VALUES (1, ?, ?, ?, ?, ?, ?)',
      order.account,
      order.url,
      isDrawn ? drawn.sealed : known.secret,
      JSON.stringify(order.thresholds),
      JSON.stringify(watch),
      order.by,
    )
    this.#has = true
    this.onBalanceChange(left, false, nowMs)
    return { ...(this.view() as Webhook), secret: isDrawn ? drawn.secret : null }
  }

  view(): Webhook | null {
    const row = this.#row()
    if (row === null) return null
    const events = this.all<WebhookEvent>(
      `SELECT id, json_extract(body, '$.type') AS type, nullif(threshold, ?) AS threshold, created, state, attempts, next, last
         FROM webhook_events ORDER BY number DESC`,
      NO_THRESHOLD,
    )
    const { thresholds, watch } = parsedWatch(row)
    return { url: row.url, thresholds: thresholds.map(({ name }) => name), armed: watch.armed, events }
  }

  setter(): Pick<WebhookInput, 'url' | 'by'> | null {
    const select = 'SELECT url, key_root AS "by" FROM webhook'
    return this.first<Pick<WebhookInput, 'url' | 'by'>>(select) ?? null
  }

  clear(): boolean {
    const had = this.#row() !== null
    this.run('DELETE FROM webhook')
    this.run("DELETE FROM webhook_events WHERE state = 'due'")
    this.#has = false
    this.#nextMs = this.#firstNext()
    return had
  }

  /** Runs after every balance change. Costs nothing for accounts without a webhook. */
  onBalanceChange(left: MicroCredits, isNewPeriod: boolean, nowMs: number): void {
    const row = this.#has ? this.#row() : null
    if (row === null) return
    const { thresholds, watch: before } = parsedWatch(row)
    const { watch, reached } = watchBalance(before, thresholds, left, isNewPeriod)
    const text = JSON.stringify(watch)
    if (text !== row.watch) this.run('UPDATE webhook SET watch = ?', text)
    for (const { name: threshold } of reached) {
      const id = `evt_${crypto.randomUUID()}`
      const { account } = row
      const { mostMicro } = watch
      const body = lowBalanceBody({ id, account, threshold, leftMicro: left, mostMicro, createdMs: nowMs })
      this.#add(id, threshold, body, nowMs)
    }
  }

  /** Creates one event per pipeline each time a key is revoked or expires, however often this is reported. */
  pipelinePaused(paused: PausedPipeline, nowMs: number): void {
    const row = this.#has ? this.#row() : null
    const id = `evt_${paused.pipeline}_${paused.atMs}`
    if (row === null || this.has('SELECT 1 FROM webhook_events WHERE id = ?', id)) return
    this.#add(id, NO_THRESHOLD, pipelinePausedBody(paused, { id, account: row.account, createdMs: nowMs }), nowMs)
  }

  /** Drops the oldest events if there are more than the maximum. */
  #add(id: string, threshold: string, body: string, nowMs: number): void {
    this.run(
      "INSERT INTO webhook_events VALUES (NULL, ?, ?, ?, ?, 'due', 0, ?, NULL)",
      ...[id, threshold, body, nowMs, nowMs],
    )
    this.#nextMs = Math.min(this.#nextMs, nowMs)
    this.run('DELETE FROM webhook_events WHERE number <= (SELECT max(number) FROM webhook_events) - ?', EVENTS_MAX)
  }

  /** Claims due attempts and counts them; expired events are dropped. `random` is uniform from 0 to 1. */
  claim(nowMs: number, random: () => number): Attempt[] {
    const target = this.#row()
    this.run(
      "UPDATE webhook_events SET state = 'given_up', next = NULL WHERE state = 'due' AND next <= ?1 AND created <= ?1 - ?2",
      nowMs,
      GIVE_UP_MS,
    )
    const due = this.all<{ number: number; id: string; body: string; attempts: number }>(
      "SELECT number, id, body, attempts FROM webhook_events WHERE state = 'due' AND next <= ? ORDER BY number LIMIT ?",
      nowMs,
      CONCURRENT_MAX,
    )
    for (const { number, attempts } of due) {
      const next = nowMs + backoffMs(RETRY, attempts, random())
      this.run('UPDATE webhook_events SET attempts = attempts + 1, next = ? WHERE number = ?', next, number)
    }
    this.#nextMs = this.#firstNext()
    return target === null ? [] : due.map(({ id, body }) => ({ id, body, target }))
  }

  /** Records the result of an attempt. A failed event stays due unless its next attempt would be too late. */
  recordAttempt(id: string, { delivered, answer }: Delivery): void {
    if (delivered) {
      this.run("UPDATE webhook_events SET state = 'delivered', next = NULL, last = ? WHERE id = ?", answer, id)
    } else {
      this.run(
        `UPDATE webhook_events SET last = ?1, state = iif(next > created + ?3, 'given_up', state),
         next = iif(next > created + ?3, NULL, next) WHERE id = ?2 AND state = 'due'`,
        answer,
        id,
        GIVE_UP_MS,
      )
    }
    this.#nextMs = this.#firstNext()
  }

  #row(): WebhookRow | null {
    const select = 'SELECT account, url, secret, thresholds, watch FROM webhook'
    return this.first<WebhookRow>(select) ?? null
  }

  #firstNext(): number {
    const { next } = this.one<{ next: number | null }>(
      "SELECT min(next) AS next FROM webhook_events WHERE state = 'due'",
    )
    return next ?? Number.POSITIVE_INFINITY
  }
}

function parsedWatch(row: WebhookRow): { readonly thresholds: readonly Threshold[]; readonly watch: LowBalanceWatch } {
  return { thresholds: JSON.parse(row.thresholds), watch: JSON.parse(row.watch) }
}
