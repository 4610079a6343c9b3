// Automatic top-ups in D1. Invariant: an order is added by one statement that checks everything that allows it, so
// concurrent callers cannot add two, or exceed the monthly limit.

import type { ChangeAuthor } from '../../../accounts/members.ts'
import type { AccountId } from '../../../core/ids.ts'
import { DAY_MS } from '../../../core/time.ts'
import type { StoppedTopUp } from '../../../metering/top-up-watch.ts'
import {
  type AutoTopUp,
  type AutoTopUpChange,
  type AutoTopUpSettings,
  type CardFace,
  type ChargeFailure,
  type CompletedSetup,
  monthStart,
  RETRY_AFTER_MS,
  type SavedCard,
} from '../auto-top-up.ts'
import type { CardSetup } from '../card-provider.ts'
import type { Purchase } from '../purchase.ts'
import { buyerOf, ORDER_NUMBER, type PurchaseStore, termsOf } from '../purchases.store.ts'

interface Row {
  readonly account: AccountId
  readonly state: AutoTopUp['state']
  readonly settings: string | null
  readonly customer: string | null
  readonly method: string | null
  readonly card: string | null
  readonly setup: string | null
  readonly setup_url: string | null
  readonly setup_created: number | null
  readonly reason: StoppedTopUp['reason'] | null
  readonly stopped: number | null
  readonly failed_order: string | null
  readonly failed: number | null
  readonly told: 0 | 1
}

/** Maximum number of changes of the settings per account per day. */
export const TOP_UP_CHANGES_MAX = 20
/** A page for saving a card works for a day. */
const SETUP_MS = 23 * 3_600_000

/** Orders that are not charged or not granted yet. */
const IN_FLIGHT =
  "mandate IS NOT NULL AND (state = 'open' OR (state = 'paid' AND granted IS NULL AND refunded < minor))"

export class AutoTopUpStore {
  readonly #db: D1Database
  readonly #purchases: PurchaseStore

  constructor(db: D1Database, purchases: PurchaseStore) {
    this.#db = db
    this.#purchases = purchases
  }

  async named(account: AccountId): Promise<AutoTopUp | null> {
    const row = await this.#db.prepare('SELECT * FROM auto_top_ups WHERE account = ?').bind(account).first<Row>()
    return row && fromRow(row)
  }

