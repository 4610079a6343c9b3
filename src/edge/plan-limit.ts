// Which of a plan's limits of requests a second a product is held to, and how its caller hears that it was met. The
// bucket's name stands in `ratelimit` headers, the field of the plan in the sentence.

import type { Failure } from '../core/failure.ts'
import type { Product } from '../key/identity.ts'
import { LIMIT_FIELDS } from '../key/limits.ts'

/** Products without a bucket have no limit of this kind: frames and sockets of a stream are bounded elsewhere. */
export const BUCKET_OF: { readonly [product in Product]?: Bucket } = {
  info: 'info',
  rpc: 'rest',
  data: 'rest',
  platform: 'rest',
}
type Bucket = keyof typeof LIMIT_OF

/** The limit that fills a bucket. */
export const LIMIT_OF = { info: 'infoRequestsPerSecond', rest: 'requestsPerSecond' } as const

/** The refusal of a request for which a bucket has no token yet. */
export function tooMany(bucket: Bucket, perSecond: number, retryAfterMs: number): Failure {
  const most = `this account's plan allows each key ${perSecond} a second (${LIMIT_FIELDS[LIMIT_OF[bucket]]})`
  const hint = `Too many requests: ${most}: retry after ${Math.ceil(retryAfterMs / 1000)} s.`
  return { kind: 'rate_limited', retryAfterMs, hint }
}
