// The form of an endpoint of the REST surfaces: its operation, which is parsed with, priced and published, and the
// function that answers. What it answers is typed by the schema of the answer. Invariant: an answer to a key is JSON in the
// envelope, or text; an answer to the operator has no envelope.

import * as z from 'zod'
import { ok, type Result } from '../core/result.ts'
import type { MicroCredits } from '../credit/amount.ts'
import type { Operation } from '../edge/operation.ts'
import type { Identity } from '../key/identity.ts'
import type { Platform } from './platform-api.ts'
import type { Refusal } from './refusal.ts'

type Parsed<Part> = Part extends z.ZodType<infer Value> ? Value : undefined

/** A request as its operation's schemas read it. */
interface Call<Op extends Operation> {
  readonly params: { readonly [name in keyof NonNullable<Op['params']>]: string }
  readonly query: Parsed<Op['query']>
  readonly body: BodyOf<Op>
  /** Who calls; the operator has none. */
  readonly identity: Op['door'] extends 'admin' ? null : Identity
}

type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T

/** What an operation's body is parsed to. */
export type BodyOf<Op extends Pick<Operation, 'body'>> = Op['body'] extends { readonly schema: infer Schema }
  ? Parsed<Schema>
  : undefined

type Body<Answer> = Answer extends { readonly schema: z.ZodType<infer Value> } ? Frozen<Value> : never

/** One of the operation's answers. */
export type Reply<Op extends Pick<Operation, 'answers'>> = {
  [Status in keyof Op['answers'] & number]: { readonly status: Status; readonly body: Body<Op['answers'][Status]> }
}[keyof Op['answers'] & number]

type Answer<Call, Reply> = (call: Call, platform: Platform) => Promise<Result<Reply, Refusal>>

/** Any endpoint, its types forgotten: `answer` takes what its own schemas put out. */
export interface Endpoint extends Operation {
  readonly answer: Answer<
    { readonly [part in keyof Call<Operation>]: unknown },
    { readonly status: number; readonly body: unknown } & Told
  >
}

/** What an answer says beside its body. */
interface Told {
  /** Where the body has a balance, what the headers say too. */
  readonly left?: MicroCredits
  /** What it costs, of an operation whose answers say that. */
  readonly price?: MicroCredits
  /** Of a body that is text, where it is not plain. */
  readonly contentType?: string
}

/** An answer, with its literals kept for the compiler. */
export const reply = <const Status extends number, const Body>(status: Status, body: Body, told: Told = {}) =>
  ok({ status, body, ...told })

/** Keeps an endpoint's own types while checking it, and forgets them for the catalogue. */
export function defineEndpoint<const Op extends Operation>(
  operation: Op,
  answer: Answer<Call<Op>, Reply<Op>>,
): Endpoint {
  const endpoint = { ...operation, answer: answer as unknown as Endpoint['answer'] }
  return operation.door === 'admin' ? endpoint : inEnvelope(endpoint)
}

/** The endpoint with the envelope of the platform around each answer that is no text. */
function inEnvelope({ answers, answer, ...operation }: Endpoint): Endpoint {
  const shown = Object.entries(answers).map(([status, { description, schema, example }]) => {
    const isText = schema instanceof z.ZodString
    return [
      status,
      isText ? answers[Number(status)]! : { description, schema: enveloped(schema), example: sealed(example) },
    ] as const
  })
  return {
    ...operation,
    answers: Object.fromEntries(shown),
    answer: async (call, platform) => {
      const answered = await answer(call, platform)
      if (!answered.ok || typeof answered.value.body === 'string') return answered
      return ok({ ...answered.value, body: sealed(answered.value.body) })
    },
  }
}

const enveloped = (data: z.ZodType) =>
  z.object({
    data: data.describe('The answer itself'),
    error: z.literal(false).describe('True in refusals'),
    error_message: z.null().describe('Text in refusals'),
    error_code: z.null().describe('The status as text in refusals'),
  })

const sealed = (data: unknown) => ({ data, error: false, error_message: null, error_code: null })
