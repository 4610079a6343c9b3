// What endpoints are lent to sell credits, and what takes the money of an order.

import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { ok, type Result } from '../../core/result.ts'
import type { News, Order, PROVIDERS } from './order.ts'
import type { CheckoutPrices, Wanted } from './prices.ts'

interface Begun {
  readonly reference: string | null
  readonly url: string | null
}

/** Errors are sentences for the operator. */
export interface Provider {
  readonly name: (typeof PROVIDERS)[number]
  /** Asked once for each order; the same order again is the same payment. */
  begin(order: Order): Promise<Result<Begun, string>>
  /** Sees to it that the order cannot be paid any more; an error where it may be. */
  cancel(order: Order): Promise<Result<void, string>>
}

/** The order is an invoice: it is paid as the operator's instructions say, who then marks it paid. */
export const MANUAL: Provider = {
  name: 'manual',
  begin: async () => ok({ reference: null, url: null }),
  cancel: async () => ok(undefined),
}

type Refused = Failure | { readonly kind: 'conflict'; readonly message: string }

/** Newest first; `before` is a `seq`. */
export interface OrderQuery {
  readonly account?: AccountId | undefined
  readonly state?: Order['state'] | undefined
  readonly before?: number | undefined
  readonly limit: number
}

export interface Checkout {
  readonly prices: CheckoutPrices
  /** Null: nothing is sold. */
  readonly provider: Provider['name'] | null
  begin(account: AccountId, wanted: Wanted): Promise<Result<Order, Failure>>
  list(query: OrderQuery): Promise<Order[]>
  /** The operator has the money: grants its credits, also where that was withheld. Again is the same. */
  pay(number: string): Promise<Result<Order, Refused>>
  void(number: string): Promise<Result<Order, Refused>>
}

/** An event of a provider, once its signature held. `news`: null where it is none of an order. */
export interface ProviderEvent {
  readonly id: string
  readonly type: string
  readonly news: News | null
}

export interface CheckoutEvents {
  /** Answers what came of it. Rejects where it is to be sent again. */
  hear(event: ProviderEvent): Promise<string>
}
