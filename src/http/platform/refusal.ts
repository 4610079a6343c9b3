// How the operator's API says no.

import type { Failure } from '../../core/failure.ts'

/** A refusal of the operator's API; `conflict`, which no other surface has, names the field that met another state. */
export type Refusal = Failure | { readonly kind: 'conflict'; readonly message: string }

/** A refusal of one field. */
export function badField(path: string, message: string): Failure {
  return { kind: 'bad_field', issues: [{ path, message }] }
}

/** A refusal of what may be sent again after a while. */
export function retryLater(retryAfterMs: number, why: string): Failure {
  return { kind: 'rate_limited', retryAfterMs, hint: `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.` }
}

/** Of a gateway whose Workers have neither bucket nor database of an archive. */
export const NO_ARCHIVE: Failure = {
  kind: 'not_found',
  what: 'An archive',
  hint: 'This gateway has no archive: see docs/operators/guides/keep-an-archive.md.',
}
