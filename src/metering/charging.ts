// The port through which every HTTP surface pays: hold before the work, settle on success, release on failure.

import { type Identity, limiterKey, type Product } from '../accounts/identity.ts'
import type { RefusedCall } from '../accounts/refused-calls.ts'
import type { MicroCredits } from '../core/amount.ts'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type UnbilledLimiter, unbilledLimitFailure } from '../core/unbilled-limiter.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { LimitHeaders } from '../protocol/limit-headers.ts'

export interface Price {
  readonly product: Product
  /** Wire type that usage is recorded under, such as `l2Book`. */
  readonly type: string
  readonly amount: MicroCredits
  /** Of a request that another hold counted. */
  readonly isCounted?: boolean
}

/** One of both is called, once. They answer what may still be spent; null: nobody knows, and nothing is charged. */
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

/** A request whose key may enter (http/metered.route.ts). */
export interface MeteredCall {
  readonly identity: Identity
  readonly requestId: string
  readonly charging: Charging
  /** Keeps work alive when the caller is gone: others may wait for it, and it may have to be paid. */
  readonly waitUntil: WaitUntil
  /** Logs a refusal for whoever owns the key. `type`: what was asked for, as far as it was read. */
  readonly recordRefusal: (failure: RefusedCall['failure'], type?: string) => void
}

/**
 * Lets a request be refused that could not even be read, without a charge: what the caller may still spend, or the
 * failure that comes before its own, since revoked keys and rate limits still show.
 */
export async function checkUnbilled(
  { identity, charging }: MeteredCall,
  product: Product,
  limiter: UnbilledLimiter,
  nowMs: number,
): Promise<Result<MicroCredits | null, Failure>> {
  // Counted before it is known whether the key still holds: of many at once none must slip through meanwhile.
  const waitMs = limiter.take(limiterKey(identity), nowMs)
  if (waitMs > 0) return err(unbilledLimitFailure(waitMs))
  const hold = await charging.hold(identity, { product, type: 'refused', amount: 0 })
  return hold.ok ? ok(hold.value.release()) : hold
}
