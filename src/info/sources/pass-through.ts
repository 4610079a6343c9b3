// Queries that an upstream serves: the canonical request is sent, and the response bytes are returned unchanged.

import * as z from 'zod'
import type { Failure } from '../../core/failure.ts'
import { parseJson } from '../../core/json.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { exchangeNames } from '../../upstream/outcome.ts'
import type { Sources } from '../ports.ts'
import { type AnyQuery, defineQuery, type InfoAnswer, type InfoQuery, NOT_KNOWN } from '../query.ts'

/** Query that is passed through to an upstream for one credit. */
export function passThroughQuery<Req extends { readonly type: string }>(
  query: Omit<InfoQuery<Req, 'upstream'>, 'price' | 'needs' | 'resolve'>,
): AnyQuery {
  return defineQuery({ ...query, needs: ['upstream'], resolve: passThrough })
}

type PassThroughDefinition = Pick<AnyQuery, 'type' | 'summary' | 'response'> & { readonly example: unknown }

/** The same for a type with `user` as its only field. `example` is a response. */
export function ofUserQuery({ type, example, ...definition }: PassThroughDefinition): AnyQuery {
  return passThroughQuery({
    ...definition,
    type,
    example: { request: { user: USER }, response: example },
    request: z.object({ type: z.literal(type), user: UserAddress }),
    freshness: { class: 'user' },
  })
}

/** The same for a type that has no fields. */
export function bareQuery({
  type,
  example,
  ...definition
}: PassThroughDefinition & Pick<AnyQuery, 'freshness'>): AnyQuery {
  return passThroughQuery({
    ...definition,
    type,
    example: { request: {}, response: example },
    request: z.object({ type: z.literal(type) }),
  })
}

/** Sends exactly this request upstream. `known`: fields that cannot be the reason for a rejection. */
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

/** Rows of an upstream list; null for any other response. */
export function rowsIn<Row>(body: string): readonly Row[] | null {
  const value = parseJson(body)
  return Array.isArray(value) ? value : null
}

// An upstream that rejects a request does not name the field. Formats are already validated, so the cause is a value
// that only the exchange can check; all such fields are named.

/** Adds the possible fields of this request to a `bad_field` failure without a path. */
export function withFieldNames(failure: Failure, request: object, known: readonly string[] = []): Failure {
  if (failure.kind !== 'bad_field' || failure.issues.some(({ path }) => path !== '')) return failure
  const issues = exchangeNames(request)
    .filter((path) => !known.includes(path))
    .map((path) => ({ path, message: NOT_KNOWN }))
  return issues.length === 0 ? failure : { kind: 'bad_field', issues }
}
