// A batch as a file: NDJSON, or Parquet with the columns of its topic. Law: the same rows make the same bytes.

import { padded } from '../../archive/archive/archive-keys.ts'
import { pack } from '../../archive/archive/packed.client.ts'
import type { Cell, Column, ColumnType } from '../../archive/files/columns.ts'
import { Parquet } from '../../archive/files/tables.client.ts'
import { HEAD_COLUMNS, NOTE_COLUMNS, type Row } from '../topics/topic.ts'
import { type Batch, batchId } from './batch.ts'

/** The name of a batch, under which it is written each time; a test of the same heights has another. */
export function fileName({ id, pipeline, from, to }: Batch, prefix: string, format: 'parquet' | 'ndjson'): string {
  const test = id.slice(batchId(pipeline, from, to).length).replace(':', '-')
  return `${prefix}${pipeline}/${padded(from)}-${padded(to)}${test}.${format === 'parquet' ? 'parquet' : 'ndjson.gz'}`
}

export async function fileOf(batch: Batch, format: 'parquet' | 'ndjson'): Promise<Uint8Array<ArrayBuffer>> {
  if (format === 'parquet') return parquetOf(batch)
  return new Uint8Array((await pack([...batch.texts, ''])).body)
}

function parquetOf({ rows, columns }: Batch): Uint8Array<ArrayBuffer> {
  const own = columns === null ? columnsOf(rows) : [...columns, ...NOTE_COLUMNS].map(optional)
  const all = [...HEAD_COLUMNS, ...own]
  const file = new Parquet(all)
  for (const row of rows) file.add(all.map(({ name, type }) => cellOf(row[name], type)))
  return new Uint8Array(file.end())
}

/** Rows that say what is missing have none of them. */
const optional = ({ name, type }: Column): Column => ({ name, type, isOptional: true })

/** Of rows that transforms made: whole numbers where all are, else text. */
function columnsOf(rows: readonly Row[]): Column[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  for (const { name } of HEAD_COLUMNS) names.delete(name)
  return [...names].map((name) => {
    const cells = rows.map((row) => row[name]).filter((cell) => cell !== null && cell !== undefined)
    const isWhole = cells.length > 0 && cells.every(Number.isSafeInteger)
    return { name, type: isWhole ? 'whole' : 'text', isOptional: true }
  })
}

function cellOf(value: unknown, type: ColumnType): Cell {
  if (value === undefined || value === null) return null
  if (type === 'text') return typeof value === 'string' ? value : JSON.stringify(value)
  return value as Cell
}
