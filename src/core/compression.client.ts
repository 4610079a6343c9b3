// Compresses long responses if the platform does not. Cloudflare compresses Worker responses, but a standalone workerd
// does not. The fastest level is used, because better levels take three times as long for a megabyte and save only 15
// %. Invariants: a cached response is compressed only once; memory is bounded; a short response costs only one
// comparison.

import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { BoundedMap } from './bounded-map.ts'

/** A response that fits into the initial TCP window (about 14 KB) does not arrive sooner if it is compressed. */
export const COMPRESS_FROM_CHARACTERS = 16 * 1024
/** Maximum cache size: the characters of the responses plus the bytes of their compressed forms. */
const MEMORY_MAX = 8 * 1024 * 1024

const ENCODERS: Record<Encoding, (text: string) => Uint8Array<ArrayBuffer>> = {
  br: (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: (text) => gzipSync(text, { level: 1 }),
}

type CompressedForms = Readonly<Partial<Record<Encoding, Uint8Array<ArrayBuffer>>>>

/** The key is the full response, so that entries never collide. */
const cache = new BoundedMap<string, CompressedForms>(
  MEMORY_MAX,
  ({ br, gzip }, text) => text.length + (br?.byteLength ?? 0) + (gzip?.byteLength ?? 0),
)

function compressedText(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> {
  const known = cache.get(text)
  const bytes = known?.[encoding] ?? ENCODERS[encoding](text)
  if (known?.[encoding] === undefined) cache.set(text, { ...known, [encoding]: bytes })
  return bytes
}

/** The parts of a request that decide about compression. `cf` exists only on Cloudflare. */
export interface CompressibleRequest {
  readonly headers: { get(name: string): string | null }
  readonly cf?: unknown
}

/** Returns the response. It is compressed if it is long enough and the caller accepts an encoding. */
export function compressedResponse(request: CompressibleRequest, body: string, init: ResponseInit): Response {
  if (body.length < COMPRESS_FROM_CHARACTERS || request.cf !== undefined) return new Response(body, init)
  const encoding = acceptedEncoding(request.headers.get('accept-encoding'))
  const vary = { ...(init.headers as Record<string, string>), vary: 'accept-encoding' }
  if (encoding === null) return new Response(body, { ...init, headers: vary })
  const headers = { ...vary, 'content-encoding': encoding }
  // Without `manual`, workerd would compress the body again.
  return new Response(compressedText(body, encoding), { ...init, headers, encodeBody: 'manual' } as ResponseInit)
}

/** Supported encodings. If the caller has no preference, the first one is used. */
const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** The accepted encoding with the highest quality. Null if the header is missing or accepts no supported encoding. */
export function acceptedEncoding(header: string | null): Encoding | null {
  if (header === null) return null
  const qualities = new Map(header.toLowerCase().split(',').map(qualityOf))
  let best: Encoding | null = null
  let bestQuality = 0
  for (const encoding of ENCODINGS) {
    const quality = qualities.get(encoding) ?? qualities.get('*') ?? 0
    if (quality <= bestQuality) continue
    best = encoding
    bestQuality = quality
  }
  return best
}

/** Splits `gzip;q=0.5` into name and quality. An invalid quality counts as 0. */
function qualityOf(item: string): [name: string, quality: number] {
  const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const quality = weight === undefined ? 1 : Number(weight)
  return [name === 'x-gzip' ? 'gzip' : name, quality > 0 && quality <= 1 ? quality : 0]
}
