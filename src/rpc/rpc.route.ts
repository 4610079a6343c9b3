// POST /v1/<chain>: HTTP around the desk. The key comes as a bearer token and in no other way: an address with a key in it
// stands in logs.

import { Hono } from 'hono'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { readText } from '../edge/body.ts'
import type { Charging } from '../edge/charging.ts'
import { compressedResponse } from '../edge/compression.client.ts'
import { CORS_HEADERS } from '../edge/cors.ts'
import { rpcFailure } from '../edge/failure-wire.ts'
import { joinedLimits } from '../edge/limit-headers.ts'
import type { Identity } from '../key/identity.ts'
import { type NoteRefusal, noteEntry } from '../key/refused-calls.ts'
import type { RpcDesk, RpcReplyMessage } from './rpc-desk.ts'

/** A transaction has up to 128 KB, as hex twice that; a call may override whole contracts. */
const BODY_MAX_BYTES = 1024 * 1024
/** A limit is told of where this part of it or less is left. */
const TOLD_AT_MOST = 1 / 4

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
const NO_TEXT: Failure = { kind: 'not_json', hint: 'The request body is not UTF-8.' }

/** What the gateway lends. All of it is called per request. */
export interface RpcRouteDeps<Env> {
  readonly desk: RpcDesk
  readonly authenticate: (
    env: Env,
    request: Request,
    path: undefined,
    waitUntil: WaitUntil,
  ) => Result<Identity, Failure> | Promise<Result<Identity, Failure>>
  readonly charging: (env: Env, waitUntil: WaitUntil) => Charging
  readonly requestId: () => string
  readonly refused?: NoteRefusal | undefined
}

export function rpcRoutes<Env extends object>(deps: RpcRouteDeps<Env>) {
  const app = new Hono<{ Bindings: Env }>()
  app.on('POST', ['/v1/:chain', '/v1/:chain/'], (c) =>
    answerRpc(deps, c.env, c.req.raw, c.req.param('chain'), (work) => c.executionCtx.waitUntil(work)),
  )
  return app
}

/** The chain of an address that is `/v1/<chain>`, with or without a slash behind it, null of any other. */
export function rpcChainOf(url: string): string | null {
  const path = url.indexOf('/', 'https://'.length)
  if (!url.startsWith('/v1/', path)) return null
  const query = url.indexOf('?', path)
  const end = query < 0 ? url.length : query
  const chain = url.slice(path + 4, url[end - 1] === '/' ? end - 1 : end)
  return chain === '' || chain.includes('/') ? null : chain
}

/** One HTTP request, from the key to the bytes. Also for callers without Hono. */
export async function answerRpc<Env>(
  deps: RpcRouteDeps<Env>,
  env: Env,
  request: Request,
  chain: string,
  waitUntil: WaitUntil,
): Promise<Response> {
  const { desk } = deps
  const requestId = deps.requestId()
  const entering = deps.authenticate(env, request, undefined, waitUntil)
  const entered = entering instanceof Promise ? await entering : entering
  if (!entered.ok) {
    noteEntry(deps.refused, entered.error, { requestId, product: 'rpc' }, waitUntil)
    return respond(request, rpcFailure(entered.error, requestId))
  }
  const identity = entered.value
  const charging = deps.charging(env, waitUntil)
  const asked = { identity, chain, requestId, charging, waitUntil }
  const refusal = desk.refusal(chain) ?? contentRefusal(request)
  const text = refusal === null ? await bodyOf(request) : null
  const reply = text?.ok ? await desk.answer(asked, text.value) : await desk.refuse(asked, refusal ?? errorOf(text))
  const limit = charging.limitHeaders?.(identity, 'rpc', TOLD_AT_MOST) ?? null
  if (limit === null) return respond(request, reply)
  const limits = reply.headers.ratelimit === undefined ? limit : joinedLimits(reply.headers, limit)
  return respond(request, { ...reply, headers: { ...reply.headers, ...limits } })
}

function contentRefusal({ headers }: Request): Failure | null {
  return /^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')
    ? null
    : { kind: 'unsupported_media_type' }
}

async function bodyOf(request: Request): Promise<Result<string, Failure>> {
  const contentLength = request.headers.get('content-length')
  try {
    // A declared length is kept by the HTTP layer; only a body without one has to be counted as it comes.
    if (contentLength !== null && Number(contentLength) <= BODY_MAX_BYTES) return textOf(await request.arrayBuffer())
    return await readText({ chunks: request.body, contentLength }, BODY_MAX_BYTES)
  } catch {
    // The caller went away in the middle of its body.
    return err({ kind: 'not_json' })
  }
}

/** `request.text()` would put marks in the place of bytes that are no text: a node would be sent something else. */
function textOf(bytes: ArrayBuffer): Result<string, Failure> {
  try {
    return ok(UTF8.decode(bytes))
  } catch {
    return err(NO_TEXT)
  }
}

function errorOf(text: Result<string, Failure> | null): Failure {
  return text === null || text.ok ? { kind: 'internal' } : text.error
}

function respond(request: Request, { status, headers, body }: RpcReplyMessage): Response {
  const all = request.headers.has('origin') ? { ...headers, ...CORS_HEADERS } : headers
  if (body === null) return new Response(null, { status, headers: all })
  return compressedResponse(request, body, { status, headers: all })
}
