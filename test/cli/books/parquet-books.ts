// Reads an exported Parquet file, and folds it by the rules of its documentation.

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { LevelBook } from '../../../src/order-books/level-book.ts'
import type { Levels } from '../../../src/protocol/feed/block.ts'

export interface BookRow {
  readonly height: bigint
  readonly time_ms: bigint
  readonly kind: 'snapshot' | 'change' | 'gap'
  readonly seq: bigint | null
  readonly side: 'B' | 'A' | null
  readonly px: string
  readonly sz: string
  readonly n: number
}

export async function rowsIn(path: string): Promise<BookRow[]> {
  const { buffer, byteOffset, length } = readFileSync(path)
  const file = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer
  const rows = await parquetReadObjects({ file, compressors: { GZIP: (bytes) => gunzipSync(bytes) } })
  return rows as unknown as BookRow[]
}

/** The book after each block that has rows; no book from a gap up to the next snapshot. */
export function* booksOf(rows: readonly BookRow[]): Generator<{ readonly last: BookRow; readonly levels: Levels }> {
  let book: LevelBook | null = null
  for (const [at, row] of rows.entries()) {
    const before = rows[at - 1]
    if (row.kind === 'gap') book = null
    else if (row.kind === 'snapshot' && (before?.kind !== 'snapshot' || before.height !== row.height))
      book = new LevelBook()
    const level = { px: row.px, sz: row.sz, n: row.n }
    if (row.side !== null) {
      if (book === null) throw new Error(`a change of block ${row.height} without a book`)
      book.apply(row.side === 'B' ? [[level], []] : [[], [level]])
    }
    if (book !== null && rows[at + 1]?.height !== row.height) yield { last: row, levels: book.levels() }
  }
}
