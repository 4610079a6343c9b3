// Books as Parquet: a row per level. Invariants: rows are in the order of heights; prices and sizes are the strings of the archive.

import { join } from 'node:path'
import type { Level } from '../../protocol/feed/block.ts'
import { type BookFile, type CoinDay, coinPath } from './book-file.ts'
import type { TapeEvent } from './book-tape.ts'
import { type ParquetColumn, ParquetStream } from './parquet-stream.node.ts'

const WHOLE = { type: 'INT64' } as const
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
const REQUIRED = { repetition_type: 'REQUIRED' } as const
const OPTIONAL = { repetition_type: 'OPTIONAL' } as const

/** `side` to `n` are null in the row of a gap, and in the row of an empty snapshot. A gap has no `seq`. */
const COLUMNS: readonly ParquetColumn[] = [
  { name: 'height', ...WHOLE, ...REQUIRED },
  { name: 'time_ms', ...WHOLE, ...REQUIRED },
  { name: 'kind', ...TEXT, ...REQUIRED },
  { name: 'seq', ...WHOLE, ...OPTIONAL },
  { name: 'side', ...TEXT, ...OPTIONAL },
  { name: 'px', ...TEXT, ...OPTIONAL },
  { name: 'sz', ...TEXT, ...OPTIONAL },
  { name: 'n', type: 'INT32', ...OPTIONAL },
]

export function parquetFile(folder: string, { coin, day }: CoinDay): BookFile {
  const path = join(folder, coinPath(coin), `${day}.parquet`)
  const stream = new ParquetStream(`${path}.part`, COLUMNS)
  return {
    add: (event) => addRows(stream, event),
    finish: async () => {
      stream.finish(path)
      return { path, rows: stream.rows }
    },
    discard: () => stream.discard(),
  }
}

function addRows(stream: ParquetStream, event: TapeEvent): void {
  if (event.kind === 'trade') return
  const head = [BigInt(event.height), BigInt(event.timeMs), event.kind] as const
  if (event.kind === 'gap') return stream.add(head)
  const start = [...head, BigInt(event.seq)] as const
  const [bids, asks] = event.levels
  const add = (side: string, { px, sz, n }: Level) => stream.add([...start, side, px, sz, n])
  for (const level of bids) add('B', level)
  for (const level of asks) add('A', level)
  if (event.kind === 'snapshot' && bids.length + asks.length === 0) stream.add(start)
}
