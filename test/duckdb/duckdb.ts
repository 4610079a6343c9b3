// DuckDB over a folder of files.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { missingIn, placeOf } from '../installed.ts'

const PLACE = placeOf('duckdb')

type Row = Readonly<Record<string, unknown>>
interface Result {
  /** Whole numbers of 64 bits as bigint, times with their `micros`, decimals that are themselves as text. */
  getRowObjects(): Row[]
}
interface Connection {
  runAndReadAll(sql: string): Promise<Result>
  closeSync(): void
}
interface Api {
  readonly DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection> }> }
}

export interface DuckDb {
  ask(sql: string): Promise<readonly Row[]>
  close(): void
}

/** Null, or why it is not there. */
export const missingDuckDb = (): string | null => missingIn(PLACE, import.meta.dirname)

/** Names of files in questions are those in `folder`. */
export async function openDuckDb(folder: string): Promise<DuckDb> {
  const file = pathToFileURL(join(PLACE, 'node_modules/@duckdb/node-api/lib/index.js')).href
  const { DuckDBInstance } = (await import(file)) as Api
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const ask = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects()
  await ask(`SET file_search_path = '${folder}'`)
  await ask(`SET TimeZone = 'UTC'`)
  return { ask, close: () => connection.closeSync() }
}
