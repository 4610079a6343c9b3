// Adds endpoints to routes, the same way for every kind of authentication. Input is validated completely before
// anything runs; responses and errors are formatted here.

import type { Context, Hono, Env as HonoEnv } from 'hono'
import * as z from 'zod'
import type { Identity } from '../../accounts/identity.ts'
import { readJsonBody, readText } from '../../core/body.ts'
import type { Failure, Issue } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/validation-errors.ts'
import { type Reply, restFailure } from '../../protocol/failure-wire.ts'
import { REQUEST_ID_HEADER } from '../../protocol/request-id.ts'
import type { Operation } from '../operation.ts'
import type { Endpoint } from './endpoint.ts'
import type { Platform } from './platform-api.ts'
import { badField, type Refusal } from './refusal.ts'

export type HandlerResult = Awaited<ReturnType<Endpoint['handle']>>

const BODY_MAX_BYTES = 16 * 1024
/** Maximum length of a parameter name echoed in an error. */
const NAME_MAX_LENGTH = 64
const NOTHING = z.strictObject({})

/** Adds the endpoint's route to an app mounted at `base`. */
export function addRoute<E extends HonoEnv>(
  app: Hono<E>,
  { method, path }: Endpoint,
  base: '' | '/admin',
  handle: (c: Context<E>) => Promise<Response>,
): void {
  const own = path.slice(base.length).replaceAll(/\{(\w+)\}/g, ':$1')
  app.on(method.toUpperCase(), own.endsWith('/') ? [own, own.slice(0, -1)] : [own], handle)
}

interface ParsedCall {
  readonly call: Result<
    { readonly params: unknown; readonly query: unknown; readonly body: unknown; readonly origin: string },
    Failure
  >
  /** Query and body as received, for the audit log; only JSON bodies. */
  readonly sent: { readonly query: unknown; readonly body: unknown }
}

/** Parses the request with the schemas of the operation. */
export async function readCall(c: Context, { params, query, body, auth }: Operation): Promise<ParsedCall> {
  const sent = { query: {} as unknown, body: undefined as unknown }
  const read = async (): Promise<ParsedCall['call']> => {
    const inPath = parse(z.object(params ?? {}), c.req.param())
    if (!inPath.ok) return inPath
    const received = parametersOf(c.req.url)
    if (!received.ok) return received
    sent.query = received.value
    const inQuery = parse(query ?? (auth === 'admin' ? NOTHING : z.unknown()), received.value)
    if (!inQuery.ok) return inQuery
    const inBody = body === undefined ? ok(undefined) : await bodyOf(c, body, sent)
    if (!inBody.ok) return inBody
    const { origin } = new URL(c.req.url)
    return ok({ params: inPath.value, query: inQuery.value, body: inBody.value, origin })
  }
  return { call: await read(), sent }
}

/** Parses and handles the request; `identity` is null for the operator. */
export async function handleCall(
  c: Context,
  endpoint: Endpoint,
  identity: Identity | null,
  platform: Platform,
): Promise<HandlerResult> {
  const { call } = await readCall(c, endpoint)
  return call.ok ? endpoint.handle({ ...call.value, identity }, platform) : call
}

/** HTTP reply of a result or failure. */
export function replyTo(result: HandlerResult, requestId: string, more: Readonly<Record<string, string>> = {}): Reply {
  if (!result.ok) return refusalReply(result.error, requestId, more)
  const { status, body, contentType } = result.value
  const isText = typeof body === 'string'
  const type = contentType ?? (isText ? undefined : 'application/json')
  const typed = type === undefined ? {} : { 'content-type': type }
  const headers = { 'cache-control': 'no-store', [REQUEST_ID_HEADER]: requestId, ...typed, ...more }
  return { status, headers, body: isText ? body : JSON.stringify(body) }
}

/** HTTP reply of a failure, including conflicts. */
export function refusalReply(failure: Refusal, requestId: string, more: Readonly<Record<string, string>> = {}): Reply {
  if (failure.kind !== 'conflict') {
    const reply = restFailure(failure, requestId)
    return { ...reply, headers: { ...reply.headers, ...more } }
  }
  const body = JSON.stringify({ error: true, error_message: failure.message, error_code: '409' })
  return {
    status: 409,
    headers: { 'content-type': 'application/json', [REQUEST_ID_HEADER]: requestId, ...more },
    body,
  }
}

const toResponse = ({ status, headers, body }: Reply) => new Response(body, { status, headers })
export const respond = (result: HandlerResult, requestId: string) => toResponse(replyTo(result, requestId))
export const refuse = (failure: Refusal, requestId: string) => toResponse(refusalReply(failure, requestId))

/** Query parameters of a URL. A repeated parameter is ambiguous and rejected. */
function parametersOf(url: string): Result<Readonly<Record<string, string>>, Failure> {
  const { searchParams } = new URL(url)
  const seen = new Set<string>()
  const doubled = [...searchParams.keys()].find((name) => seen.size === seen.add(name).size)
  if (doubled === undefined) return ok(Object.fromEntries(searchParams))
  return err(badField(doubled.slice(0, NAME_MAX_LENGTH), 'appears more than once in the URL. Send it once'))
}

async function bodyOf(
  c: Context,
  { schema, optional, gzipBytes, isBinary, maxBytes = BODY_MAX_BYTES }: NonNullable<Operation['body']>,
  sent: { body: unknown },
) {
  const { body, headers } = c.req.raw
  if (isBinary) return body === null ? err(badField('body', 'is required')) : ok(body)
  if (gzipBytes !== undefined) {
    const text = await gzipText(c.req.raw, gzipBytes)
    return text.ok ? parse(schema, text.value) : text
  }
  if (body === null && optional) return parse(schema, {})
  // Clients that always set a content type send an empty body.
  const source = { chunks: body, contentLength: headers.get('content-length') }
  const json = await readJsonBody(source, maxBytes, optional ? {} : undefined)
  if (!json.ok) return json
  sent.body = json.value
  return parse(schema, json.value)
}

/** Unpacks a gzipped body and stops soon after the limit. */
async function gzipText({ body, headers }: Request, limitBytes: number): Promise<Result<string, Failure>> {
  try {
    const chunks = body?.pipeThrough(new DecompressionStream('gzip')) ?? null
    // A packed body is never much longer than an unpacked one, so the declared length is a safe bound.
    return await readText({ chunks, contentLength: headers.get('content-length') }, limitBytes)
  } catch {
    return err({ kind: 'not_json', hint: 'The request body is not valid gzip or is incomplete. Send it again.' })
  }
}

function parse<T>(schema: z.ZodType<T>, value: unknown): Result<T, Failure> {
  const result: Result<T, readonly Issue[]> = parseWith(schema, value)
  return result.ok ? result : err({ kind: 'bad_field', issues: result.error })
}
