// Adds what every HTTP reply needs: a request id, a cost header and CORS headers. It also returns JSON errors for
// unknown paths (404), wrong methods (405) and bugs (500).

import type { Context, Hono, Env as HonoEnv, MiddlewareHandler } from 'hono'
import { type AddressLimiter, callerAddress } from '../accounts/address-limiter.ts'
import { endpointNotFound, type Failure, SEE_DOCS } from '../core/failure.ts'
import { nearestName } from '../core/nearest.ts'
import {
  graphqlFailure,
  infoFailure,
  NO_COST,
  restFailure,
  rpcFailure,
  type WireFailure,
} from '../protocol/failure-wire.ts'
import { joinedLimits, limitHeaders } from '../protocol/limit-headers.ts'
import { REQUEST_ID_HEADER } from '../protocol/request-id.ts'
import { CORS_HEADERS, isOpenToBrowsers, MCP_PATH, preflightHeaders } from './cors.ts'

export interface EveryReplyDeps {
  readonly requestId: () => string
  /** Reports an unexpected error. The client gets the code `internal` with this request id. */
  readonly report: (error: unknown, requestId: string) => void
  /** Static page for a path that has no route; null: none. */
  readonly page: (request: Request) => Promise<Response | null>
}

const INFO = `Send POST /info with a body such as {"type":"allMids"}, "Authorization: Bearer <key>" and "Content-Type: application/json". ${SEE_DOCS}`
const METHOD_HINTS: Readonly<Record<string, string>> = { '/': INFO, '/info': INFO }

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Must be called before routes are added to `app`. */
export function addCommonReplies<E extends HonoEnv>(app: Hono<E>, { requestId, report, page }: EveryReplyDeps): void {
  app.use('*', async (c, next) => {
    await next()
    // The headers of an upgraded socket are already sent.
    if (c.res.status === 101) return
    const { headers } = c.res
    const isOpen = isOpenToBrowsers(c.req.path)
    setReplyHeaders(c, {
      ...(headers.has(REQUEST_ID_HEADER) ? {} : { [REQUEST_ID_HEADER]: requestId() }),
      ...(isOpen && !headers.has('x-credits-cost') && c.req.path !== MCP_PATH ? NO_COST : {}),
      ...(isOpen && c.req.raw.headers.has('origin') ? CORS_HEADERS : {}),
    })
  })
  app.notFound(async (c) => {
    const { path, method } = c.req
    const allow = methodsOf(app, path)
    const found = allow.length === 0 && (method === 'GET' || method === 'HEAD') ? await page(c.req.raw) : null
    if (found !== null) return found
    // The route exists but fell through, so for this caller the endpoint does not exist.
    if (allow.length === 0 || allow.includes(method)) {
      const meant = allow.length === 0 ? suggestedEndpoint(app, method, path) : undefined
      return failureReply(path, endpointNotFound(meant), requestId())
    }
    if (!isOpenToBrowsers(path)) return failureReply(path, { kind: 'method_not_allowed', allow }, requestId())
    if (method === 'OPTIONS')
      return new Response(null, { status: 204, headers: preflightHeaders(path, [...allow, method]) })
    const hint = METHOD_HINTS[path]
    const failure = { kind: 'method_not_allowed', allow: [...allow, 'OPTIONS'], ...(hint && { hint }) } as const
    return failureReply(path, failure, requestId())
  })
  app.onError((error, c) => {
    const id = requestId()
    report(error, id)
    return failureReply(c.req.path, { kind: 'internal' }, id)
  })
}

/** Sets headers in place: a copied response would lose the mark that its body is already compressed. */
function setReplyHeaders(c: Context, headers: Readonly<Record<string, string>>): void {
  try {
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value)
  } catch {
    // Responses from other Workers and objects are immutable, but Hono copies them.
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
  }
}

/** The failure in the error format of the surface that owns the path. */
export function failureReply(path: string, failure: Failure, requestId: string): Response {
  const { status, headers, body } = failureFormatAt(path)(failure, requestId)
  return new Response(body, { status, headers })
}

function failureFormatAt(path: string): (failure: Failure, requestId: string) => WireFailure {
  if (/^(\/k\/|\/x402\/|\/(info|ws|x402)$)/.test(path)) return infoFailure
  if (path === MCP_PATH || /^\/v1\/[^/]+\/?$/.test(path)) return rpcFailure
  return path === '/graphql' ? graphqlFailure : restFailure
}

/** Methods with a route for this path; middleware for all methods does not count. */
function methodsOf<E extends HonoEnv>(app: Hono<E>, path: string): string[] {
  const routed = METHODS.filter((method) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
  )
  return routed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}

/** The most similar endpoint without path parameters, with a supported method. */
function suggestedEndpoint<E extends HonoEnv>(app: Hono<E>, method: string, sent: string): string | undefined {
  const isOpen = isOpenToBrowsers(sent)
  const routed = app.routes.map(({ path }) => path).filter((path) => !/[:*]|^\/$/.test(path))
  const paths = routed.filter((path) => isOpenToBrowsers(path) === isOpen)
  const meant = paths.find((path) => sent.endsWith(path)) ?? nearestName(sent, paths)
  if (meant === undefined) return undefined
  const methods = methodsOf(app, meant)
  return `${methods.includes(method) ? method : methods[0]} ${meant}`
}

export interface AddressLimitDeps {
  readonly isProxyTrusted: boolean
  readonly requestId: () => string
  readonly now: () => number
}

/** Middleware that limits requests per client address. Its limit headers are merged with those of the route. */
export function addressLimit(
  gate: AddressLimiter,
  { isProxyTrusted, requestId, now }: AddressLimitDeps,
): MiddlewareHandler {
  return async (c, next) => {
    const { waitMs, remaining, limit } = gate.take(callerAddress(isProxyTrusted, c.req.raw.headers), now())
    if (waitMs > 0) return failureReply(c.req.path, { kind: 'rate_limited', retryAfterMs: waitMs, limit }, requestId())
    await next()
    const inner = { ratelimit: c.res.headers.get('ratelimit'), policy: c.res.headers.get('ratelimit-policy') }
    const routeLimits =
      inner.ratelimit && inner.policy ? { ratelimit: inner.ratelimit, 'ratelimit-policy': inner.policy } : {}
    setReplyHeaders(
      c,
      joinedLimits(routeLimits, limitHeaders(limit, remaining, remaining < limit.quota ? limit.windowSeconds : 0)),
    )
    return undefined
  }
}
