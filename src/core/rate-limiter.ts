// Limits the request rate per caller. Invariants: the map is bounded; a flood of other callers does not reset the
// counter of an active caller.

import { BoundedMap } from './bounded-map.ts'
import type { RequestLimit } from './failure.ts'
import { type Bucket, fullBucket, takeTokens, wholeTokens } from './token-bucket.ts'

const CALLERS_MAX = 10_000

/** `waitMs`: 0 if the request is allowed. `remaining`: the quota that is left after it. */
export interface RateVerdict {
  readonly waitMs: number
  readonly remaining: number
}

export class RateLimiter {
  readonly #buckets = new BoundedMap<string, Bucket>(CALLERS_MAX)

  /** Counts one request. Rejected requests are not counted. */
  take(caller: string, { quota, windowSeconds }: RequestLimit, nowMs: number): RateVerdict {
    const rate = { perSecond: quota / windowSeconds, burst: quota }
    const before = this.#buckets.get(caller) ?? fullBucket(rate, nowMs)
    const { bucket, taken, waitMs } = takeTokens(before, rate, 1, nowMs)
    // Setting moves the caller to the end, so that the callers seen longest ago are evicted first.
    this.#buckets.set(caller, bucket)
    return { waitMs: taken > 0 ? 0 : Math.max(1, waitMs), remaining: wholeTokens(bucket) }
  }

  get size(): number {
    return this.#buckets.size
  }
}
