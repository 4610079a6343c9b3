// Rows of order-level books as pieces that are stored one a turn.

/** A piece of rows is put in some two milliseconds, and is at most 1.5 MiB. */
const CHUNK_UNITS = 512 * 1024

/** Cut where no character is. */
export function splitIntoChunks(text: string): string[] {
  const pieces: string[] = []
  for (let at = 0, end = 0; at === 0 || at < text.length; at = end) {
    end = at + CHUNK_UNITS
    const isAmidCharacter = (text.charCodeAt(end) & 0xfc00) === 0xdc00
    if (isAmidCharacter) end--
    pieces.push(text.slice(at, end))
  }
  return pieces
}
