// Splits the bytes of a file into lines, and describes what is wrong with a file. Invariant: invalid UTF-8 is an error.

import { visible } from '../../core/visible.ts'

/** Far larger than the events of any block. */
export const LINE_CHARS = 64 * 1024 * 1024

/** The content of a file is invalid. */
export class FileError extends Error {
  override name = 'FileFault'
}

export type NodeError = Error & { readonly code?: string }

/** Why a file cannot be read further, and the fix. */
export function fileFaultText({ name, message, code }: NodeError): string {
  if (message === 'is truncated' || code === 'Z_BUF_ERROR')
    return 'is truncated; its complete part was read. Copy it again, and rerun this command.'
  if (name === FileError.name)
    return `${message}; the part before the damage was read. Copy it again, and rerun this command.`
  if (code?.startsWith('Z_'))
    return `is damaged (${code}); the part before the damage was read. Copy it again, and rerun this command.`
  return `cannot be read further (${code ?? visible(message)}). Rerun this command.`
}

export interface TextLine {
  readonly text: string
  /** Starts at 1. */
  readonly number: number
  /** Whether it ended with a line feed; the last line of an incomplete file does not. */
  readonly isEnded: boolean
}

/** The non-empty lines of a file. Invalid UTF-8 is an error and never replaced. */
export async function* textLines(chunks: AsyncIterable<Uint8Array>, maxChars: number): AsyncGenerator<TextLine> {
  const decode = utf8()
  let rest = ''
  let number = 0
  for await (const chunk of chunks) {
    const part = decoded(decode, number, chunk)
    if (part.includes('\n')) {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) if (++number && text !== '') yield { text, number, isEnded: true }
    } else rest += part
    if (rest.length > maxChars) throw new FileError(`has a line (${number + 1}) of more than ${maxChars} characters`)
  }
  rest += decoded(decode, number)
  if (rest !== '') yield { text: rest, number: number + 1, isEnded: false }
}

type Decode = (chunk?: Uint8Array) => string

/** Call it without a chunk after the last chunk. */
function utf8(): Decode {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  return (chunk) => decoder.decode(chunk, { stream: chunk !== undefined })
}

function decoded(decode: Decode, number: number, chunk?: Uint8Array): string {
  try {
    return decode(chunk)
  } catch {
    throw new FileError(`is not UTF-8 text after line ${number}`)
  }
}
