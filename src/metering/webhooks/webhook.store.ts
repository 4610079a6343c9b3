// Webhook of an account and its event outbox, in the account's meter. Invariants: an event is written in the
// transaction that caused it; at most a hundred events are stored; secrets are stored encrypted.

import type { MicroCredits } from '../../core/amount.ts'
import type { AccountId } from '../../core/ids.ts'
import { Tables } from '../../core/tables.store.ts'
import type { StoppedTopUp } from '../top-up-watch.ts'
import { type LowBalanceWatch, startWatch, type Threshold, watchBalance } from './low-balance.ts'
import { Outbox } from './outbox.store.ts'
import { lowBalanceBody, type PausedPipeline, pipelinePausedBody, topUpStoppedBody } from './webhook.ts'
import type { Delivery, Webhook, WebhookEvent, WebhookInput } from './webhook-api.ts'

const EVENTS_MAX = 100
/** Threshold column of events that are not about a balance. */
const NO_THRESHOLD = ''

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
  readonly #outbox: Outbox
  #has: boolean

  constructor(sql: SqlStorage) {
    super(sql)
    this.#has = this.#row() !== null
    this.#outbox = new Outbox(sql, 'webhook_events')
  }

  /** Time of the next attempt; infinite if none is due. */
  get nextMs(): number {
    return this.#outbox.nextMs
  }

  /** Whether the account has a webhook. */
  get isSet(): boolean {
    return this.#has
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
    this.#outbox.refresh()
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

  /** Creates one event per stop, however often this is reported. */
  topUpStopped(stop: StoppedTopUp, nowMs: number): void {
    const row = this.#has ? this.#row() : null
    const id = `evt_top_up_${stop.atMs}`
    if (row === null || this.has('SELECT 1 FROM webhook_events WHERE id = ?', id)) return
    this.#add(id, NO_THRESHOLD, topUpStoppedBody(stop, { id, account: row.account, createdMs: nowMs }), nowMs)
  }

  /** Drops the oldest events if there are more than the maximum. */
  #add(id: string, threshold: string, body: string, nowMs: number): void {
    this.run(
      "INSERT INTO webhook_events VALUES (NULL, ?, ?, ?, ?, 'due', 0, ?, NULL)",
      ...[id, threshold, body, nowMs, nowMs],
    )
    this.run('DELETE FROM webhook_events WHERE number <= (SELECT max(number) FROM webhook_events) - ?', EVENTS_MAX)
    this.#outbox.refresh()
  }

  /** An alert for this webhook; false if there is none. */
  addAlert(id: string, body: string, nowMs: number): boolean {
    if (!this.#has) return false
    this.#add(id, NO_THRESHOLD, body, nowMs)
    return true
  }

  /** Claims due attempts and counts them; expired events are dropped. `random` is uniform from 0 to 1. */
  claim(nowMs: number, random: () => number): Attempt[] {
    const target = this.#row()
    const due = this.#outbox.claim(nowMs, random)
    if (target === null) return []
    return due.map((id) => {
      const { body } = this.one<{ body: string }>('SELECT body FROM webhook_events WHERE id = ? LIMIT 1', id)
      return { id, body, target }
    })
  }

  /** Records the result of an attempt. A failed event stays due unless its next attempt would be too late. */
  recordAttempt(id: string, delivery: Delivery): void {
    this.#outbox.record(id, delivery)
  }

  #row(): WebhookRow | null {
    const select = 'SELECT account, url, secret, thresholds, watch FROM webhook'
    return this.first<WebhookRow>(select) ?? null
  }
}

function parsedWatch(row: WebhookRow): { readonly thresholds: readonly Threshold[]; readonly watch: LowBalanceWatch } {
  return { thresholds: JSON.parse(row.thresholds), watch: JSON.parse(row.watch) }
}
