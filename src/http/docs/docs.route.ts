// GET /openapi.json, /openapi-3.0.json, /openapi/info/<type>.json, /asyncapi.json and /graphql/schema.graphql: the
// machine-readable documents. They are free, need no key, are built once per isolate and support ETags. The pages of
// /docs are static files (site/write-docs.node.ts), which do not know their host: GET /docs/sitemap.xml lists them with
// it.

import { type Context, Hono } from 'hono'
import { sha256 } from '../../accounts/digest.client.ts'
import { compressedResponse } from '../../core/compression.client.ts'
import { CATALOGUE } from '../../info/queries/catalogue.ts'
import { CHANNELS } from '../../relay/channels/catalogue.ts'
import type { Operation } from '../operation.ts'
import { asyncApiDocument } from './asyncapi.ts'
import { olderDocument } from './older-openapi.ts'
import { openApiDocument, typeDocument, typeDocumentPath } from './openapi.ts'

const HEADERS = {
  'cache-control': 'public, max-age=300',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
}
export const JSON_HEADERS = { ...HEADERS, 'content-type': 'application/json' }
const TEXT_HEADERS = { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }

/** Files that the build writes. */
interface StaticFiles {
  readonly ASSETS?: { fetch(url: string): Promise<Response> }
}

/** `operations`: endpoints of the surfaces other than info; `sdl`: the GraphQL schema. */
export function docsRoutes<Env extends StaticFiles>(operations: readonly Operation[], sdl: string) {
  const app = new Hono<{ Bindings: Env }>()
  const served = (path: string, headers: Record<string, string>, write: () => string) => {
    const written = lazyDocument(write)
    app.get(path, async (c) => documentReply(c, headers, await written()))
  }
  const openApi = () => openApiDocument(CATALOGUE, operations)
  served('/openapi.json', JSON_HEADERS, () => JSON.stringify(openApi()))
  served('/openapi-3.0.json', JSON_HEADERS, () => JSON.stringify(olderDocument(openApi())))
  const ofTypes = new Map(
    CATALOGUE.map((query) => [typeDocumentPath(query.type), lazyDocument(() => JSON.stringify(typeDocument(query)))]),
  )
  app.get('/openapi/info/:file', async (c, next) => {
    const written = ofTypes.get(c.req.path)
    return written === undefined ? next() : documentReply(c, JSON_HEADERS, await written())
  })
  served('/asyncapi.json', JSON_HEADERS, () => JSON.stringify(asyncApiDocument(CHANNELS)))
  served('/graphql/schema.graphql', TEXT_HEADERS, () => sdl)
  app.get('/docs/sitemap.xml', async (c, next) => {
    const { origin } = new URL(c.req.url)
    const list = await c.env.ASSETS?.fetch(`${origin}/docs/addresses.txt`)
    if (!list?.ok) return next()
    const headers = { ...HEADERS, 'content-type': 'application/xml' }
    return compressedResponse(c.req.raw, sitemap(origin, (await list.text()).split('\n')), { headers })
  })
  return app
}

function sitemap(origin: string, addresses: readonly string[]): string {
  const urls = addresses.map((address) => `<url><loc>${(origin + address).replaceAll('&', '&amp;')}</loc></url>`)
  return `<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('\n')}
</urlset>
`
}

interface ServedDocument {
  readonly text: string
  /** Weak ETag: the same document is sent in several encodings. */
  readonly tag: string
}

/** Builds a document on the first call and caches it. */
export function lazyDocument(write: () => string): () => Promise<ServedDocument> {
  let written: Promise<ServedDocument> | null = null
  return () => {
    written ??= withTag(write())
    return written
  }
}

const withTag = async (text: string): Promise<ServedDocument> => ({ text, tag: `"${await sha256(text)}"` })

/** The document, or 304 if the client has it. */
export function documentReply(c: Context, own: Record<string, string>, { text, tag }: ServedDocument): Response {
  const headers = { ...own, etag: `W/${tag}` }
  if (c.req.header('if-none-match')?.includes(tag)) return new Response(null, { status: 304, headers })
  return compressedResponse(c.req.raw, text, { headers })
}
