// What endpoints are lent to sell credits. Types alone.

import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import type { News, Order } from './order.ts'
import type { CheckoutPrices, Wanted } from './prices.ts'
import type { Provider } from './provider.ts'

type Refused = Failure | { readonly kind: 'conflict'; readonly message: string }

/** Newest first; `before` is a `seq`. */
export interface OrderQuery {
  readonly account?: string | undefined
  readonly state?: Order['state'] | undefined
  readonly before?: number | undefined
  readonly limit: number
}

export interface Checkout {
  readonly prices: CheckoutPrices
  /** Null: nothing is sold. */
  readonly provider: Provider['name'] | null
  begin(account: string, wanted: Wanted): Promise<Result<Order, Failure>>
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
