// An upstream that refuses a request does not say which field it minds. We have checked the form of all of them, so it
// is one of those whose values only the exchange knows: all that it can be are named.

import type { Failure } from '../../core/failure.ts'
import { exchangeNames } from '../../upstream/exchange-names.ts'
import { NOT_KNOWN } from '../query.ts'

/** The same failure; a `bad_field` without a path gets those of this request's fields, but for `known` ones. */
export function namingField(failure: Failure, request: object, known: readonly string[] = []): Failure {
  if (failure.kind !== 'bad_field' || failure.issues.some(({ path }) => path !== '')) return failure
  const issues = exchangeNames(request)
    .filter((path) => !known.includes(path))
    .map((path) => ({ path, message: NOT_KNOWN }))
  return issues.length === 0 ? failure : { kind: 'bad_field', issues }
}
