// The form of an endpoint of the REST surfaces: its operation, which is parsed with, priced and published, and the
// function that answers. What it answers is typed by the schema of the answer. Adding one is one file in endpoints/ and
// one line in catalogue.ts.

import type * as z from 'zod'
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
  readonly body: Op['body'] extends { readonly schema: infer Schema } ? Parsed<Schema> : undefined
  /** Who calls; the operator has none. */
  readonly identity: Op['door'] extends 'admin' ? null : Identity
}

type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T

type Body<Answer> = Answer extends { readonly schema: z.ZodType<infer Value> } ? Frozen<Value> : never

/** One of the operation's answers. */
type Reply<Op extends Operation> = {
  [Status in keyof Op['answers']]: { readonly status: Status; readonly body: Body<Op['answers'][Status]> }
}[keyof Op['answers']]

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
  return { ...operation, answer: answer as unknown as Endpoint['answer'] }
}
