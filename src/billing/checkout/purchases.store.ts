// Purchases and provider events in D1. Invariants: a row changes only if it still has the values that were read; the
// grant time is written once, whatever else changes.

import { oneRow } from '../../core/d1.store.ts'
import type { AccountId } from '../../core/ids.ts'
import { DAY_MS } from '../../core/time.ts'
import type { Checkout, ProviderEvent, PurchaseQuery } from './checkout-api.ts'
import type { Quote } from './prices.ts'
import type { Purchase } from './purchase.ts'

type PurchaseChange = Partial<Pick<Purchase, 'state' | 'reference' | 'url' | 'paid' | 'refunded' | 'note'>>

/** Providers resend an event for days. */
const EVENTS_TTL_MS = 90 * DAY_MS

export class PurchaseStore {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  /**
   * `suffix`: random part of the number. Returns null and changes nothing if the account has `most` unpaid purchases
   * from the last day in any state, because each one called the provider.
   */
  async add(
    account: AccountId,
    { micro, minor, currency }: Quote,
    provider: NonNullable<Checkout['provider']>,
    suffix: string,
    max: number,
    nowMs: number,
  ): Promise<Purchase | null> {
    const insert = `INSERT INTO orders (number, account, micro, minor, currency, provider, state, created)
      SELECT 'W-' || (coalesce((SELECT max(seq) FROM orders), 0) + 1) || '-' || ?1, ?2, ?3, ?4, ?5, ?6, 'open', ?7
      WHERE (SELECT count(*) FROM orders WHERE account = ?2 AND state <> 'paid' AND created > ?8) < ?9 RETURNING *`
    const values = [suffix, account, micro, minor, currency, provider, nowMs, nowMs - DAY_MS, max]
    return this.#db
      .prepare(insert)
      .bind(...values)
      .first<Purchase>()
  }

  async named(number: string): Promise<Purchase | null> {
    return this.#db.prepare('SELECT * FROM orders WHERE number = ?').bind(number).first<Purchase>()
  }

  async list({ account, state, before, limit }: PurchaseQuery): Promise<Purchase[]> {
    const wheres = [
      ['account = ?', account],
      ['state = ?', state],
      ['seq < ?', before],
    ].filter((where) => where[1] !== undefined)
    const where = wheres.length === 0 ? '' : `WHERE ${wheres.map(([text]) => text).join(' AND ')}`
    const select = `SELECT * FROM orders ${where} ORDER BY seq DESC LIMIT ?`
    const { results } = await this.#db
      .prepare(select)
      .bind(...wheres.map(([, value]) => value), limit)
      .all<Purchase>()
    return results
  }

  /** Returns null and changes nothing if the row no longer has the values that were read. */
  async change(order: Purchase, change: PurchaseChange): Promise<Purchase | null> {
    const { state, reference, url, paid, granted, refunded, note } = { ...order, ...change }
    const update = `UPDATE orders SET state = ?, reference = ?, url = ?, paid = ?, granted = ?, refunded = ?, note = ?
      WHERE number = ? AND state = ? AND refunded = ? AND granted IS ? AND reference IS ? RETURNING *`
    const read = [order.number, order.state, order.refunded, order.granted, order.reference]
    return this.#db
      .prepare(update)
      .bind(state, reference, url, paid, granted, refunded, note, ...read)
      .first<Purchase>()
  }

  /** Records the grant independently of other changes. Repeating it keeps the first grant time. */
  async noteGrant(number: string, nowMs: number): Promise<Purchase> {
    const update = 'UPDATE orders SET granted = coalesce(granted, ?) WHERE number = ? RETURNING *'
    return oneRow(this.#db.prepare(update).bind(nowMs, number))
  }

  /** Outcome of this event; null if it was not fully handled. */
  async outcome(id: string): Promise<string | null> {
    return this.#db.prepare('SELECT outcome FROM checkout_events WHERE id = ?').bind(id).first<string>('outcome')
  }

  async note({ id, type, update }: ProviderEvent, outcome: string, nowMs: number): Promise<void> {
    const insert =
      'INSERT INTO checkout_events (id, type, number, outcome, seen) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING'
    await this.#db.batch([
      this.#db.prepare(insert).bind(id, type, update?.number ?? null, outcome, nowMs),
      this.#db.prepare('DELETE FROM checkout_events WHERE seen < ?').bind(nowMs - EVENTS_TTL_MS),
    ])
  }
}
