// The form of an endpoint of the REST surfaces: its operation, which is parsed with, priced and published, and the
// function that answers. What it answers is typed by the schema of the answer. Invariant: an answer to a key is JSON in the
// envelope, or text; an answer to the operator has no envelope.

import * as z from 'zod'
import type { Identity } from '../../accounts/identity.ts'
import type { MicroCredits } from '../../core/amount.ts'
import { ok, type Result } from '../../core/result.ts'
import type { Operation } from '../operation.ts'
import { exampleOf } from './example.ts'
import type { Platform } from './platform-api.ts'
import type { Refusal } from './refusal.ts'

type Parsed<Part> = Part extends z.ZodType<infer Value> ? Value : undefined
type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T

type Params = NonNullable<Operation['params']>
export type Body = NonNullable<Operation['body']>
export type Responses = Operation['responses']

/** What a body is parsed to. */
export type ParsedBody<OneBody> = OneBody extends { readonly schema: infer Schema } ? Parsed<Schema> : undefined

interface Call<Named, Query, Sent, Auth> {
  readonly params: { readonly [name in keyof Named]: string }
  readonly query: Parsed<Query>
  readonly body: ParsedBody<Sent>
  /** Who calls; the operator has none. */
  readonly identity: Auth extends 'key' | 'service' ? Identity : null
}

export type Reply<All extends Responses> = {
  [Status in keyof All & number]: {
    readonly status: Status
    readonly body: All[Status] extends { readonly schema: z.ZodType<infer Value> } ? Frozen<Value> : never
  }
}[keyof All & number]

type Handler<Call, Reply> = (call: Call, platform: Platform) => Promise<Result<Reply, Refusal>>

export interface Definition
  extends Omit<Operation, 'method' | 'path' | 'auth' | 'refusals' | 'params' | 'query' | 'body' | 'responses'> {
  readonly route: `${Uppercase<Operation['method']>} /${string}`
  /** Left out: none beside those of its door. */
  readonly refusals?: readonly number[]
}

/** Any endpoint, its types forgotten: `answer` takes what its own schemas put out. */
export interface Endpoint extends Operation {
  readonly handle: Handler<
    { readonly [part in keyof Call<unknown, unknown, unknown, unknown>]: unknown },
    { readonly status: number; readonly body: unknown } & ReplyExtras
  >
}

interface ReplyExtras {
  /** Where the body has a balance, what the headers say too. */
  readonly remaining?: MicroCredits
  /** What it costs, of an operation whose answers say that. */
  readonly price?: MicroCredits
  /** Of a body that is text, where it is not plain. */
  readonly contentType?: string
}

/** An answer, with its literals kept for the compiler. */
export const reply = <const Status extends number, const Body>(status: Status, body: Body, extras: ReplyExtras = {}) =>
  ok({ status, body, ...extras })

const responseWith =
  <const Status extends number>(status: Status) =>
  <Schema extends z.ZodType>(description: string, schema: Schema, differs?: unknown) =>
    ({ [status]: { description, schema, example: exampleOf(schema, differs) } }) as Readonly<
      Record<Status, { readonly description: string; readonly schema: Schema; readonly example: unknown }>
    >
/** The answer with this status: what it is, its shape, and what its example has of its own. */
export const okResponse = responseWith(200)
export const createdResponse = responseWith(201)

/** Keeps an endpoint's own types while checking it, and forgets them for the catalogue. Without `auth` it is the operator's. */
export function defineEndpoint<
  const Named extends Params = Record<never, never>,
  const Query extends z.ZodType | undefined = undefined,
  const Sent extends Body | undefined = undefined,
  const All extends Responses = Responses,
  const Auth extends 'key' | 'service' | undefined = undefined,
>({
  route,
  auth,
  refusals = [],
  handle,
  ...operation
}: Definition & {
  readonly auth?: Auth
  readonly params?: Named
  readonly query?: Query
  readonly body?: Sent
  readonly responses: All
  readonly handle: Handler<Call<Named, Query, Sent, Auth>, Reply<All>>
}): Endpoint {
  const [method = '', path = ''] = route.split(' ')
  const endpoint = { ...operation, method: method.toLowerCase(), path, auth: auth ?? 'admin', refusals, handle }
  return auth === undefined ? (endpoint as Endpoint) : inEnvelope(endpoint as Endpoint)
}

/** The endpoint with the envelope of the platform around each answer that is no text. */
function inEnvelope({ responses, handle, ...operation }: Endpoint): Endpoint {
  const enveloped = Object.entries(responses).map(([status, shape]) => {
    const { description, schema, example } = shape
    const isText = schema instanceof z.ZodString
    return [
      status,
      isText ? shape : { description, schema: envelopeSchema(schema), example: envelope(example) },
    ] as const
  })
  return {
    ...operation,
    responses: Object.fromEntries(enveloped),
    handle: async (call, platform) => {
      const result = await handle(call, platform)
      if (!result.ok || typeof result.value.body === 'string') return result
      return ok({ ...result.value, body: envelope(result.value.body) })
    },
  }
}

const envelopeSchema = (data: z.ZodType) =>
  z.object({
    data: data.describe('The answer itself'),
    error: z.literal(false).describe('True in refusals'),
    error_message: z.null().describe('Text in refusals'),
    error_code: z.null().describe('The status as text in refusals'),
  })

const envelope = (data: unknown) => ({ data, error: false, error_message: null, error_code: null })
