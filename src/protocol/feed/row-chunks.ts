// Splits order-level rows into chunks that are stored one per event-loop turn.

/** A chunk is written in about two milliseconds and has at most 1.5 MiB. */
const CHUNK_UNITS = 512 * 1024

/** Splits a string into chunks, never within a surrogate pair. */
export function splitIntoChunks(text: string): string[] {
  const chunks: string[] = []
  for (let at = 0, end = 0; at === 0 || at < text.length; at = end) {
    end = at + CHUNK_UNITS
    const splitsPair = (text.charCodeAt(end) & 0xfc00) === 0xdc00
    if (splitsPair) end--
    chunks.push(text.slice(at, end))
  }
  return chunks
}
