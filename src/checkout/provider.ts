// What takes the money for an order. Types, and the provider that takes none itself.

import { ok, type Result } from '../core/result.ts'
import type { Order, PROVIDERS } from './order.ts'

/** How a payment was begun: the provider's name of it, and where the buyer pays. */
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
