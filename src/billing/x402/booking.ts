// How a payment that the chain has taken enters the books: as a paid order that grants its credits, and as a charge of the
// same amount if it paid for a call. Types and names; booking.client.ts books, and the Payer object calls it.

import type { Identity, Product } from '../../accounts/identity.ts'
import type { KeyName } from '../../accounts/key-row.ts'
import type { MicroCredits } from '../../core/amount.ts'
import type { AccountId } from '../../core/ids.ts'
import type { Purchase } from '../checkout/purchase.ts'

/** A payment that the chain has taken. */
export interface SettledPayment {
  /** `${network}:${payer}:${nonce}`, lower case; at most one order has it. */
  readonly reference: string
  readonly account: AccountId
  readonly micro: MicroCredits
  /** In atomic units of `currency`. */
  readonly minor: number
  readonly currency: string
  readonly transaction: string
  /** Type of the call that it paid for, such as `l2Book`, with its product; null: credits. */
  readonly call: { readonly product: Product; readonly type: string } | null
  readonly settledMs: number
}

/** Idempotent, in any order, from any state of an earlier attempt. Rejects on a temporary failure. */
export type Book = (payment: SettledPayment) => Promise<Purchase>

/** Records a payment whose outcome the operator must find out. Idempotent. */
export type BookUnclear = (
  payment: Omit<SettledPayment, 'transaction' | 'settledMs'> & { readonly note: string },
) => Promise<void>

/** A new key; `key` is shown only once. */
export interface IssuedKey extends KeyName {
  readonly key: string
}

/**
 * A key for the wallet's account if it has no active key of x402 of this kind; null otherwise. `rotate`: revokes the
 * former and issues one.
 */
export type IssueKey = (
  account: AccountId,
  how: 'first' | 'rotate',
  kind: Identity['kind'],
) => Promise<IssuedKey | null>

const WALLET_ACCOUNT = 'x402-'

/** Account of a wallet. `address`: hex with `0x`. */
export function walletAccount(address: string): AccountId {
  return `${WALLET_ACCOUNT}${address.slice(2).toLowerCase()}`
}

/** Whether only a payment may create an account with this name. */
export function isWalletAccount(account: AccountId): boolean {
  return account.toLowerCase().startsWith(WALLET_ACCOUNT)
}
