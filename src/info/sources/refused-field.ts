// An upstream that refuses a request does not say which field it minds. We have checked the form of all of them, so it
// is one whose values only the exchange knows: the most likely of those that the request has is named.

import type { Failure } from '../../core/failure.ts'
import { NOT_KNOWN } from '../answer/meant-coin.ts'

/** Names of things that come and go on the exchange, the likeliest to be unknown first. */
const NAMES_OF_THE_EXCHANGE = ['dex', 'coin', 'token', 'tokenId', 'venue', 'outcome', 'id'] as const

/** The same failure; a `bad_field` without a path gets that of a field of this request. */
export function namingField(failure: Failure, request: object): Failure {
  if (failure.kind !== 'bad_field' || failure.issues.some(({ path }) => path !== '')) return failure
  const path = pathIn(request)
  if (path === null) return failure
  return { kind: 'bad_field', issues: [{ path, message: NOT_KNOWN }] }
}

function pathIn(request: object): string | null {
  const fields = request as Readonly<Record<string, unknown>>
  const name = NAMES_OF_THE_EXCHANGE.find((each) => fields[each] !== undefined)
  if (name !== undefined) return name
  const inner = fields.req
  if (typeof inner !== 'object' || inner === null) return null
  const path = pathIn(inner)
  return path === null ? null : `req.${path}`
}
