// Text from outside, bounded in size: bytes are counted as they come, because no declared length can be trusted.

import { joinedBytes } from './chunks.ts'

/** The bytes as text; why not otherwise: `too_large` at the first byte over the limit, `not_utf8` after the last one. */
type BoundedText = { readonly text: string } | { readonly refused: 'too_large' | 'not_utf8' }

/** Stops at the limit and cancels the stream. `byteOrderMark` is kept where bytes come through. Rejects as it does. */
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
