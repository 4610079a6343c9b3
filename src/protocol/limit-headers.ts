// `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11: lists with an item for each limit
// that a request met, `r` what is left of it and `t` the seconds for which that has to do.

import type { RequestLimit } from '../core/failure.ts'

export type LimitHeaders = { readonly ratelimit: string; readonly 'ratelimit-policy': string }

/** The headers of one limit. Not less than `Retry-After` where a reply has both: the draft asks for that. */
export function limitHeaders({ name, quota, windowSeconds }: RequestLimit, left: number, seconds: number) {
  return {
    ratelimit: `"${name}";r=${Math.max(0, left)};t=${seconds}`,
    'ratelimit-policy': `"${name}";q=${quota};w=${windowSeconds}`,
  } satisfies LimitHeaders
}

/** The headers of several limits as one; those without any are left out. */
export function joinedLimits(...limits: readonly Readonly<Partial<LimitHeaders>>[]): Partial<LimitHeaders> {
  const list = (name: keyof LimitHeaders) => limits.flatMap((limit) => limit[name] ?? []).join(', ')
  const ratelimit = list('ratelimit')
  return ratelimit === '' ? {} : { ratelimit, 'ratelimit-policy': list('ratelimit-policy') }
}
