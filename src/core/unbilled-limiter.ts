// Limits unbilled responses (rejected bodies, failed sources) per key within an isolate or relay. Invariants: in any t
// seconds, a key gets at most 20 × (t + 1) unbilled responses, whatever its concurrency; upstream work for invalid
// requests above this limit becomes debt; a charged call is never rejected by this limit, unless the call needs a
// source and the key has just wasted 100 upstream attempts.

import { BoundedMap } from './bounded-map.ts'
import type { Failure, RequestLimit } from './failure.ts'
import { type Bucket, borrowTokens, fullBucket, oneSecondBurst, type Rate, takeTokens } from './token-bucket.ts'

export const UNBILLED_LIMIT: RequestLimit = { name: 'uncharged', quota: 20, windowSeconds: 1 }
const RATE = oneSecondBurst(UNBILLED_LIMIT.quota)
/** Rate of upstream attempts for a key that is over its limit. A charged call returns its token. */
const TRIES: Rate = { perSecond: UNBILLED_LIMIT.quota, burst: 100 }
const KEYS_MAX = 10_000
/** Maximum debt in thousandths of a token, which takes half a minute to repay. */
const DEBT_MAX = UNBILLED_LIMIT.quota * 30 * 1_000

/** The failure to send if a key has too many unbilled responses. */
export function unbilledLimitFailure(retryAfterMs: number): Failure {
  const hint = `Too many unbilled error responses (limit ${UNBILLED_LIMIT.quota} per second per key). Fix the requests, then retry after ${Math.ceil(retryAfterMs / 1000)} s.`
  return { kind: 'rate_limited', retryAfterMs, limit: UNBILLED_LIMIT, hint }
}

export class UnbilledLimiter {
  readonly #buckets = new BoundedMap<string, Bucket>(KEYS_MAX)
  readonly #tries = new BoundedMap<string, Bucket>(KEYS_MAX)

  /** Milliseconds until the next unbilled response is allowed; 0 if it is allowed now. This counts nothing. */
  waitMs(keyHash: string, now: number): number {
    const known = this.#buckets.get(keyHash)
    return known === undefined ? 0 : takeTokens(known, RATE, 0, now).waitMs
  }

  /** Counts one unbilled response and returns 0. If it is not allowed, returns the wait in ms. */
  take(keyHash: string, now: number): number {
    const before = this.#buckets.get(keyHash) ?? fullBucket(RATE, now)
    const { bucket, taken, waitMs } = takeTokens(before, RATE, 1, now)
    this.#buckets.set(keyHash, bucket)
    return taken > 0 ? 0 : Math.max(1, waitMs)
  }

  /** Like `take`, but for an invalid request that already caused work upstream. Work above the limit becomes debt. */
  takeOrOwe(keyHash: string, now: number): number {
    if (this.take(keyHash, now) === 0) return 0
    const { bucket } = borrowTokens(this.#buckets.get(keyHash) ?? fullBucket(RATE, now), RATE, 1, now)
    this.#buckets.set(keyHash, { ...bucket, milliTokens: Math.max(bucket.milliTokens, -DEBT_MAX) })
    return this.waitMs(keyHash, now)
  }

  /**
   * Returns 0 if upstream work that may fail is allowed. For a key over its limit, this uses up an attempt. If none is
   * left, returns the wait in ms.
   */
  tryUpstream(keyHash: string, now: number): number {
    if (this.waitMs(keyHash, now) === 0) return 0
    const { bucket, taken, waitMs } = takeTokens(this.#tries.get(keyHash) ?? fullBucket(TRIES, now), TRIES, 1, now)
    this.#tries.set(keyHash, bucket)
    return taken > 0 ? 0 : Math.max(1, waitMs)
  }

  /** Returns the attempt of a call that was charged. */
  refundTry(keyHash: string, now: number): void {
    const known = this.#tries.get(keyHash)
    if (known === undefined) return
    const { bucket } = borrowTokens(known, TRIES, -1, now)
    this.#tries.set(keyHash, { ...bucket, milliTokens: Math.min(bucket.milliTokens, TRIES.burst * 1_000) })
  }
}
