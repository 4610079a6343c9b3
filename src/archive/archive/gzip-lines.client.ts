// Compresses lines into gzip objects and decompresses them. Invariant: the same lines always produce the same bytes.

/** Characters per write to the compressor. The size is constant, because the output may depend on it. */
const SLICE_CHARS = 256 * 1024
const NEWLINE = 10

export interface PackedLines {
  readonly body: Uint8Array
  readonly sha256: string
}

export async function pack(lines: readonly string[]): Promise<PackedLines> {
  const encoder = new TextEncoder()
  const gzip = new CompressionStream('gzip')
  const writer = gzip.writable.getWriter()
  const packing = new Response(gzip.readable).arrayBuffer()
  let text = ''
  for (const [at, line] of lines.entries()) {
    text += at === 0 ? line : `\n${line}`
    if (text.length < SLICE_CHARS) continue
    await writer.write(encoder.encode(text))
    text = ''
  }
  await writer.write(encoder.encode(text))
  await writer.close()
  const body = new Uint8Array(await packing)
  return { body, sha256: await sha256Of(body) }
}

export async function sha256Of(body: Uint8Array): Promise<string> {
  return hexOf(await crypto.subtle.digest('SHA-256', body))
}

export function hexOf(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Yields lines one by one. The whole string is in memory, because reading the stream in small chunks takes three times
 * as long.
 */
export async function* unpack(body: Uint8Array): AsyncGenerator<string> {
  const stream = new Blob([body]).stream().pipeThrough(new DecompressionStream('gzip'))
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
  const decoder = new TextDecoder()
  for (let from = 0, end = 0; end < bytes.length; from = end + 1) {
    const found = bytes.indexOf(NEWLINE, from)
    end = found < 0 ? bytes.length : found
    yield decoder.decode(bytes.subarray(from, end))
  }
}
