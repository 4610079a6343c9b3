// Lines of a stream of bytes. Law: bytes that are no UTF-8 are an error, and no other text.

export interface TextLine {
  readonly text: string
  /** From 1 on. */
  readonly number: number
  /** It ended with a line feed: the last line of a file that is written, or was cut, has none. */
  readonly isEnded: boolean
}

export class LineFault extends Error {
  override name = 'LineFault'
}

/** The lines with something in them. */
export async function* textLines(chunks: AsyncIterable<Uint8Array>, mostChars: number): AsyncGenerator<TextLine> {
  const decode = utf8()
  let rest = ''
  let number = 0
  for await (const chunk of chunks) {
    const piece = decoded(decode, number, chunk)
    if (piece.includes('\n')) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop()!
      for (const text of lines) if (++number && text !== '') yield { text, number, isEnded: true }
    } else rest += piece
    if (rest.length > mostChars) throw new LineFault(`has a line (${number + 1}) of more than ${mostChars} characters`)
  }
  rest += decoded(decode, number)
  if (rest !== '') yield { text: rest, number: number + 1, isEnded: false }
}

type Decode = (chunk?: Uint8Array) => string

/** Without a chunk: that was all. */
function utf8(): Decode {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  return (chunk) => decoder.decode(chunk, { stream: chunk !== undefined })
}

function decoded(decode: Decode, number: number, chunk?: Uint8Array): string {
  try {
    return decode(chunk)
  } catch {
    throw new LineFault(`is no text behind line ${number}`)
  }
}
