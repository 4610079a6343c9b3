// The text of a page as gzip, and back. gzip's own sum tells of bytes that are not what they were.

export async function packPage(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return through(new CompressionStream('gzip'), new TextEncoder().encode(text))
}

export async function unpackPage(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return new TextDecoder().decode(await through(new DecompressionStream('gzip'), body))
}

async function through(
  { writable, readable }: CompressionStream | DecompressionStream,
  bytes: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = writable.getWriter()
  const written = writer.write(bytes).then(() => writer.close())
  const [all] = await Promise.all([new Response(readable).arrayBuffer(), written])
  return new Uint8Array(all)
}
