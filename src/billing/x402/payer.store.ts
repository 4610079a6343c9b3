// Payments of one wallet, and the nonces of its logins, in the SQLite database of its Payer.

import { migrate } from '../../core/migrate.store.ts'
import { Tables } from '../../core/tables.store.ts'
import { nonceOf, type Payment } from './payment.ts'
import type { PaymentStore } from './payments.ts'

const SCHEMA = [
  `CREATE TABLE payments (nonce TEXT PRIMARY KEY, state TEXT NOT NULL, due INTEGER NOT NULL, payment TEXT NOT NULL) STRICT;
   CREATE INDEX payments_by_due ON payments (due);
   CREATE INDEX payments_by_state ON payments (state);
   CREATE TABLE logins (nonce TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT;
   CREATE INDEX logins_by_end ON logins (until)`,
]
/** Nonces of logins that a wallet may have at a time. */
const LOGINS_MAX = 100

type Row = { readonly payment: string }

export class PayerStore extends Tables implements PaymentStore {
  readonly #arm: () => void

  /** `arm`: sets the alarm for the next step. It is called after each change, in the same write. */
  constructor(storage: DurableObjectStorage, arm: () => void) {
    migrate(storage, SCHEMA)
    super(storage.sql)
    this.#arm = arm
  }

  get(nonce: string): Payment | null {
    const row = this.first<Row>('SELECT payment FROM payments WHERE nonce = ?', nonce)
    return row === undefined ? null : paymentOf(row)
  }

  put(payment: Payment): void {
    const values = [nonceOf(payment), payment.state, payment.dueMs, JSON.stringify(payment)]
    this.run('INSERT OR REPLACE INTO payments (nonce, state, due, payment) VALUES (?, ?, ?, ?)', ...values)
    this.#arm()
  }

  delete(nonce: string): void {
    this.run('DELETE FROM payments WHERE nonce = ?', nonce)
  }

  countOpen(): number {
    return this.one<{ open: number }>(
      "SELECT count(*) AS open FROM payments WHERE state IN ('reserved', 'settling', 'failed')",
    ).open
  }

  due(nowMs: number, limit: number): readonly Payment[] {
    return this.all<Row>('SELECT payment FROM payments WHERE due <= ? ORDER BY due LIMIT ?', nowMs, limit).map(
      paymentOf,
    )
  }

  /** Null: no payment has a next step. */
  nextDueMs(): number | null {
    return this.one<{ due: number | null }>('SELECT min(due) AS due FROM payments').due
  }

  /** False if the nonce was used, or if too many are remembered. */
  useNonce(nonce: string, untilMs: number, nowMs: number): boolean {
    this.run('DELETE FROM logins WHERE until <= ?', nowMs)
    if (this.has('SELECT 1 AS used FROM logins WHERE nonce = ?', nonce)) return false
    if (this.one<{ used: number }>('SELECT count(*) AS used FROM logins').used >= LOGINS_MAX) return false
    this.run('INSERT INTO logins (nonce, until) VALUES (?, ?)', nonce, untilMs)
    return true
  }
}

const paymentOf = ({ payment }: Row) => JSON.parse(payment) as Payment
