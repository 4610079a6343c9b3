// Splits stored data into chunks of 1 MiB. Production rejects rows over 2 MB, although local storage accepts them.

/** Bytes per chunk, each of which is stored as a row. */
const CHUNK_BYTES = 1024 * 1024

/** Returns UTF-8 chunks of at most `chunkBytes`. An empty string yields one empty chunk. */
export function toChunks(text: string, chunkBytes: number = CHUNK_BYTES): Uint8Array<ArrayBuffer>[] {
  const bytes = new TextEncoder().encode(text)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += chunkBytes) chunks.push(bytes.slice(at, at + chunkBytes))
  return chunks
}

/** The inverse of `toChunks`. Chunks must be in order. */
export function fromChunks(chunks: readonly (ArrayBuffer | Uint8Array)[]): string {
  return new TextDecoder().decode(joinedBytes(chunks))
}

/** Concatenates chunks. */
export function joinedBytes(chunks: readonly (ArrayBuffer | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk instanceof Uint8Array ? chunk : new Uint8Array(chunk), at)
    at += chunk.byteLength
  }
  return bytes
}
