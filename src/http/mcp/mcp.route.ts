// POST /mcp: the MCP server, stateless over Streamable HTTP, and the metadata that its clients look for. Lists, resources
// and prompts are free and need no key. A call of a tool is sent to the gateway's own surfaces with the caller's key. Where
// calls can be paid by x402, a caller without a key pays for the tool.
// Invariant: a body over the limit, or with too many messages, starts no work.

import { type Context, Hono } from 'hono'
import type { Identity } from '../../accounts/identity.ts'
import { isJson, readJsonBody } from '../../core/body.ts'
import type { Failure } from '../../core/failure.ts'
import { err, type Result } from '../../core/result.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import type { MeteredCall } from '../../metering/charging.ts'
import { type Reply, rpcFailure } from '../../protocol/failure-wire.ts'
import { MCP_PATH } from '../cors.ts'
import { type Access, markPaid, metered, type Surface } from '../metered.route.ts'
import type { ToolRequest } from './tool.ts'
import type { SurfaceReply } from './tool-result.ts'

const BODY_MAX_BYTES = 1024 * 1024
/** Messages of one body. Only clients of 2025 send several. */
const MAX_MESSAGES = 20
/** The caller's address is known only from this header, which the platform sets. */
const FORWARDED_HEADERS = ['authorization', 'cf-connecting-ip']
const METADATA_PATH = '/.well-known/oauth-protected-resource'

export interface McpDeps extends Access {
  readonly chain: string
  /** The gateway's own routes. */
  readonly surfaces: (request: Request, c: Context) => Response | Promise<Response>
  readonly now: () => number
}

export function mcpRoutes(deps: McpDeps): Hono {
  const app = new Hono()
  app.post(MCP_PATH, async (c) => {
    const { raw } = c.req
    const { origin } = new URL(raw.url)
    const body = await bodyOf(raw)
    if (!body.ok) return refuse(rpcFailure(body.error, deps.requestId()))
    const waitUntil: WaitUntil = (work) => c.executionCtx.waitUntil(work)
    const answer = (request: ToolRequest, payer?: Identity) => {
      const inner = innerRequest(raw, request)
      return answerTo(payer === undefined ? inner : markPaid(inner, payer), c, deps)
    }
    const serve = async (call?: MeteredCall) => {
      const { serveMcp } = await import('./mcp-server.client.ts')
      const { chain, requestId, admitVisitor: admit } = deps
      const caller = { chain, origin, nowMs: deps.now(), send: (request: ToolRequest) => answer(request) }
      if (admit === undefined || call?.isVisit !== true) return serveMcp(raw, body.value, caller)
      const { paymentsOf } = await import('./tool-payment.client.ts')
      const pay = paymentsOf({ outer: raw, admit, waitUntil, answer, requestId })
      return serveMcp(raw, body.value, { ...caller, pay })
    }
    if (!callsTool(body.value)) return serve()
    return metered(deps, surfaceOf(origin, body.value), raw, waitUntil, serve)
  })
  for (const path of [METADATA_PATH, `${METADATA_PATH}${MCP_PATH}`])
    app.get(path, (c) => c.json(metadataOf(new URL(c.req.url).origin)))
  return app
}

async function bodyOf(request: Request): Promise<Result<unknown, Failure>> {
  if (!isJson(request.headers.get('content-type'))) return err({ kind: 'unsupported_media_type' })
  const source = { chunks: request.body, contentLength: request.headers.get('content-length') }
  const body = await readJsonBody(source, BODY_MAX_BYTES)
  if (!body.ok || !Array.isArray(body.value) || body.value.length <= MAX_MESSAGES) return body
  return err({ kind: 'bad_field', issues: [{ path: '', message: `must have at most ${MAX_MESSAGES} messages` }] })
}

const messagesOf = (body: unknown) => (Array.isArray(body) ? body : [body])

function callsTool(body: unknown): boolean {
  return messagesOf(body).some((message) => (message as { method?: unknown } | null)?.method === 'tools/call')
}

/** Any valid key is accepted here. The surfaces decide whether it may read what the tool requests. */
function surfaceOf(origin: string, body: unknown): Surface {
  return {
    product: 'info',
    type: 'mcp',
    acceptsPayment: true,
    entry: { product: null, kind: 'any', places: ['bearer'] },
    refusal: (failure, requestId) => withMetadata(rpcFailure(failure, requestId, idOf(body)), origin),
  }
}

/** The id of a single message as JSON; `null` for anything else. */
function idOf(body: unknown): string {
  const id = (body as { id?: unknown } | null)?.id
  return typeof id === 'string' || typeof id === 'number' ? JSON.stringify(id) : 'null'
}

function withMetadata(reply: Reply, origin: string): Reply {
  if (reply.status !== 401) return reply
  const scheme = `Bearer resource_metadata="${origin}${METADATA_PATH}${MCP_PATH}"`
  return { ...reply, headers: { ...reply.headers, 'www-authenticate': scheme } }
}

/** Protected resource metadata (RFC 9728) without an authorization server: keys come from the console. */
function metadataOf(origin: string) {
  return {
    resource: `${origin}${MCP_PATH}`,
    resource_name: 'Weir',
    bearer_methods_supported: ['header'],
    resource_documentation: `${origin}/docs/guides/use-from-an-ai-agent`,
  }
}

/** A client that gets status 200 would wait for the answer with its own id. */
function refuse({ status, headers, body }: Reply): Response {
  return new Response(body, { status: status === 200 ? 400 : status, headers })
}

function innerRequest({ url, headers: outer }: Request, request: ToolRequest): Request {
  const headers = new Headers()
  for (const name of FORWARDED_HEADERS) {
    const value = outer.get(name)
    if (value !== null) headers.set(name, value)
  }
  if ('path' in request) return new Request(new URL(request.path, url), { headers })
  headers.set('content-type', 'application/json')
  return new Request(new URL('/info', url), { method: 'POST', headers, body: JSON.stringify(request.info) })
}

async function answerTo(request: Request, c: Context, { surfaces }: McpDeps): Promise<SurfaceReply> {
  const response = await surfaces(request, c)
  return { status: response.status, headers: response.headers, text: await response.text() }
}