  async changes(account: AccountId, limit: number): Promise<readonly AutoTopUpChange[]> {
    const select = `SELECT c.at, coalesce(k.prefix, c.root) AS "by", c.member, c.what FROM auto_top_up_changes c
      LEFT JOIN keys k ON k.hash = c.root WHERE c.account = ? ORDER BY c.id DESC LIMIT ?`
    return (await this.#db.prepare(select).bind(account, limit).all<AutoTopUpChange>()).results
  }

  /** False: the account changed them too often today, or has no card. */
  async turnOn(
    account: AccountId,
    settings: AutoTopUpSettings,
    author: ChangeAuthor | null,
    nowMs: number,
  ): Promise<boolean> {
    const text = JSON.stringify(settings)
    // Both statements see the same rows, so both take effect or neither does.
    const isAllowed = `account = ?1 AND method IS NOT NULL AND (SELECT count(*) FROM auto_top_up_changes
        WHERE account = ?1 AND at > ?2 AND what = 'on') < ${TOP_UP_CHANGES_MAX}`
    const update = `UPDATE auto_top_ups SET state = 'on', settings = ?3, reason = NULL, stopped = NULL, failed_order = NULL,
        told = 1 WHERE ${isAllowed}`
    const insert = `INSERT INTO auto_top_up_changes (account, at, root, member, what, detail)
      SELECT ?1, ?4, ?5, ?6, 'on', ?3 FROM auto_top_ups WHERE ${isAllowed}`
    const [changed] = await this.#db.batch([
      this.#db.prepare(update).bind(account, nowMs - DAY_MS, text),
      this.#db.prepare(insert).bind(account, nowMs - DAY_MS, text, nowMs, ...authorValues(author)),
    ])
    return (changed?.meta.changes ?? 0) > 0
  }

  async turnOff(account: AccountId, author: ChangeAuthor | null, nowMs: number): Promise<void> {
    await this.#db.batch([
      this.#logged('off', '{}', `account = ?1 AND state = 'on'`, account, author, nowMs),
      this.#db.prepare("UPDATE auto_top_ups SET state = 'off' WHERE account = ?").bind(account),
    ])
  }

  /** The page on which a card can be saved: `setup`, or one that is still open. */
  async openSetup(account: AccountId, { session, url }: CardSetup, nowMs: number): Promise<void> {
    const upsert = `INSERT INTO auto_top_ups (account, state, setup, setup_url, setup_created) VALUES (?, 'off', ?, ?, ?)
      ON CONFLICT (account) DO UPDATE SET setup = excluded.setup, setup_url = excluded.setup_url,
        setup_created = excluded.setup_created`
    await this.#db.prepare(upsert).bind(account, session, url, nowMs).run()
  }

  /**
   * The card that was saved on a page, and the method that it replaces. A new card may be charged at once. Null: nothing
   * was changed, because the card of this page, or of one that was completed later, was saved before.
   */
  async saveCard(
    account: AccountId,
    { session, completedMs }: CompletedSetup,
    { customer, method, face }: SavedCard,
    nowMs: number,
  ): Promise<{ readonly replaced: string | null } | null> {
    // `at` is the number of the parameter with the session. The time is the next one.
    const isNew = (at: number) => `account = ?1 AND NOT EXISTS (SELECT 1 FROM auto_top_up_changes WHERE account = ?1
      AND what = 'card_saved' AND (json_extract(detail, '$.session') = ?${at} OR json_extract(detail, '$.completedMs') > ?${at + 1}))`
    const update = `UPDATE auto_top_ups SET customer = ?2, method = ?3, card = ?4, setup_url = iif(setup = ?5, NULL, setup_url),
      setup_created = iif(setup = ?5, NULL, setup_created), setup = nullif(setup, ?5), failed = NULL WHERE ${isNew(5)}`
    const detail = JSON.stringify({ ...face, session, completedMs })
    // The record comes last, because the update looks for it.
    const [before, changed] = await this.#db.batch<{ method: string | null }>([
      this.#db.prepare('SELECT method FROM auto_top_ups WHERE account = ?').bind(account),
      this.#db.prepare(update).bind(account, customer, method, JSON.stringify(face), session, completedMs),
      this.#logged('card_saved', detail, isNew(6), account, null, nowMs, session, completedMs),
    ])
    return changed?.meta.changes ? { replaced: before?.results[0]?.method ?? null } : null
  }

  /** Forgets a card that can no longer be charged. An account whose top-ups were on is notified. */
  async forgetCard(account: AccountId, method: string, author: ChangeAuthor | null, nowMs: number): Promise<void> {
    const update = `UPDATE auto_top_ups SET customer = NULL, method = NULL, card = NULL,
        reason = iif(state = 'on', 'card_removed', reason), stopped = iif(state = 'on', ?3, stopped),
        failed_order = iif(state = 'on', NULL, failed_order), told = iif(state = 'on', 0, told),
        state = iif(state = 'on', 'stopped', state)
      WHERE account = ?1 AND method = ?2`
    await this.#db.batch([
      this.#logged('card_removed', '{}', 'account = ?1 AND method = ?6', account, author, nowMs, method),
      this.#db.prepare(update).bind(account, method, nowMs),
    ])
  }

  /** Accounts whose saved card or customer this is, with the card. */
  async accountsOf(card: { readonly method: string } | { readonly customer: string }) {
    const [column, value] = 'method' in card ? ['method', card.method] : ['customer', card.customer]
    const select = `SELECT account, method FROM auto_top_ups WHERE ${column} = ? AND method IS NOT NULL LIMIT 10`
    const { results } = await this.#db.prepare(select).bind(value).all<{ account: AccountId; method: string }>()
    return results
  }

  /** Amount that was charged since then, in minor units. */
  async chargedSince(account: AccountId, currency: string, sinceMs: number): Promise<number> {
    const select = `SELECT ${CHARGED.replaceAll('?a', '?1').replaceAll('?c', '?2').replaceAll('?s', '?3')} AS minor`
    return (await this.#db.prepare(select).bind(account, currency, sinceMs).first<number>('minor')) ?? 0
  }

  async inFlight(account: AccountId): Promise<Purchase | null> {
    const select = `SELECT * FROM orders WHERE account = ? AND ${IN_FLIGHT} ORDER BY seq LIMIT 1`
    return this.#db.prepare(select).bind(account).first<Purchase>()
  }

  /** Adds the order of a top-up. Null: these settings are not in force, or nothing may be charged now. */
  order(account: AccountId, settings: AutoTopUpSettings, suffix: string, nowMs: number): Promise<Purchase | null> {
    const { micro, minor, currency, monthly } = settings
    const insert = `INSERT INTO orders (number, account, micro, minor, currency, provider, state, created, terms, buyer,
        mandate)
      SELECT ${ORDER_NUMBER}, ?2, ?3, ?4, ?5, 'stripe', 'open', ?6, ${termsOf('?7')}, ${buyerOf('?2')},
        t.customer || '/' || t.method
      FROM auto_top_ups t WHERE t.account = ?2 AND t.state = 'on' AND t.method IS NOT NULL AND t.settings = ?8
        AND coalesce(t.failed, 0) + ${RETRY_AFTER_MS} <= ?6
        AND NOT EXISTS (SELECT 1 FROM orders WHERE account = ?2 AND ${IN_FLIGHT})
        AND ${CHARGED.replaceAll('?a', '?2').replaceAll('?c', '?5').replaceAll('?s', '?9')} + ?4 <= ?10
      RETURNING *`
    const values = [
      ...[suffix, account, micro, minor, currency, nowMs, this.#purchases.terms],
      ...[JSON.stringify(settings), monthStart(nowMs), monthly],
    ]
    return this.#purchases.withTerms(this.#db.prepare(insert).bind(...values), nowMs)
  }

  async noteCharge(order: Purchase, reference: string): Promise<void> {
    await this.#purchases.change(order, { reference })
  }

  /** An order that was never charged. */
  async drop(order: Purchase, note: string): Promise<boolean> {
    return (await this.#purchases.change(order, { state: 'void', note })) !== null
  }

  /** Ends an order whose charge failed, and stops the top-ups. */
  async fail(
    { number, account, mandate }: Purchase,
    { reason, reference }: { readonly reason: ChargeFailure; readonly reference: string | null },
    nowMs: number,
  ): Promise<boolean> {
    const isOpen = (parameter: number) =>
      `EXISTS (SELECT 1 FROM orders WHERE number = ?${parameter} AND state = 'open')`
    // A new card may be charged at once, so the failure of an old one is none of it.
    const update = `UPDATE auto_top_ups SET reason = ?2, stopped = ?3, failed_order = ?5, told = 0,
        failed = iif(customer || '/' || method = ?4, ?3, failed), state = iif(state = 'on', 'stopped', state)
      WHERE account = ?1 AND ${isOpen(5)}`
    const end = `UPDATE orders SET state = 'failed', note = ?, reference = coalesce(reference, ?)
      WHERE number = ? AND state = 'open'`
    const detail = JSON.stringify({ reason, order: number })
    const [, , ended] = await this.#db.batch([
      this.#logged('stopped', detail, `account = ?1 AND ${isOpen(6)}`, account, null, nowMs, number),
      this.#db.prepare(update).bind(account, reason, nowMs, mandate, number),
      this.#db.prepare(end).bind(FAILED_NOTES[reason], reference, number),
    ])
    return (ended?.meta.changes ?? 0) > 0
  }

  async stop(account: AccountId, reason: StoppedTopUp['reason'], nowMs: number): Promise<void> {
    const update = `UPDATE auto_top_ups SET state = 'stopped', reason = ?, stopped = ?, failed_order = NULL, told = 0
      WHERE account = ? AND state = 'on'`
    await this.#db.batch([
      this.#logged('stopped', JSON.stringify({ reason }), `account = ?1 AND state = 'on'`, account, null, nowMs),
      this.#db.prepare(update).bind(reason, nowMs, account),
    ])
  }

  /** The webhook was not notified of a later stop. */
  async noteTold(account: AccountId, { atMs }: StoppedTopUp): Promise<void> {
    const update = 'UPDATE auto_top_ups SET told = 1 WHERE account = ? AND stopped = ?'
    await this.#db.prepare(update).bind(account, atMs).run()
  }

  /** Records a change if there is a row with this condition, in which ?6 and later are `values`. */
  #logged(
    what: AutoTopUpChange['what'],
    detail: string,
    condition: string,
    account: AccountId,
    author: ChangeAuthor | null,
    nowMs: number,
    ...values: readonly (string | number)[]
  ): D1PreparedStatement {
    const insert = `INSERT INTO auto_top_up_changes (account, at, root, member, what, detail)
      SELECT account, ?2, ?3, ?4, '${what}', ?5 FROM auto_top_ups WHERE ${condition}`
    return this.#db.prepare(insert).bind(account, nowMs, ...authorValues(author), detail, ...values)
  }
}

