// Checkout ports: the service that endpoints use to sell credits, and the payment provider behind it.

import type { ChangeAuthor } from '../../accounts/members.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { ok, type Result } from '../../core/result.ts'
import type { TopUpAnswer } from '../../metering/top-up-watch.ts'
import type { AutoTopUp, AutoTopUpChange, AutoTopUpInput, CardEvent } from './auto-top-up.ts'
import type { Invoice } from './invoice.ts'
import type { InvoiceTerms } from './invoice-terms.ts'
import type { CheckoutPrices, PurchaseInput } from './prices.ts'
import type { CHECKOUT_PROVIDERS, PaymentUpdate, Purchase } from './purchase.ts'

interface PaymentSession {
  readonly reference: string | null
  readonly url: string | null
}

/** Errors are sentences for the operator. */
export interface Provider {
  readonly name: (typeof CHECKOUT_PROVIDERS)[number]
  /** Called once per purchase. Repeating it with the same purchase yields the same payment. */
  start(order: Purchase): Promise<Result<PaymentSession, string>>
  /** Ensures that the purchase can no longer be paid. Returns an error if it may still be paid. */
  cancel(order: Purchase): Promise<Result<void, string>>
}

/** The purchase is an invoice: the customer follows the operator's instructions, and the operator marks it as paid. */
export const MANUAL: Provider = {
  name: 'manual',
  start: async () => ok({ reference: null, url: null }),
  cancel: async () => ok(undefined),
}

export type CheckoutError = Failure | { readonly kind: 'conflict'; readonly message: string }

/** Newest first; `before` is a `seq`. */
export interface PurchaseQuery {
  readonly account?: AccountId | undefined
  readonly provider?: Purchase['provider'] | undefined
  readonly state?: Purchase['state'] | undefined
  readonly before?: number | undefined
  readonly limit: number
}

export interface Checkout {
  readonly prices: CheckoutPrices
  /** Tax on the prices; null: none. */
  readonly tax: InvoiceTerms['tax']
  /** Null: checkout is disabled. */
  readonly provider: Provider['name'] | null
  start(account: AccountId, input: PurchaseInput): Promise<Result<Purchase, Failure>>
  list(query: PurchaseQuery): Promise<Purchase[]>
  invoice(number: string, account: AccountId): Promise<Result<Invoice, Failure>>
  /** Called when the operator has received the money. Grants the credits, even if they were withheld. Idempotent. */
  pay(number: string): Promise<Result<Purchase, CheckoutError>>
  void(number: string): Promise<Result<Purchase, CheckoutError>>
  /**
   * Records money that the operator returned for a paid order. `amount`: sum of all its refunds so far, in its currency.
   * Idempotent. A provider that refunds by itself reports that by events.
   */
  recordRefund(number: string, amount: string): Promise<Result<Purchase, CheckoutError>>
  /** Null: the payment provider saves no cards. */
  readonly autoTopUps: AutoTopUpApi | null
}

export interface AutoTopUpView {
  /** Null: never set. */
  readonly current: AutoTopUp | null
  /** Charged this month, in minor units. */
  readonly charged: number
  /** Number of the order in flight; null: none. */
  readonly order: string | null
  /** Newest first. */
  readonly changes: readonly AutoTopUpChange[]
}

/** Top-ups that charge a saved card. `author`: null is the operator. */
export interface AutoTopUpApi {
  view(account: AccountId): Promise<AutoTopUpView>
  turnOn(account: AccountId, input: AutoTopUpInput, author: ChangeAuthor | null): Promise<Result<void, CheckoutError>>
  turnOff(account: AccountId, author: ChangeAuthor | null): Promise<void>
  /** Address of the page on which the owner saves a card. */
  openSetup(account: AccountId): Promise<Result<string, Failure>>
  /** Turns the top-ups off, and makes the card unusable. */
  removeCard(account: AccountId, author: ChangeAuthor | null): Promise<Result<void, Failure>>
  /** Called by the meter. `isLow`: the balance is below the level. */
  advance(account: AccountId, isLow: boolean): Promise<TopUpAnswer>
}

/** A provider event with a verified signature. `update` and `card` are null if it does not concern a purchase or a card. */
export interface ProviderEvent {
  readonly id: string
  readonly type: string
  readonly update: PaymentUpdate | null
  readonly card: CardEvent | null
}

export interface CheckoutEvents {
  /** Returns the outcome. Rejects if the provider must resend the event. */
  handle(event: ProviderEvent): Promise<string>
}
