// Failures of the platform and operator APIs.

import type { Failure } from '../../core/failure.ts'

/** A failure of these APIs; `conflict` exists only here, and its message names the conflicting field. */
export type Refusal = Failure | { readonly kind: 'conflict'; readonly message: string }

/** Failure caused by one field. */
export function badField(path: string, message: string): Failure {
  return { kind: 'bad_field', issues: [{ path, message }] }
}

/** Failure of a request that may be retried after a delay. */
export function retryLater(retryAfterMs: number, why: string): Failure {
  return { kind: 'rate_limited', retryAfterMs, hint: `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.` }
}

/** Failure on a gateway that has no archive. */
export const NO_ARCHIVE: Failure = {
  kind: 'not_found',
  what: 'An archive',
  hint: 'This gateway has no archive: see docs/operators/guides/keep-an-archive.md.',
}
