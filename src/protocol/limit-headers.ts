// `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11: lists with one item per applied limit.
// `r` is the remaining quota and `t` the number of seconds until it resets.

import type { RequestLimit } from '../core/failure.ts'

export type LimitHeaders = { readonly ratelimit: string; readonly 'ratelimit-policy': string }

/** Headers of one limit. The draft requires `t` to be at least `Retry-After`. */
export function limitHeaders({ name, quota, windowSeconds }: RequestLimit, left: number, seconds: number) {
  return {
    ratelimit: `"${name}";r=${Math.max(0, left)};t=${seconds}`,
    'ratelimit-policy': `"${name}";q=${quota};w=${windowSeconds}`,
  } satisfies LimitHeaders
}

/** Merges headers of several limits; empty ones are omitted. */
export function joinedLimits(...limits: readonly Readonly<Partial<LimitHeaders>>[]): Partial<LimitHeaders> {
  const list = (name: keyof LimitHeaders) => limits.flatMap((limit) => limit[name] ?? []).join(', ')
  const ratelimit = list('ratelimit')
  return ratelimit === '' ? {} : { ratelimit, 'ratelimit-policy': list('ratelimit-policy') }
}
