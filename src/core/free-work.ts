// Bounds the answers that took work and that nobody pays for: refused bodies and failed sources, per key and isolate
// or relay.
// Laws: in any t seconds a key gets at most 20 × (t + 1) of them, however many calls are under way at once; what was done
// beyond that for refused requests is owed, so that the work is bounded like the answers.

import { BoundedMap } from './bounded-map.ts'
import type { Failure, RequestLimit } from './failure.ts'
import { aSecondsWorth, type Bucket, borrowTokens, fullBucket, takeTokens } from './token-bucket.ts'

export const UNCHARGED: RequestLimit = { name: 'uncharged', quota: 20, windowSeconds: 1 }
const RATE = aSecondsWorth(UNCHARGED.quota)
const KEYS_MAX = 10_000
/** More is not owed, in thousandths: nobody waits for longer than half a minute. */
const OWED_MAX = UNCHARGED.quota * 30 * 1_000

/** What a key is told that may not have it now. */
export function tooMuchFreeWork(retryAfterMs: number): Failure {
  const hint = `Too many answers that cost nothing, ${UNCHARGED.quota} a second at most for each key: mend the requests, or retry after ${Math.ceil(retryAfterMs / 1000)} s.`
  return { kind: 'rate_limited', retryAfterMs, limit: UNCHARGED, hint }
}

export class FreeWork {
  readonly #buckets = new BoundedMap<string, Bucket>(KEYS_MAX)

  /** Milliseconds before work that may turn out free should begin for this key, 0 if it may. Counts nothing. */
  waitMs(keyHash: string, now: number): number {
    const known = this.#buckets.get(keyHash)
    return known === undefined ? 0 : takeTokens(known, RATE, 0, now).waitMs
  }

  /** Counts one uncharged answer: 0, or the milliseconds that the key must wait instead of getting it. */
  take(keyHash: string, now: number): number {
    const before = this.#buckets.get(keyHash) ?? fullBucket(RATE, now)
    const { bucket, taken, waitMs } = takeTokens(before, RATE, 1, now)
    this.#buckets.set(keyHash, bucket)
    return taken > 0 ? 0 : Math.max(1, waitMs)
  }

  /** As `take`, of one whose work was done for a request that is itself at fault: where it is one too many, it is owed. */
  owe(keyHash: string, now: number): number {
    if (this.take(keyHash, now) === 0) return 0
    const { bucket } = borrowTokens(this.#buckets.get(keyHash)!, RATE, 1, now)
    this.#buckets.set(keyHash, { ...bucket, milliTokens: Math.max(bucket.milliTokens, -OWED_MAX) })
    return this.waitMs(keyHash, now)
  }
}
