// HTTP route POST /v1/<chain>. The key is accepted only as a bearer token, because URLs end up in logs.

import { Hono } from 'hono'
import { isJson, readText } from '../core/body.ts'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { rpcFailure } from '../protocol/failure-wire.ts'
import type { RpcService } from '../rpc/rpc-service.ts'
import { type Access, metered, type Surface } from './metered.route.ts'

const RPC: Surface = {
  product: 'rpc',
  entry: { product: 'rpc', kind: 'api', places: ['bearer'] },
  refusal: rpcFailure,
  announceLimitsBelow: 1 / 4,
  acceptsPayment: true,
}

/** A transaction has up to 128 KB, which is twice as long in hex. A call may override entire contracts. */
const BODY_MAX_BYTES = 1024 * 1024

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
const NOT_UTF8: Failure = { kind: 'not_json', hint: 'The request body is not UTF-8.' }

export function rpcRoutes(service: RpcService, access: Access): Hono {
  const app = new Hono()
  app.on('POST', ['/v1/:chain', '/v1/:chain/'], (c) =>
    handleRpc(service, access, c.req.raw, (work) => c.executionCtx.waitUntil(work), c.req.param('chain')),
  )
  return app
}

/** The chain in a `/v1/<chain>` URL, with or without trailing slash; null for any other URL. */
export function rpcChainOf(url: string): string | null {
  const path = url.indexOf('/', 'https://'.length)
  if (!url.startsWith('/v1/', path)) return null
  const query = url.indexOf('?', path)
  const end = query < 0 ? url.length : query
  const chain = url.slice(path + 4, url[end - 1] === '/' ? end - 1 : end)
  return chain === '' || chain.includes('/') ? null : chain
}

/** Handles one HTTP request, with or without Hono. */
export function handleRpc(
  service: RpcService,
  access: Access,
  request: Request,
  waitUntil: WaitUntil,
  chain: string,
): Promise<Response> {
  return metered(access, RPC, request, waitUntil, async (call) => {
    const refusal = service.refusal(chain)
    if (refusal !== null) return service.reject(call, refusal)
    const text = await bodyOf(request)
    return text.ok ? service.handle(call, chain, text.value) : service.reject(call, text.error)
  })
}

async function bodyOf(request: Request): Promise<Result<string, Failure>> {
  if (!isJson(request.headers.get('content-type'))) return err({ kind: 'unsupported_media_type' })
  const contentLength = request.headers.get('content-length')
  try {
    // The HTTP layer enforces a declared length; only a body without a declared length must be counted here.
    if (contentLength !== null && Number(contentLength) <= BODY_MAX_BYTES) return textOf(await request.arrayBuffer())
    return await readText({ chunks: request.body, contentLength }, BODY_MAX_BYTES)
  } catch {
    // The caller disconnected while sending its body.
    return err({ kind: 'not_json' })
  }
}

/** `request.text()` would replace invalid bytes, and the node would get a different request. */
function textOf(bytes: ArrayBuffer): Result<string, Failure> {
  try {
    return ok(UTF8.decode(bytes))
  } catch {
    return err(NOT_UTF8)
  }
}
