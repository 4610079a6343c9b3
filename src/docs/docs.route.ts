// GET /openapi.json, /asyncapi.json and /docs: every surface described for programs and for people. Free, without a key,
// each built once per isolate.

import { Hono } from 'hono'
import { compressedResponse } from '../edge/compression.client.ts'
import type { Operation } from '../edge/operation.ts'
import { CATALOGUE } from '../info/catalogue.ts'
import { CHANNELS } from '../stream/catalogue.ts'
import { asyncApiDocument } from './asyncapi.ts'
import { docsPage } from './docs-page.ts'
import { openApiDocument } from './openapi.ts'

const HEADERS = { 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' }
const DOCUMENT_HEADERS = { ...HEADERS, 'content-type': 'application/json', 'access-control-allow-origin': '*' }
const PAGE_HEADERS = {
  ...HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
}

/** The routes of all three; `operations` are what other surfaces than info have to say. */
export function docsRoutes<Env extends object>(operations: readonly Operation[]) {
  const app = new Hono<{ Bindings: Env }>()
  let document: string | null = null
  let streams: string | null = null
  let page: string | null = null
  app.get('/openapi.json', (c) => {
    document ??= JSON.stringify(openApiDocument(CATALOGUE, operations))
    return compressedResponse(c.req.raw, document, { headers: DOCUMENT_HEADERS })
  })
  app.get('/asyncapi.json', (c) => {
    streams ??= JSON.stringify(asyncApiDocument(CHANNELS))
    return compressedResponse(c.req.raw, streams, { headers: DOCUMENT_HEADERS })
  })
  app.get('/docs', (c) => {
    page ??= docsPage(CATALOGUE, CHANNELS, operations)
    return compressedResponse(c.req.raw, page, { headers: PAGE_HEADERS })
  })
  return app
}
