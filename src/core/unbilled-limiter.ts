// Limits unbilled responses (rejected bodies, failed sources) per key, in each isolate or relay. Invariants: in any t
// seconds a key gets at most 20 × (t + 1) unbilled responses, whatever its concurrency; upstream work for invalid
// requests beyond this limit becomes debt; a call that succeeds and is charged is never rejected here, unless it needs
// a source and the key has just wasted 100 upstream attempts.

import { BoundedMap } from './bounded-map.ts'
import type { Failure, RequestLimit } from './failure.ts'
import { type Bucket, borrowTokens, fullBucket, oneSecondBurst, type Rate, takeTokens } from './token-bucket.ts'

export const UNBILLED_LIMIT: RequestLimit = { name: 'uncharged', quota: 20, windowSeconds: 1 }
const RATE = oneSecondBurst(UNBILLED_LIMIT.quota)
/** Upstream attempts of a key over its limit. A charged call refunds its token. */
const TRIES: Rate = { perSecond: UNBILLED_LIMIT.quota, burst: 100 }
const KEYS_MAX = 10_000
/** Maximum debt in thousandths: half a minute of waiting. */
const DEBT_MAX = UNBILLED_LIMIT.quota * 30 * 1_000

/** Failure that is sent when a key has too many unbilled responses. */
export function unbilledLimitFailure(retryAfterMs: number): Failure {
  const hint = `Too many unbilled error responses (limit ${UNBILLED_LIMIT.quota} per second per key). Fix the requests, then retry after ${Math.ceil(retryAfterMs / 1000)} s.`
  return { kind: 'rate_limited', retryAfterMs, limit: UNBILLED_LIMIT, hint }
}

export class UnbilledLimiter {
  readonly #buckets = new BoundedMap<string, Bucket>(KEYS_MAX)
  readonly #tries = new BoundedMap<string, Bucket>(KEYS_MAX)

  /** Milliseconds until the next unbilled response is allowed, 0 if now. Counts nothing. */
  waitMs(keyHash: string, now: number): number {
    const known = this.#buckets.get(keyHash)
    return known === undefined ? 0 : takeTokens(known, RATE, 0, now).waitMs
  }

  /** Counts one unbilled response. Returns 0, or the wait in ms if it is not allowed. */
  take(keyHash: string, now: number): number {
    const before = this.#buckets.get(keyHash) ?? fullBucket(RATE, now)
    const { bucket, taken, waitMs } = takeTokens(before, RATE, 1, now)
    this.#buckets.set(keyHash, bucket)
    return taken > 0 ? 0 : Math.max(1, waitMs)
  }

  /**
   * Like `take`, for work that was already done upstream for an invalid request. Work beyond the limit becomes debt.
   */
  takeOrOwe(keyHash: string, now: number): number {
    if (this.take(keyHash, now) === 0) return 0
    const { bucket } = borrowTokens(this.#buckets.get(keyHash) ?? fullBucket(RATE, now), RATE, 1, now)
    this.#buckets.set(keyHash, { ...bucket, milliTokens: Math.max(bucket.milliTokens, -DEBT_MAX) })
    return this.waitMs(keyHash, now)
  }

  /** Admits upstream work that may fail. Returns 0, or the wait in ms for a key over its limit. */
  tryUpstream(keyHash: string, now: number): number {
    if (this.waitMs(keyHash, now) === 0) return 0
    const { bucket, taken, waitMs } = takeTokens(this.#tries.get(keyHash) ?? fullBucket(TRIES, now), TRIES, 1, now)
    this.#tries.set(keyHash, bucket)
    return taken > 0 ? 0 : Math.max(1, waitMs)
  }

  /** The call was charged: refund its attempt. */
  refundTry(keyHash: string, now: number): void {
    const known = this.#tries.get(keyHash)
    if (known === undefined) return
    const { bucket } = borrowTokens(known, TRIES, -1, now)
    this.#tries.set(keyHash, { ...bucket, milliTokens: Math.min(bucket.milliTokens, TRIES.burst * 1_000) })
  }
}
