// Operations of the operator's API on routes: input is checked by the operation's own definition, all of it before
// anything is done, and refusals are worded in one place.

import type { Context, Hono } from 'hono'
import * as z from 'zod'
import type { Failure, Issue } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { parseWith } from '../core/schema-words.ts'
import { readJsonBody } from '../edge/body.ts'
import { restFailure } from '../edge/failure-wire.ts'
import type { Operation } from '../edge/operation.ts'
import { newRequestId, REQUEST_ID_HEADER } from '../edge/request-id.ts'
import type { Refusal } from './refusal.ts'

export interface AdminEnv {
  readonly ACCOUNTS: D1Database
  readonly KEYS: KVNamespace
  readonly ADMIN_TOKEN?: string
  readonly KEY_SECRET?: string
}

export type AdminContext = Context<{ Bindings: AdminEnv }>
export type AdminApp = Hono<{ Bindings: AdminEnv }>

type Parsed<Part> = Part extends z.ZodType<infer Value> ? Value : undefined

/** What an operation's definition asks for, parsed. */
export interface Input<Op extends Operation> {
  readonly params: { readonly [name in keyof NonNullable<Op['params']>]: string }
  readonly query: Parsed<Op['query']>
  readonly body: Op['body'] extends { readonly schema: infer Schema } ? Parsed<Schema> : undefined
}

/** An answer of 200, unless it says otherwise. */
export interface Reply {
  readonly status?: 200 | 201
  readonly body: object
}

const BODY_MAX_BYTES = 16 * 1024
const NOTHING = z.strictObject({})

/** Registers the operation under its path without `/admin`. */
export function serve<const Op extends Operation>(
  app: AdminApp,
  operation: Op,
  answer: (c: AdminContext, input: Input<Op>) => Promise<Result<Reply, Refusal>>,
): void {
  const path = operation.path.replace('/admin', '').replaceAll(/\{(\w+)\}/g, ':$1')
  app.on(operation.method.toUpperCase(), [path], async (c) => {
    const input = await inputOf(c, operation)
    const reply = input.ok ? await answer(c, input.value) : input
    if (!reply.ok) return refuse(reply.error)
    const { status = 200, body } = reply.value
    return Response.json(body, { status, headers: { 'cache-control': 'no-store', [REQUEST_ID_HEADER]: requestId() } })
  })
}

/** A refusal in the platform's words. */
export function refuse(failure: Refusal): Response {
  if (failure.kind === 'conflict') {
    const body = { error: true, error_message: failure.message, error_code: '409' }
    return Response.json(body, { status: 409, headers: { [REQUEST_ID_HEADER]: requestId() } })
  }
  const { status, headers, body } = restFailure(failure, requestId())
  return new Response(body, { status, headers })
}

async function inputOf<Op extends Operation>(c: AdminContext, operation: Op): Promise<Result<Input<Op>, Failure>> {
  const params = parsed(z.object(operation.params ?? {}), c.req.param())
  if (!params.ok) return params
  const query = parsed(operation.query ?? NOTHING, c.req.query())
  if (!query.ok) return query
  const body = operation.body === undefined ? ok(undefined) : await bodyOf(c, operation.body)
  if (!body.ok) return body
  return ok({ params: params.value, query: query.value, body: body.value } as Input<Op>)
}

async function bodyOf(c: AdminContext, { schema, optional }: NonNullable<Operation['body']>) {
  const { body, headers } = c.req.raw
  if (body === null && optional) return parsed(schema, {})
  const json = await readJsonBody({ chunks: body, contentLength: headers.get('content-length') }, BODY_MAX_BYTES)
  return json.ok ? parsed(schema, json.value) : json
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): Result<T, Failure> {
  const result: Result<T, readonly Issue[]> = parseWith(schema, value)
  return result.ok ? result : err({ kind: 'bad_field', issues: result.error })
}

function requestId(): string {
  return newRequestId((bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
}
