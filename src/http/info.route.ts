// HTTP routes POST /info and /k/<key>/info. Reads the body up to its limit and never clones a response.

import { Hono } from 'hono'
import { INFO_BODY_MAX_BYTES, isJson, readText } from '../core/body.ts'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { InfoService } from '../info/answer/info-service.ts'
import { infoFailure } from '../protocol/failure-wire.ts'
import { type Access, metered, type Surface } from './metered.route.ts'

const INFO: Surface = {
  product: 'info',
  entry: { product: 'info', kind: 'api', places: ['path', 'bearer'], acceptsTokens: true, acceptsSessions: true },
  refusal: infoFailure,
  // Each response header costs 2 to 4 % of the request time, so limits are announced only when they run low.
  announceLimitsBelow: 1 / 4,
  acceptsPayment: true,
}

/** Routes of the info surface; `/k/<key>/info` exists only with `pathKeys`. */
export function infoRoutes(service: InfoService, access: Access, { pathKeys }: { readonly pathKeys: boolean }): Hono {
  const app = new Hono()
  for (const path of pathKeys ? ['/info', '/k/:key/info'] : ['/info']) {
    app.post(path, (c) =>
      handleInfo(service, access, c.req.raw, (work) => c.executionCtx.waitUntil(work), c.req.param('key')),
    )
  }
  return app
}

/** Handles one HTTP request, with or without Hono. `path`: the segment after `/k/`. */
export function handleInfo(
  service: InfoService,
  access: Access,
  request: Request,
  waitUntil: WaitUntil,
  path?: string,
): Promise<Response> {
  const surface = path === undefined ? INFO : { ...INFO, entry: { ...INFO.entry, path } }
  return metered(access, surface, request, waitUntil, async (call) => {
    const text = await bodyOf(request)
    return text.ok ? service.handle(call, text.value) : service.reject(call, text.error)
  })
}

async function bodyOf(request: Request): Promise<Result<string, Failure>> {
  if (!isJson(request.headers.get('content-type'))) return err({ kind: 'unsupported_media_type' })
  const contentLength = request.headers.get('content-length')
  try {
    // The HTTP layer enforces a declared length; only a body without a declared length must be counted here.
    if (contentLength !== null && Number(contentLength) <= INFO_BODY_MAX_BYTES) return ok(await request.text())
    return await readText({ chunks: request.body, contentLength }, INFO_BODY_MAX_BYTES)
  } catch {
    // The caller disconnected while sending its body.
    return err({ kind: 'not_json' })
  }
}
