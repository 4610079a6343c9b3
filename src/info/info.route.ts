// POST /info and /k/<key>/info: HTTP around the desk. Reads the body within its bound, never clones a response.

import { Hono } from 'hono'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { INFO_BODY_MAX_BYTES, readText } from '../edge/body.ts'
import type { Charging } from '../edge/charging.ts'
import { compressedResponse } from '../edge/compression.client.ts'
import { CORS_HEADERS } from '../edge/cors.ts'
import { infoFailure } from '../edge/failure-wire.ts'
import { joinedLimits } from '../edge/limit-headers.ts'
import type { Identity } from '../key/identity.ts'
import { type NoteRefusal, noteEntry } from '../key/refused-calls.ts'
import type { InfoDesk, InfoReply } from './answer/info-desk.ts'

/** A limit is told of where this part of it or less is left: every header of an answer costs 2 to 4 % of its time. */
const TOLD_AT_MOST = 1 / 4

/** What the gateway lends. All of it is called per request. */
export interface InfoRouteDeps<Env> {
  readonly desk: (env: Env) => InfoDesk
  /** `path`: the segment after `/k/`, undefined on `/info`. */
  readonly authenticate: (
    env: Env,
    request: Request,
    path: string | undefined,
    waitUntil: WaitUntil,
  ) => Result<Identity, Failure> | Promise<Result<Identity, Failure>>
  readonly charging: (env: Env, waitUntil: WaitUntil) => Charging
  readonly requestId: () => string
  readonly refused?: NoteRefusal | undefined
}

/** Routes of the info surface; without `pathKeys` the path form does not exist. */
export function infoRoutes<Env extends object>(deps: InfoRouteDeps<Env>, { pathKeys }: { readonly pathKeys: boolean }) {
  const app = new Hono<{ Bindings: Env }>()
  for (const path of pathKeys ? ['/info', '/k/:key/info'] : ['/info']) {
    app.post(path, (c) =>
      answerHttp(deps, c.env, c.req.raw, c.req.param('key'), (work) => c.executionCtx.waitUntil(work)),
    )
  }
  return app
}

/** One HTTP request, from the key to the bytes. Also for callers without Hono. */
export async function answerHttp<Env>(
  deps: InfoRouteDeps<Env>,
  env: Env,
  request: Request,
  path: string | undefined,
  waitUntil: WaitUntil,
): Promise<Response> {
  const requestId = deps.requestId()
  const entering = deps.authenticate(env, request, path, waitUntil)
  const entered = entering instanceof Promise ? await entering : entering
  if (!entered.ok) {
    noteEntry(deps.refused, entered.error, { requestId, product: 'info' }, waitUntil)
    return respond(request, infoFailure(entered.error, requestId))
  }
  const identity = entered.value
  const text = await bodyOf(request)
  const charging = deps.charging(env, waitUntil)
  const desk = deps.desk(env)
  const reply = text.ok
    ? await desk.answer({ identity, text: text.value, requestId, charging, waitUntil })
    : await desk.refuse({ identity, requestId, charging, waitUntil }, text.error)
  const limit = charging.limitHeaders?.(identity, 'info', TOLD_AT_MOST) ?? null
  if (limit === null) return respond(request, reply)
  // A refusal may tell of a limit of its own.
  const limits = reply.headers.ratelimit === undefined ? limit : joinedLimits(reply.headers, limit)
  return respond(request, { ...reply, headers: { ...reply.headers, ...limits } })
}

async function bodyOf(request: Request): Promise<Result<string, Failure>> {
  if (!isJson(request.headers.get('content-type'))) return err({ kind: 'unsupported_media_type' })
  const contentLength = request.headers.get('content-length')
  try {
    // A declared length is kept by the HTTP layer; only a body without one has to be counted as it comes.
    if (contentLength !== null && Number(contentLength) <= INFO_BODY_MAX_BYTES) return ok(await request.text())
    return await readText({ chunks: request.body, contentLength }, INFO_BODY_MAX_BYTES)
  } catch {
    // The caller went away in the middle of its body.
    return err({ kind: 'not_json' })
  }
}

function isJson(contentType: string | null): boolean {
  if (contentType === 'application/json') return true
  return contentType !== null && /^application\/json\s*(;|$)/i.test(contentType)
}

function respond(request: Request, { status, headers, body }: InfoReply): Response {
  const all = request.headers.has('origin') ? { ...headers, ...CORS_HEADERS } : headers
  return compressedResponse(request, body, { status, headers: all })
}
