// Definition of a REST endpoint: its operation, which is parsed, priced and published, and its handler. The response
// schema types the handler's result. Invariant: responses to keys are JSON in an envelope, or text; responses to the
// operator have no envelope.

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

/** Parsed type of a body. */
export type ParsedBody<OneBody> = OneBody extends { readonly schema: infer Schema } ? Parsed<Schema> : undefined

interface Call<Named, Query, Sent, Auth> {
  readonly params: { readonly [name in keyof Named]: string }
  readonly query: Parsed<Query>
  readonly body: ParsedBody<Sent>
  /** Origin of the request’s URL, for links to this gateway. */
  readonly origin: string
  /** Identity of the caller; null for the operator. */
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
  /** Error statuses in addition to those implied by `auth`. */
  readonly refusals?: readonly number[]
}

/** An endpoint with its types erased: `handle` accepts what its own schemas produce. */
export interface Endpoint extends Operation {
  readonly handle: Handler<
    { readonly [part in keyof Call<unknown, unknown, unknown, unknown>]: unknown },
    { readonly status: number; readonly body: unknown } & ReplyExtras
  >
}

interface ReplyExtras {
  /** Balance in the body, repeated in the headers. */
  readonly remaining?: MicroCredits
  /** Price of this response, for operations with a price per response. */
  readonly price?: MicroCredits
  /** Content type of a text body; default plain text. */
  readonly contentType?: string
}

/** A response with its literal types kept. */
export const reply = <const Status extends number, const Body>(status: Status, body: Body, extras: ReplyExtras = {}) =>
  ok({ status, body, ...extras })

const responseWith =
  <const Status extends number>(status: Status) =>
  <Schema extends z.ZodType>(description: string, schema: Schema, differs?: unknown) =>
    ({ [status]: { description, schema, example: exampleOf(schema, differs) } }) as Readonly<
      Record<Status, { readonly description: string; readonly schema: Schema; readonly example: unknown }>
    >
/** Declares the response with this status: description, schema and the example values that differ from the defaults. */
export const okResponse = responseWith(200)
export const createdResponse = responseWith(201)

/**
 * Checks an endpoint with its own types, then erases them for the catalog. An endpoint without `auth` belongs to the
 * operator.
 */
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

/** Wraps each JSON response in the envelope of the platform. */
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
    data: data.describe('Result'),
    error: z.literal(false).describe('Whether the call failed; always false here'),
    error_message: z.null().describe('Error message; always null here'),
    error_code: z.null().describe('HTTP status of an error, as a string; always null here'),
  })

const envelope = (data: unknown) => ({ data, error: false, error_message: null, error_code: null })
