// Lines as the bytes of an object, and back. Law: the same lines are the same bytes, however often they are packed here.

/** How many characters are handed to the compressor at once: always alike, or its output might be another. */
const SLICE_CHARS = 256 * 1024

export interface Packed {
  readonly body: Uint8Array
  /** Of the body, hex. */
  readonly sha256: string
}

export async function pack(lines: readonly string[]): Promise<Packed> {
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
  const digest = await crypto.subtle.digest('SHA-256', body)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** One line after the other, as they are read. */
export async function* unpacked(body: Uint8Array): AsyncGenerator<string> {
  const text = new Response(body)
    .body!.pipeThrough(new DecompressionStream('gzip'))
    .pipeThrough(new TextDecoderStream())
  let rest = ''
  for await (const piece of text) {
    if (!piece.includes('\n')) {
      rest += piece
      continue
    }
    const lines = (rest + piece).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  yield rest
}
