// Reads an external stream as a string, with a byte limit. The bytes are counted, because a declared length cannot be
// trusted.

import { joinedBytes } from './chunks.ts'

/** `too_large` is returned when the first byte over the limit arrives; `not_utf8` only at the end of the stream. */
type BoundedText = { readonly text: string } | { readonly refused: 'too_large' | 'not_utf8' }

/** Cancels the stream at the limit. Rejects if the stream fails. Keep the `byteOrderMark` when passing the bytes on. */
export async function readBoundedText(
  chunks: AsyncIterable<Uint8Array> | null,
  limitBytes: number,
  byteOrderMark: 'drop' | 'keep' = 'drop',
): Promise<BoundedText> {
  const read: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks ?? []) {
    size += chunk.byteLength
    if (size > limitBytes) return { refused: 'too_large' }
    read.push(chunk)
  }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: byteOrderMark === 'keep' })
    return { text: decoder.decode(joinedBytes(read)) }
  } catch {
    return { refused: 'not_utf8' }
  }
}
