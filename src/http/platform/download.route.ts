// GET /v1/{chain}/history/files/{key}: streams a history file from R2 for a signed link. Invariants: the signature is
// checked before anything is read; an invalid range is rejected and never returns the whole file.

import { type Context, Hono } from 'hono'
import { NO_KEY_SECRET } from '../../accounts/key-resolver.store.ts'
import { byteRange, contentRange } from '../../archive/exports/byte-range.ts'
import { readLink, signedText } from '../../archive/exports/file-links.ts'
import type { Failure } from '../../core/failure.ts'
import { isValidSignature } from '../../core/signature.client.ts'
import { REQUEST_ID_HEADER } from '../../protocol/request-id.ts'
import { badField } from './refusal.ts'
import { refuse } from './serve.route.ts'

export interface DownloadDeps {
  readonly chain: string
  /** Undefined if there is no archive. */
  readonly bucket: Pick<R2Bucket, 'head' | 'get'> | undefined
  readonly keySecret: string | undefined
  readonly requestId: () => string
  readonly now: () => number
}

const GONE_TEXT = 'This file no longer exists. GET /v1/<chain>/history/files lists the current ones.'
const LINK_SOURCE = 'get a link from GET /v1/<chain>/history/files'
const TYPES: Readonly<Record<string, string>> = { gz: 'application/gzip', parquet: 'application/vnd.apache.parquet' }

export function downloadRoutes<Env extends object>(deps: DownloadDeps): Hono<{ Bindings: Env }> {
  const app = new Hono<{ Bindings: Env }>()
  app.get('/v1/:chain/history/files/:key{.+}', async (c) => {
    const key = c.req.param('key')
    const refused = await refusalOf(deps, c.req.param('chain'), key, new URL(c.req.url).searchParams)
    if (refused !== null || !deps.bucket) return refuse(refused ?? fileNotFound(), deps.requestId())
    return (await fileOf(c, deps.bucket, deps.requestId, key)) ?? refuse(fileNotFound(), deps.requestId())
  })
  return app
}

const fileNotFound = (): Failure => ({ kind: 'not_found', what: 'This file', hint: GONE_TEXT })

/** Null: the link is valid. */
async function refusalOf(
  { chain, keySecret, now }: DownloadDeps,
  requestedChain: string,
  key: string,
  parameters: URLSearchParams,
): Promise<Failure | null> {
  if (requestedChain !== chain) return fileNotFound()
  if (!keySecret) return NO_KEY_SECRET
  const link = readLink((name) => parameters.getAll(name))
  if (typeof link === 'string') return badField(link, `is missing, repeated or incomplete; ${LINK_SOURCE}`)
  const { expires, signature } = link
  const isOurs = await isValidSignature(signature, signedText({ chain, key, expires }), keySecret)
  if (!isOurs)
    return { kind: 'not_entitled', why: `The signature does not match this file and expiry; ${LINK_SOURCE}.` }
  return now() < expires ? null : { kind: 'not_entitled', why: 'This link has expired. Request a new one.' }
}

/** Null if the file no longer exists. */
async function fileOf(
  c: Context,
  bucket: Pick<R2Bucket, 'head' | 'get'>,
  requestId: () => string,
  key: string,
): Promise<Response | null> {
  const file = await bucket.head(key)
  if (file === null) return null
  const headers = {
    'content-type': TYPES[key.slice(key.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    'accept-ranges': 'bytes',
    etag: file.httpEtag,
    [REQUEST_ID_HEADER]: requestId(),
    'cache-control': 'private, no-transform',
    'x-content-type-options': 'nosniff',
  }
  const condition = c.req.header('if-range')
  const isSame = condition === undefined || condition === file.httpEtag
  const range = byteRange(isSame ? (c.req.header('range') ?? null) : null, file.size)
  if (range === 'refused') return unsatisfiable(file.size, headers)
  const length = { 'content-length': String(range?.length ?? file.size) }
  const part = range === null ? {} : { 'content-range': contentRange(range, file.size) }
  const init = { status: range === null ? 200 : 206, headers: { ...headers, ...length, ...part } }
  if (c.req.method === 'HEAD') return new Response(null, init)
  const object = await bucket.get(key, range === null ? {} : { range })
  return object && new Response(object.body, init)
}

function unsatisfiable(size: number, headers: Readonly<Record<string, string>>): Response {
  const message = `Range: must be one range within the file, such as bytes=0-1023. The file has ${size} bytes`
  const body = { error: true, error_message: message, error_code: '416' }
  const json = { ...headers, 'content-type': 'application/json', 'content-range': `bytes */${size}` }
  return Response.json(body, { status: 416, headers: json })
}
