// Requests per second, leased like credits: the meter's side, one in-memory bucket per key per kind. Invariant: a lost
// response loses tokens and never creates any.

import { BoundedMap } from '../core/bounded-map.ts'
import type { KeyHash } from '../core/ids.ts'
import { type Bucket, fullBucket, oneSecondBurst, takeTokens, wholeTokens } from '../core/token-bucket.ts'
import type { RateTokenRequest, RateTokenResponse } from './lease-api.ts'

/**
 * An isolate holds at most this fraction (1/n) of a second's tokens in advance. A key with a low rate needs an exchange
 * for each request.
 */
const AHEAD_SHARE = 4
const BUCKETS_MAX = 10_000

/** After a restart, all buckets are full. */
export class RequestBuckets {
  readonly #buckets = new BoundedMap<string, { readonly bucket: Bucket; readonly perSecond: number }>(BUCKETS_MAX)

  take(keyHash: KeyHash, { bucket, perSecond, need, forecast }: RateTokenRequest, nowMs: number): RateTokenResponse {
    const name = `${keyHash} ${bucket}`
    const rate = oneSecondBurst(perSecond)
    const before = this.#buckets.get(name)?.bucket ?? fullBucket(rate, nowMs)
    const count = Math.max(need, Math.min(forecast, tokensAhead(perSecond)))
    const { bucket: after, taken, waitMs } = takeTokens(before, rate, count, nowMs)
    this.#buckets.set(name, { bucket: after, perSecond })
    return { granted: taken, waitMs, remaining: wholeTokens(after) }
  }

  /** Requests of the busiest key in the last second, by kind. Includes tokens that isolates hold in advance. */
  busiest(nowMs: number): Readonly<Record<string, number>> {
    const busiest: Record<string, number> = {}
    for (const [name, { bucket, perSecond }] of this.#buckets.entries()) {
      const kind = name.slice(name.indexOf(' ') + 1)
      const rate = oneSecondBurst(perSecond)
      const left = wholeTokens(takeTokens(bucket, rate, 0, nowMs).bucket)
      busiest[kind] = Math.max(busiest[kind] ?? 0, rate.burst - left)
    }
    return busiest
  }
}

/** Maximum number of tokens that an isolate holds in addition to those that its waiting calls need. */
export function tokensAhead(perSecond: number): number {
  return Math.max(1, Math.floor(perSecond / AHEAD_SHARE))
}
