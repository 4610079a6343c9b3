// Maximum age of responses and where copies are cached, by class of data. A stale response reports its age, and none is
// ever served beyond the limit of its class.

import { MINUTE_MS, SECOND_MS } from '../core/time.ts'

export type Freshness =
  /** Listings and tables, which change only when something is deployed on the exchange. */
  | { readonly class: 'fixed' }
  /** Changes within seconds. */
  | { readonly class: 'slow'; readonly freshMs: number }
  /** Changes with the oracle and trades; fetched from an upstream. */
  | { readonly class: 'tick' }
  /** Our own order books and similar data. An older copy is never served, even on failures, because callers trade on it. */
  | { readonly class: 'block'; readonly freshMs: number }
  /** State of one user: concurrent requests share one fetch, and nothing is cached. */
  | { readonly class: 'user' }
  /** Current state for every request, never older than the request. */
  | { readonly class: 'none' }

/** Blocks become durable about once per second, so fresher reads return nothing new. */
export const HISTORY_FRESHNESS: Freshness = { class: 'block', freshMs: 1_000 }

/** Shared caches: data center (Cache API) and whole network (KV). */
export type Tier = 'region' | 'network'

export interface FreshnessTerms {
  /** Served without a fetch below this age; 0: never cached. */
  readonly freshMs: number
  /** Served below this age while a new copy is fetched in the background. */
  readonly revalidateMs: number
  /** Served below this age if the source fails. */
  readonly ifErrorMs: number
  /** Which fetch concurrent requests share: the current fetch, or only a fetch that starts after they arrived. */
  readonly shares: 'present' | 'next'
  /** Shared caches beyond the isolate's memory, nearest first. */
  readonly tiers: readonly Tier[]
}

/** Minimum freshness that is worth sharing between isolates. */
const SHARED_FROM_MS = 5 * SECOND_MS
const NEVER = { freshMs: 0, revalidateMs: 0, ifErrorMs: 0, shares: 'present', tiers: [] } as const

/** Limits of a freshness class. Ages count from the start of the fetch, so they are never too low. */
export function termsOf(freshness: Freshness): FreshnessTerms {
  switch (freshness.class) {
    case 'fixed': {
      const ages = { freshMs: MINUTE_MS, revalidateMs: 10 * MINUTE_MS, ifErrorMs: 60 * MINUTE_MS }
      return { ...NEVER, ...ages, tiers: ['region', 'network'] }
    }
    case 'slow': {
      const { freshMs } = freshness
      return { ...NEVER, freshMs, ifErrorMs: MINUTE_MS, tiers: freshMs >= SHARED_FROM_MS ? ['region'] : [] }
    }
    case 'tick':
      return { ...NEVER, freshMs: SECOND_MS, ifErrorMs: 10 * SECOND_MS }
    case 'block':
      return { ...NEVER, freshMs: freshness.freshMs }
    case 'user':
      return NEVER
    case 'none':
      return { ...NEVER, shares: 'next' }
  }
}

/**
 * How a copy may be used. A `stale` copy is served while a new copy is fetched, and a `spare` copy only if the source
 * fails.
 */
export type CopyUse = 'fresh' | 'stale' | 'spare' | 'none'

/** Returns how a copy of this age may be used. */
export function useOf(ageMs: number, { freshMs, revalidateMs, ifErrorMs }: FreshnessTerms): CopyUse {
  if (ageMs < freshMs) return 'fresh'
  if (ageMs < revalidateMs) return 'stale'
  return ageMs < ifErrorMs ? 'spare' : 'none'
}
