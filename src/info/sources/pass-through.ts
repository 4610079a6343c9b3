// The resolver of a type that an upstream answers: the canonical request goes out, its bytes come back unchanged.

import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Sources } from '../ports.ts'
import type { Answer } from '../query.ts'
import { namingField } from './refused-field.ts'

/** Asks the upstream for exactly this request. `known`: fields that cannot be why it is refused. */
export async function passThrough<Req extends { readonly type: string }>(
  request: Req,
  from: Pick<Sources, 'upstream'>,
  known: readonly string[] = [],
): Promise<Result<Answer, Failure>> {
  const answer = await from.upstream.ask(request.type, JSON.stringify(request))
  if (!answer.ok) return err(namingField(answer.error, request, known))
  const { text, ...lateness } = answer.value
  return ok({ body: text, ...lateness })
}
