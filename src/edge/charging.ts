// The port through which every HTTP surface pays: hold before the work, settle on success, release on failure.

import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import type { MicroCredits } from '../credit/amount.ts'
import type { Identity, Product } from '../key/identity.ts'
import type { LimitHeaders } from './limit-headers.ts'

export interface Price {
  readonly product: Product
  /** Wire type that usage is recorded under, such as `l2Book`. */
  readonly type: string
  readonly amount: MicroCredits
  /** Of a request that another hold counted. */
  readonly isCounted?: boolean
}

/**
 * Exactly one of the two is called, once. Both answer what the caller may still spend, for `x-credits-remaining`; null
 * where nobody knows, and nothing is charged.
 */
export interface Hold {
  settle(): MicroCredits | null
  release(): MicroCredits | null
}

export interface Charging {
  /** At once where nobody has to be asked. */
  hold(identity: Identity, price: Price): Result<Hold, Failure> | Promise<Result<Hold, Failure>>
  /** Tells the meter what was spent here, so that its sums are those of this moment. */
  report?(identity: Identity): Promise<unknown>
  /** Of a product for this caller; null where it has no limit, or more than this part of it is left. */
  limitHeaders?(identity: Identity, product: Product, atMost?: number): LimitHeaders | null
}
