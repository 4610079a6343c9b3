// Types that an upstream answers: the canonical request goes out, its bytes come back unchanged.

import * as z from 'zod'
import type { Failure } from '../../core/failure.ts'
import { parseJson } from '../../core/json.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { exchangeNames } from '../../upstream/outcome.ts'
import type { Sources } from '../ports.ts'
import { type AnyQuery, defineQuery, type InfoAnswer, type InfoQuery, NOT_KNOWN } from '../query.ts'

/** A type that only an upstream answers, for one credit: what its definition has to say beside that. */
export function passThroughQuery<Req extends { readonly type: string }>(
  query: Omit<InfoQuery<Req, 'upstream'>, 'price' | 'needs' | 'resolve'>,
): AnyQuery {
  return defineQuery({ ...query, needs: ['upstream'], resolve: passThrough })
}

type PassThroughDefinition = Pick<AnyQuery, 'type' | 'summary' | 'response'> & { readonly example: unknown }

/** The same of a type that asks for one user alone. `example` is a response. */
export function ofUserQuery({ type, example, ...told }: PassThroughDefinition): AnyQuery {
  return passThroughQuery({
    ...told,
    type,
    example: { request: { user: USER }, response: example },
    request: z.object({ type: z.literal(type), user: UserAddress }),
    freshness: { class: 'user' },
  })
}

/** The same of a type without fields. */
export function bareQuery({ type, example, ...told }: PassThroughDefinition & Pick<AnyQuery, 'freshness'>): AnyQuery {
  return passThroughQuery({
    ...told,
    type,
    example: { request: {}, response: example },
    request: z.object({ type: z.literal(type) }),
  })
}

/** Asks the upstream for exactly this request. `known`: fields that cannot be why it is refused. */
export async function passThrough<Req extends { readonly type: string }>(
  request: Req,
  from: Pick<Sources, 'upstream'>,
  known: readonly string[] = [],
): Promise<Result<InfoAnswer, Failure>> {
  const answer = await from.upstream.request(request.type, JSON.stringify(request))
  if (!answer.ok) return err(withFieldNames(answer.error, request, known))
  const { text, ...lateness } = answer.value
  return ok({ body: text, ...lateness })
}

/** The rows of a list that an upstream answered; null where it answered something else. */
export function rowsIn<Row>(body: string): readonly Row[] | null {
  const value = parseJson(body)
  return Array.isArray(value) ? value : null
}

// An upstream that refuses a request does not say which field it minds. We have checked the form of all of them, so it
// is one of those whose values only the exchange knows: all that it can be are named.

/** The same failure; a `bad_field` without a path gets those of this request's fields, but for `known` ones. */
export function withFieldNames(failure: Failure, request: object, known: readonly string[] = []): Failure {
  if (failure.kind !== 'bad_field' || failure.issues.some(({ path }) => path !== '')) return failure
  const issues = exchangeNames(request)
    .filter((path) => !known.includes(path))
    .map((path) => ({ path, message: NOT_KNOWN }))
  return issues.length === 0 ? failure : { kind: 'bad_field', issues }
}
