// Bounds how often each of many callers may come. Laws: a bounded map; a flood of others resets nobody who keeps coming.

import { BoundedMap } from './bounded-map.ts'
import type { RequestLimit } from './failure.ts'
import { type Bucket, fullBucket, takeTokens, wholeTokens } from './token-bucket.ts'

const CALLERS_MAX = 10_000

/** `waitMs`: 0 if the caller may go on; `left` of its limit after that. */
export interface RateVerdict {
  readonly waitMs: number
  readonly remaining: number
}

export class RateLimiter {
  readonly #buckets = new BoundedMap<string, Bucket>(CALLERS_MAX)

  /** Counts one coming of this caller. Who is refused is not counted. */
  take(caller: string, { quota, windowSeconds }: RequestLimit, nowMs: number): RateVerdict {
    const rate = { perSecond: quota / windowSeconds, burst: quota }
    const before = this.#buckets.get(caller) ?? fullBucket(rate, nowMs)
    const { bucket, taken, waitMs } = takeTokens(before, rate, 1, nowMs)
    // Least recently seen leave first.
    this.#buckets.set(caller, bucket)
    return { waitMs: taken > 0 ? 0 : Math.max(1, waitMs), remaining: wholeTokens(bucket) }
  }

  get size(): number {
    return this.#buckets.size
  }
}
