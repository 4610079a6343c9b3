// How old an answer may be, and where copies of it are kept. A class per kind of data; the numbers stand here and
// nowhere else. A stale answer says its age, and none is ever served beyond the bound of its class.

import { MINUTE_MS, SECOND_MS } from '../core/time.ts'

export type Freshness =
  /** Changes with a deploy of the exchange: listings, tables. */
  | { readonly class: 'fixed' }
  /** Changes by itself within seconds. */
  | { readonly class: 'slow'; readonly freshMs: number }
  /** Moves with the oracle and with trades, and a source is asked for it. */
  | { readonly class: 'tick' }
  /** Our own books, and what is acted on at once. Never served older, whatever fails: nobody must act on a stale book. */
  | { readonly class: 'block'; readonly freshMs: number }
  /** One user's state: concurrent requests share one flight, nothing is kept. */
  | { readonly class: 'user' }
  /** The present state for every single request. */
  | { readonly class: 'none' }

/** Blocks become durable about once a second; asking more often shows nothing new. */
export const HISTORY_FRESHNESS: Freshness = { class: 'block', freshMs: 1_000 }

/** Stores beyond the isolate's memory: of the data centre (Cache API), of the whole network (KV). */
export type Tier = 'region' | 'network'

export interface FreshnessTerms {
  /** Served as is below this age; 0: never kept. */
  readonly freshMs: number
  /** Served below this age while one flight fetches a new one. */
  readonly revalidateMs: number
  /** Served below this age where the source fails. */
  readonly ifErrorMs: number
  /** Which readings concurrent requests of one key share: the one under way, or only one that begins after they came. */
  readonly shares: 'present' | 'next'
  /** Where copies are kept beside the isolate's memory, nearest first. */
  readonly tiers: readonly Tier[]
}

/** A copy for other isolates must outlive the reading of it by far. */
const SHARED_FROM_MS = 5 * SECOND_MS
const NEVER = { freshMs: 0, revalidateMs: 0, ifErrorMs: 0, shares: 'present', tiers: [] } as const

/** The terms of a class. Ages count from the moment the source was asked, so that they err on the safe side. */
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

/** What a copy may be used for: `stale` while a new one is fetched, `spare` where none can be had. */
export type CopyUse = 'fresh' | 'stale' | 'spare' | 'none'

/** What a copy of this age is good for. */
export function useOf(ageMs: number, { freshMs, revalidateMs, ifErrorMs }: FreshnessTerms): CopyUse {
  if (ageMs < freshMs) return 'fresh'
  if (ageMs < revalidateMs) return 'stale'
  return ageMs < ifErrorMs ? 'spare' : 'none'
}
