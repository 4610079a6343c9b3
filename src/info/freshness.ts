// How old an answer may be. A class per kind of data; the numbers stand here and nowhere else.

export type Freshness =
  /** Changes with a deploy of the exchange: listings, tables. */
  | { readonly class: 'fixed' }
  /** Changes by itself within seconds. */
  | { readonly class: 'slow'; readonly freshMs: number }
  /** Moves with the chain, like our own books. Never served older, whatever fails: nobody must act on a stale book. */
  | { readonly class: 'block'; readonly freshMs: number }
  /** One user's state: concurrent requests share one flight, nothing is kept. */
  | { readonly class: 'user' }
  /** The present state for every single request. */
  | { readonly class: 'none' }

export interface FreshnessTerms {
  /** Served as is below this age; 0: never kept. */
  readonly freshMs: number
  /** Served below this age while one flight fetches a new one. */
  readonly revalidateMs: number
  /** Served below this age where the source fails. */
  readonly ifErrorMs: number
  /** Whether concurrent requests of one key share one flight. */
  readonly shared: boolean
}

const MINUTE_MS = 60_000

/** The terms of a class. Ages count from the moment the source was asked, so that they err on the safe side. */
export function termsOf(freshness: Freshness): FreshnessTerms {
  switch (freshness.class) {
    case 'fixed':
      return { freshMs: MINUTE_MS, revalidateMs: 10 * MINUTE_MS, ifErrorMs: 60 * MINUTE_MS, shared: true }
    case 'slow':
      return { freshMs: freshness.freshMs, revalidateMs: 0, ifErrorMs: MINUTE_MS, shared: true }
    case 'block':
      return { freshMs: freshness.freshMs, revalidateMs: 0, ifErrorMs: 0, shared: true }
    case 'user':
      return { freshMs: 0, revalidateMs: 0, ifErrorMs: 0, shared: true }
    case 'none':
      return { freshMs: 0, revalidateMs: 0, ifErrorMs: 0, shared: false }
  }
}
