// Finds the book changes and checkpoints of an archive among the files of a folder.

import type { BookArchive } from './book-join.ts'
import type { SourceFile } from './source-files.ts'
import { LINE_CHARS, textLines } from './text-lines.ts'

const CHANGES = /(?:^|\/)(?:archive\/([^/]+)\/)?\d{4}-\d\d-\d\d\/(\d{12,16})-(\d{12,16})\.books\.gz$/
const CHECKPOINT = /(?:^|\/)(?:archive\/([^/]+)\/)?checkpoints\/(\d{12,16})\.gz$/

/** Null if the files have no changes of books of the chain. */
export function bookArchiveOf(files: readonly SourceFile[], chain: string): BookArchive | null {
  const found = <T>(pattern: RegExp, make: (first: number, last: number, file: SourceFile) => T): T[] =>
    files.flatMap((file) => {
      const [path, ofChain = chain, first, last] = pattern.exec(file.path) ?? []
      return path !== undefined && ofChain === chain ? [make(Number(first), Number(last), file)] : []
    })
  const segments = found(CHANGES, (first, last, { open }) => ({ first, last, lines: () => linesOf(open()) }))
  const checkpoints = found(CHECKPOINT, (height, _, { open }) => ({ height, lines: () => linesOf(open()) }))
  if (segments.length === 0) return null
  return {
    segments: segments.toSorted((a, b) => a.first - b.first),
    checkpoints: checkpoints.toSorted((a, b) => a.height - b.height),
  }
}

/** The lines of decompressed chunks. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const { text } of textLines(chunks, LINE_CHARS)) yield text
}
