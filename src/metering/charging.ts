// Payment port of every HTTP surface: hold before the work, settle on success, release on failure.

import { type Identity, limiterKey, type Product } from '../accounts/identity.ts'
import type { RefusedCall } from '../accounts/refused-calls.ts'
import type { MicroCredits } from '../core/amount.ts'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type UnbilledLimiter, unbilledLimitFailure } from '../core/unbilled-limiter.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { LimitHeaders } from '../protocol/limit-headers.ts'
import type { LoggedCall } from './request-log/log-api.ts'

export interface Price {
  readonly product: Product
  /** Wire type under which usage is recorded, such as `l2Book`. */
  readonly type: string
  readonly amount: MicroCredits
  /** The request was already counted by another hold. */
  readonly isCounted?: boolean
}

/**
 * The caller calls exactly one of these methods, once. Both return the remaining credits, or null if they are unknown;
 * then nothing is charged.
 */
export interface Hold {
  settle(): MicroCredits | null
  release(): MicroCredits | null
}

export interface Charging {
  /** The result is synchronous if no exchange with the meter is needed. */
  hold(identity: Identity, price: Price): Result<Hold, Failure> | Promise<Result<Hold, Failure>>
  /** Reports local spending to the meter, so that its totals are current. */
  report?(identity: Identity): Promise<unknown>
  /**
   * Rate-limit headers of a product for this caller. Null if the product has no limit, or if more than the fraction
   * `atMost` of it remains.
   */
  limitHeaders?(identity: Identity, product: Product, atMost?: number): LimitHeaders | null
  /** Logs a call of this request for the key's owner. */
  log?(identity: Identity, call: CallResult): void
}

/** Result of a call. Its times are those of its request. */
export type CallResult = Omit<LoggedCall, 'keyHash' | 'atMs' | 'ms'>

/** A request of a known caller (http/metered.route.ts). */
export interface MeteredCall {
  readonly identity: Identity
  readonly requestId: string
  readonly charging: Charging
  /** Keeps work alive after the caller is gone, because others may share it, and it may have to be charged. */
  readonly waitUntil: WaitUntil
  /** Logs a refusal for the key's owner. `status`: of the reply; `type`: the requested type, if it was parsed. */
  readonly recordRefusal: (failure: RefusedCall['failure'], status: number, type?: string) => void
  /** The caller has no key. A request must be valid before the reply says its price. */
  readonly isVisit?: true
}

/** Logs a call that was answered, for the key's owner. `micro`: what was charged; `code`: of an error that a node answered. */
export function recordAnswer(
  { identity, requestId, charging }: MeteredCall,
  { product, type }: Pick<Price, 'product' | 'type'>,
  micro: MicroCredits,
  { status = 200, code = '' }: Partial<Pick<CallResult, 'status' | 'code'>> = {},
): void {
  charging.log?.(identity, { product, type, status, code, micro, requestId })
}

/**
 * Allows an unbilled refusal of an unreadable request. Returns the remaining credits, or a failure that takes
 * precedence, because revoked keys and rate limits still apply.
 */
export async function checkUnbilled(
  { identity, charging }: MeteredCall,
  product: Product,
  limiter: UnbilledLimiter,
  nowMs: number,
): Promise<Result<MicroCredits | null, Failure>> {
  // The request is counted before the key is checked. Otherwise, many concurrent requests could slip through.
  const waitMs = limiter.take(limiterKey(identity), nowMs)
  if (waitMs > 0) return err(unbilledLimitFailure(waitMs))
  const hold = await charging.hold(identity, { product, type: 'refused', amount: 0 })
  return hold.ok ? ok(hold.value.release()) : hold
}
