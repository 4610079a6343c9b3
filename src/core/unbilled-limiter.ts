// Bounds the answers that nobody pays for: refused bodies and failed sources, per key and isolate or relay.
// Invariants: in any t seconds a key gets at most 20 × (t + 1) unbilled answers, however many calls are under way at once;
// what sources did beyond that for refused requests is owed; a call that is answered and charged is never refused here,
// unless it needs a source and the key has just wasted 100 tries at sources.

import { BoundedMap } from './bounded-map.ts'
import type { Failure, RequestLimit } from './failure.ts'
import { type Bucket, borrowTokens, fullBucket, oneSecondBurst, type Rate, takeTokens } from './token-bucket.ts'

export const UNBILLED_LIMIT: RequestLimit = { name: 'uncharged', quota: 20, windowSeconds: 1 }
const RATE = oneSecondBurst(UNBILLED_LIMIT.quota)
/** Calls that need a source, of a key over its limit. One that is charged gives its token back. */
const TRIES: Rate = { perSecond: UNBILLED_LIMIT.quota, burst: 100 }
const KEYS_MAX = 10_000
/** More is not owed, in thousandths: nobody waits for longer than half a minute. */
const DEBT_MAX = UNBILLED_LIMIT.quota * 30 * 1_000

/** What a key is told instead of one unbilled answer too many. */
export function unbilledLimitFailure(retryAfterMs: number): Failure {
  const hint = `Too many unbilled error responses (limit ${UNBILLED_LIMIT.quota} per second per key). Fix the requests before retrying, in ${Math.ceil(retryAfterMs / 1000)} s at the earliest.`
  return { kind: 'rate_limited', retryAfterMs, limit: UNBILLED_LIMIT, hint }
}

export class UnbilledLimiter {
  readonly #buckets = new BoundedMap<string, Bucket>(KEYS_MAX)
  readonly #tries = new BoundedMap<string, Bucket>(KEYS_MAX)

  /** Milliseconds before this key gets another unbilled answer, 0 if it may have one now. Counts nothing. */
  waitMs(keyHash: string, now: number): number {
    const known = this.#buckets.get(keyHash)
    return known === undefined ? 0 : takeTokens(known, RATE, 0, now).waitMs
  }

  /** Counts one unbilled answer: 0, or the milliseconds that the key must wait instead of getting it. */
  take(keyHash: string, now: number): number {
    const before = this.#buckets.get(keyHash) ?? fullBucket(RATE, now)
    const { bucket, taken, waitMs } = takeTokens(before, RATE, 1, now)
    this.#buckets.set(keyHash, bucket)
    return taken > 0 ? 0 : Math.max(1, waitMs)
  }

  /** As `take`, of one whose work was done for a request that is itself at fault: where it is one too many, it is owed. */
  takeOrOwe(keyHash: string, now: number): number {
    if (this.take(keyHash, now) === 0) return 0
    const { bucket } = borrowTokens(this.#buckets.get(keyHash) ?? fullBucket(RATE, now), RATE, 1, now)
    this.#buckets.set(keyHash, { ...bucket, milliTokens: Math.max(bucket.milliTokens, -DEBT_MAX) })
    return this.waitMs(keyHash, now)
  }

  /** Begins work at a source, which may fail: 0, or the milliseconds that a key over its limit must wait for that. */
  tryUpstream(keyHash: string, now: number): number {
    if (this.waitMs(keyHash, now) === 0) return 0
    const { bucket, taken, waitMs } = takeTokens(this.#tries.get(keyHash) ?? fullBucket(TRIES, now), TRIES, 1, now)
    this.#tries.set(keyHash, bucket)
    return taken > 0 ? 0 : Math.max(1, waitMs)
  }

  /** What was tried is charged: it counts as no try. */
  refundTry(keyHash: string, now: number): void {
    const known = this.#tries.get(keyHash)
    if (known === undefined) return
    const { bucket } = borrowTokens(known, TRIES, -1, now)
    this.#tries.set(keyHash, { ...bucket, milliTokens: Math.min(bucket.milliTokens, TRIES.burst * 1_000) })
  }
}