const authorValues = (author: ChangeAuthor | null) => [author?.root ?? null, author?.member ?? null] as const

/** Sum of the charges of account ?a in currency ?c since ?s. */
const CHARGED = `(SELECT coalesce(sum(minor), 0) FROM orders WHERE account = ?a AND mandate IS NOT NULL AND currency = ?c
  AND state = 'paid' AND paid >= ?s)`

const FAILED_NOTES: Readonly<Record<ChargeFailure, string>> = {
  declined: 'the saved card was declined',
  authentication_required: 'the bank of the saved card requires authentication',
  card_removed: 'the saved card was removed',
}

function fromRow(row: Row): AutoTopUp {
  const { account, state, settings, customer, method, card, setup, setup_url: url, setup_created: createdMs } = row
  return {
    account,
    state,
    settings: settings === null ? null : (JSON.parse(settings) as AutoTopUpSettings),
    card:
      customer === null || method === null || card === null
        ? null
        : { customer, method, face: JSON.parse(card) as CardFace },
    setup: setup === null || url === null || createdMs === null ? null : { session: setup, url, createdMs },
    stop:
      row.reason === null || row.stopped === null
        ? null
        : { reason: row.reason, atMs: row.stopped, order: row.failed_order },
    failedMs: row.failed,
    isTold: row.told === 1,
  }
}

/** Whether the page still works. */
export const isSetupOpen = (setup: NonNullable<AutoTopUp['setup']>, nowMs: number) => nowMs - setup.createdMs < SETUP_MS
