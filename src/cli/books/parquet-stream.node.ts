// Writes rows to a Parquet file in row groups, so that only one group is in memory.

import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'

/** gzip, which all readers support without another package. */
const CODEC = { codec: 'GZIP', compressors: { GZIP: (bytes: Uint8Array) => gzipSync(bytes, { level: 4 }) } } as const
/** Rows per group, a few MB in memory. */
const GROUP_ROWS = 16_384

export type ParquetCell = string | number | bigint | Uint8Array | null
export type ParquetColumn = SchemaElement & { readonly name: string }

export class ParquetStream {
  readonly #part: string
  readonly #columns: readonly ParquetColumn[]
  readonly #writer: ParquetWriter
  #cells: ParquetCell[][]
  #rows = 0

  /** `part`: path while the file is incomplete. */
  constructor(part: string, columns: readonly ParquetColumn[]) {
    this.#part = part
    this.#columns = columns
    this.#cells = columns.map(() => [])
    mkdirSync(dirname(part), { recursive: true })
    const schema = [{ name: 'root', num_children: columns.length }, ...columns]
    this.#writer = new ParquetWriter({ writer: fileWriter(part), schema, ...CODEC, createdBy: 'weir' })
  }

  get rows(): number {
    return this.#rows
  }

  add(cells: readonly ParquetCell[]): void {
    for (const [at, column] of this.#cells.entries()) column.push(cells[at] ?? null)
    if (++this.#rows % GROUP_ROWS === 0) this.#flush()
  }

  finish(path: string, metadata: Readonly<Record<string, string>> = {}): void {
    if (this.#rows % GROUP_ROWS > 0) this.#flush()
    const pairs = Object.entries(metadata).map(([key, value]) => ({ key, value }))
    if (pairs.length > 0) this.#writer.kvMetadata = pairs
    this.#writer.finish()
    renameSync(this.#part, path)
  }

  discard(): void {
    rmSync(this.#part, { force: true })
  }

  #flush(): void {
    const columnData = this.#columns.map(({ name }, at) => ({ name, data: this.#cells[at] ?? [] }))
    this.#writer.write({ columnData, rowGroupSize: GROUP_ROWS })
    this.#cells = this.#columns.map(() => [])
  }
}
