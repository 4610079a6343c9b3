// Checkout ports: the service that endpoints use to sell credits, and the payment provider behind it.

import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { ok, type Result } from '../../core/result.ts'
import type { CheckoutPrices, PurchaseInput } from './prices.ts'
import type { PaymentUpdate, PROVIDERS, Purchase } from './purchase.ts'

interface PaymentSession {
  readonly reference: string | null
  readonly url: string | null
}

/** Errors are sentences for the operator. */
export interface Provider {
  readonly name: (typeof PROVIDERS)[number]
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

type CheckoutError = Failure | { readonly kind: 'conflict'; readonly message: string }

/** Newest first; `before` is a `seq`. */
export interface PurchaseQuery {
  readonly account?: AccountId | undefined
  readonly state?: Purchase['state'] | undefined
  readonly before?: number | undefined
  readonly limit: number
}

export interface Checkout {
  readonly prices: CheckoutPrices
  /** Null: checkout is disabled. */
  readonly provider: Provider['name'] | null
  start(account: AccountId, input: PurchaseInput): Promise<Result<Purchase, Failure>>
  list(query: PurchaseQuery): Promise<Purchase[]>
  /** Called when the operator has received the money. Grants the credits, even if they were withheld. Idempotent. */
  pay(number: string): Promise<Result<Purchase, CheckoutError>>
  void(number: string): Promise<Result<Purchase, CheckoutError>>
}

/** A provider event with a verified signature. `update` is null if it does not concern a purchase. */
export interface ProviderEvent {
  readonly id: string
  readonly type: string
  readonly update: PaymentUpdate | null
}

export interface CheckoutEvents {
  /** Returns the outcome. Rejects if the provider must resend the event. */
  handle(event: ProviderEvent): Promise<string>
}
