// Purchases and provider events in D1. Invariants: a row changes only if it still has the values that were read; the
// grant time is written once, whatever else changes; the terms and the buyer of its invoice are those of its insertion.

import { batchOf, oneRow } from '../../core/d1.store.ts'
import type { AccountId } from '../../core/ids.ts'
import { DAY_MS } from '../../core/time.ts'
import type { BillingDetails } from './billing-details.ts'
import type { Checkout, ProviderEvent, PurchaseQuery } from './checkout-api.ts'
import type { InvoicedPurchase } from './invoice.ts'
import type { InvoiceTerms } from './invoice-terms.ts'
import type { Quote } from './prices.ts'
import type { Purchase } from './purchase.ts'

type PurchaseChange = Partial<
  Pick<Purchase, 'state' | 'reference' | 'url' | 'paid' | 'refunded' | 'refund_time' | 'note'>
>

interface PaymentRow extends Quote, Pick<Purchase, 'account' | 'note'> {
  readonly reference: string
  /** Null: unknown. */
  readonly paid: { readonly transaction: string; readonly atMs: number } | null
}

interface InvoicedRow extends Purchase {
  readonly terms_json: string
  readonly buyer_json: string | null
}

/** Row of these terms; NULL if they are NULL. */
export const termsOf = (terms: string) => `(SELECT id FROM invoice_terms WHERE terms = ${terms})`
/** Row of the current billing details. */
export const buyerOf = (account: string) => `(SELECT max(id) FROM billing_details WHERE account = ${account})`

/** Number of a new order, whose random part is ?1. */
export const ORDER_NUMBER = "'W-' || (coalesce((SELECT max(seq) FROM orders), 0) + 1) || '-' || ?1"

/** Providers resend an event for days. */
const EVENTS_TTL_MS = 90 * DAY_MS

export class PurchaseStore {
  readonly #db: D1Database
  /** JSON of the terms of new purchases; null: they have no invoices. */
  readonly terms: string | null

  /** `terms`: of the invoices of new purchases; null: they have none. */
  constructor(db: D1Database, terms: InvoiceTerms | null) {
    this.#db = db
    this.terms = terms && JSON.stringify(terms)
  }

  /** Runs an insertion that may refer to the terms, and returns its row. */
  async withTerms(insertion: D1PreparedStatement, nowMs: number): Promise<Purchase | null> {
    const terms = this.#db
      .prepare('INSERT INTO invoice_terms (terms, created) SELECT ?1, ?2 WHERE ?1 IS NOT NULL ON CONFLICT DO NOTHING')
      .bind(this.terms, nowMs)
    const [, { results }] = await batchOf<[never, Purchase]>(this.#db, [terms, insertion])
    return results[0] ?? null
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
    const insert = `INSERT INTO orders (number, account, micro, minor, currency, provider, state, created, terms,
        buyer)
      SELECT ${ORDER_NUMBER}, ?2, ?3, ?4, ?5, ?6, 'open', ?7,
        ${termsOf('?10')}, ${buyerOf('?2')}
      WHERE (SELECT count(*) FROM orders WHERE account = ?2 AND state <> 'paid' AND created > ?8) < ?9 RETURNING *`
    const values = [suffix, account, micro, minor, currency, provider, nowMs, nowMs - DAY_MS, max, this.terms]
    return this.withTerms(this.#db.prepare(insert).bind(...values), nowMs)
  }

  /**
   * The order of an x402 payment, which its reference identifies. Adds it if there is none. With `paid`, an order of
   * unknown outcome becomes paid.
   */
  async ofPayment(
    { account, micro, minor, currency, reference, note, paid }: PaymentRow,
    suffix: string,
    nowMs: number,
  ): Promise<Purchase> {
    const upsert = `INSERT INTO orders (number, account, micro, minor, currency, provider, state, reference, receipt,
        created, paid, note, terms, buyer)
      SELECT ${ORDER_NUMBER}, ?2, ?3, ?4, ?5, 'x402', ?6, ?7, ?8,
        ?9, ?10, ?11, ${termsOf('?12')}, ${buyerOf('?2')} WHERE true
      ON CONFLICT (reference) WHERE provider = 'x402' DO UPDATE SET state = 'paid',
        paid = coalesce(paid, excluded.paid), receipt = excluded.receipt,
        note = iif(state = 'void', 'paid on the chain although it was void', NULL)
      WHERE excluded.receipt IS NOT NULL AND receipt IS NULL RETURNING *`
    const { transaction = null, atMs = null } = paid ?? {}
    const state = paid === null ? 'open' : 'paid'
    const values = [
      suffix,
      account,
      micro,
      minor,
      currency,
      state,
      reference,
      transaction,
      nowMs,
      atMs,
      note,
      this.terms,
    ]
    const changed = await this.withTerms(this.#db.prepare(upsert).bind(...values), nowMs)
    const select = "SELECT * FROM orders WHERE provider = 'x402' AND reference = ?"
    return changed ?? oneRow(this.#db.prepare(select).bind(reference))
  }

  async named(number: string): Promise<Purchase | null> {
    return this.#db.prepare('SELECT * FROM orders WHERE number = ?').bind(number).first<Purchase>()
  }

  /** An order of the account with what its invoice says; null: there is none. */
  async invoiced(number: string, account: AccountId): Promise<InvoicedPurchase | null> {
    const select = `SELECT o.*, t.terms AS terms_json, b.details AS buyer_json FROM orders o
      JOIN invoice_terms t ON t.id = o.terms LEFT JOIN billing_details b ON b.id = o.buyer
      WHERE o.number = ? AND o.account = ?`
    const row = await this.#db.prepare(select).bind(number, account).first<InvoicedRow>()
    if (row === null) return null
    const { terms_json: terms, buyer_json: buyer, ...order } = row
    return {
      order,
      terms: JSON.parse(terms) as InvoiceTerms,
      buyer: buyer === null ? null : (JSON.parse(buyer) as BillingDetails),
    }
  }

  async list({ account, provider, state, before, limit }: PurchaseQuery): Promise<Purchase[]> {
    const wheres = [
      ['account = ?', account],
      ['provider = ?', provider],
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
    const { state, reference, url, paid, granted, refunded, refund_time, note } = { ...order, ...change }
    const update = `UPDATE orders SET state = ?, reference = ?, url = ?, paid = ?, granted = ?, refunded = ?,
        refund_time = ?, note = ?
      WHERE number = ? AND state = ? AND refunded = ? AND granted IS ? AND reference IS ? RETURNING *`
    const read = [order.number, order.state, order.refunded, order.granted, order.reference]
    return this.#db
      .prepare(update)
      .bind(state, reference, url, paid, granted, refunded, refund_time, note, ...read)
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
