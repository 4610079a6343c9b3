// Books x402 payments in D1 and the meters. Invariants: the order of a payment is stored before its grant, and the grant
// has the number of the order, so every repetition completes the one before and none grants or charges twice; a payment
// that the chain has taken is always granted.

import { AccountStore } from '../../accounts/accounts.store.ts'
import { hashKey } from '../../accounts/digest.client.ts'
import { randomBase58 } from '../../core/base58.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId, KeyHash } from '../../core/ids.ts'
import type { Result } from '../../core/result.ts'
import type { InvoiceTerms } from '../checkout/invoice-terms.ts'
import { type GrantPorts, grantPurchase } from '../checkout/purchase-grant.client.ts'
import { PurchaseStore } from '../checkout/purchases.store.ts'
import type { Book, BookUnclear, SettledPayment } from './booking.ts'

export interface BookingPorts extends GrantPorts {
  readonly db: D1Database
  /** Of the invoices; null: none. */
  readonly terms: InvoiceTerms | null
  /** Creates the account, which gets no credits of its plan. Idempotent. */
  openAccount(payment: Pick<SettledPayment, 'account' | 'reference'>): Promise<Result<unknown, Failure>>
  /** Revokes a key in the meter. */
  revokeKey(account: AccountId, hash: KeyHash): Promise<void>
}

const LABEL = 'x402'
const SUFFIX_LENGTH = 4

export function bookingOf(ports: BookingPorts): { readonly book: Book; readonly bookUnclear: BookUnclear } {
  const orders = new PurchaseStore(ports.db, ports.terms)
  const accounts = new AccountStore(ports.db)
  const suffix = () => randomBase58(SUFFIX_LENGTH, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))

  async function openAccount(payment: Pick<SettledPayment, 'account' | 'reference'>): Promise<void> {
    const opened = await ports.openAccount(payment)
    if (!opened.ok) throw new Error(`the account of an x402 payment was not created (${JSON.stringify(opened.error)})`)
  }

  /** Usage is stored by key, so the calls of a wallet that had no key need one. */
  async function callsKeyOf(account: AccountId): Promise<KeyHash> {
    const hash = await hashKey(`${LABEL} calls of ${account}`)
    if (await accounts.addCallsKey(account, hash, LABEL, ports.nowMs())) await ports.revokeKey(account, hash)
    return hash
  }

  return {
    async book({ transaction, settledMs: atMs, call, ...payment }) {
      await openAccount(payment)
      const row = { ...payment, note: null, paid: { transaction, atMs } }
      const order = await orders.ofPayment(row, suffix(), ports.nowMs())
      if (order.granted !== null) return order
      const paid = call && { ...call, keyHash: await callsKeyOf(order.account) }
      const granted = await grantPurchase(ports, orders, order, paid)
      return granted.ok ? granted.value : order
    },
    async bookUnclear({ call: _, ...payment }) {
      await openAccount(payment)
      await orders.ofPayment({ ...payment, paid: null }, suffix(), ports.nowMs())
    },
  }
}
