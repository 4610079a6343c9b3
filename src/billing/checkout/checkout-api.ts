// What endpoints are lent to sell credits, and what takes the money of an order.

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
  /** Asked once for each order; the same order again is the same payment. */
  start(order: Purchase): Promise<Result<PaymentSession, string>>
  /** Sees to it that the order cannot be paid any more; an error where it may be. */
  cancel(order: Purchase): Promise<Result<void, string>>
}

/** The order is an invoice: it is paid as the operator's instructions say, who then marks it paid. */
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
  /** Null: nothing is sold. */
  readonly provider: Provider['name'] | null
  start(account: AccountId, wanted: PurchaseInput): Promise<Result<Purchase, Failure>>
  list(query: PurchaseQuery): Promise<Purchase[]>
  /** The operator has the money: grants its credits, also where that was withheld. Again is the same. */
  pay(number: string): Promise<Result<Purchase, CheckoutError>>
  void(number: string): Promise<Result<Purchase, CheckoutError>>
}

/** An event of a provider, once its signature held. `news`: null where it is none of an order. */
export interface ProviderEvent {
  readonly id: string
  readonly type: string
  readonly update: PaymentUpdate | null
}

export interface CheckoutEvents {
  /** Answers what came of it. Rejects where it is to be sent again. */
  handle(event: ProviderEvent): Promise<string>
}
