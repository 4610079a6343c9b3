// Writes files: an object into R2, then all of its rows into D1 at once. Invariants: a row always refers to an existing
// object; rewriting produces the same bytes.

import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { UnfiledRange } from '../archive/archive-read.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import type { KnownEvents } from '../archive/backfill-lines.ts'
import { sha256Of } from '../archive/gzip-lines.client.ts'
import { advanceRow } from '../archive/unfiled.store.ts'
import { rowsOfParts } from '../candles.ts'
import { type CandleSeries, candleKey } from './candle-lines.ts'
import { gapsAround } from './file-gaps.store.ts'
import { objectKey, tableKey } from './file-keys.ts'
import { fundingRows, paidRow } from './funding.store.ts'
import type { Payment } from './funding-sums.ts'
import {
  type BucketLevel,
  bucketOf,
  type FileSpan,
  isBucketLevel,
  KEY_TABLES,
  type Level,
  type LiveFile,
  type MergedLevel,
} from './levels.ts'
import { bytesRange } from './object-range.store.ts'
import type { PagePosition, SourceFile } from './page-source.ts'
import { concatPages, type IndexEntry } from './page-writer.ts'
import { outdatedPositions } from './position-days.store.ts'
import { isTimeTable, type Table } from './table.ts'

/** Maximum length of a string parameter. D1 accepts up to 2 MB. */
const MAX_TEXT_CHARS = 500_000

type State = 'open' | 'live'

/** Content of an object. An object without pages is not written. */
export interface ObjectContent {
  readonly pages: readonly Uint8Array[]
  readonly bytes: number
  readonly entries: readonly IndexEntry[]
  readonly candles: readonly CandleSeries[]
}

export interface OpenFile extends FileSpan {
  readonly objects: number
  /** Positions in the source files from which merging continues. */
  readonly next: readonly PagePosition[]
}

export interface FilePart {
  readonly level: MergedLevel
  readonly file: FileSpan
  readonly number: number
  readonly content: ObjectContent
  /** Tables with the same rows as the pages. */
  readonly tables: readonly Table[]
  /** Positions from which merging continues. Null for the last part: the file then replaces its sources. */
  readonly next: readonly PagePosition[] | null
}

export interface MinuteFile {
  readonly file: FileSpan
  readonly content: ObjectContent
  /** Tables with the same rows as the pages; empty if the hour of the file has ended. */
  readonly tables: readonly Table[]
  /** Known data of the blocks; null if the archive no longer has them. */
  readonly known: KnownEvents | null
  /** Funding payments; null if they are not known for all blocks. */
  readonly payments: readonly Payment[] | null
  /** Whether payments per wallet are known for all blocks. */
  readonly isPaidKnown: boolean
  /** The range from `unfiled` to which this file belongs; null if the file is written in order. */
  readonly unfiled: UnfiledRange | null
}

export class FilesWriter {
  readonly #storage: ArchiveStorage
  readonly #now: () => number

  constructor(storage: ArchiveStorage, now: () => number) {
    this.#storage = storage
    this.#now = now
  }

  /** The last block in any file. */
  async last(): Promise<HeightAndTime | null> {
    return this.#storage.db
      .prepare(`SELECT last AS height, last_ms AS time FROM files WHERE chain = ? ORDER BY last DESC LIMIT 1`)
      .bind(this.#storage.chain)
      .first<HeightAndTime>()
  }

  async putMinute({ file, content, tables, known, payments, isPaidKnown, unfiled }: MinuteFile): Promise<void> {
    const rows = await this.#putObject(0, file, 0, content)
    for (const table of tables) rows.push(await this.#putTable(0, file, 0, table))
    const funding = payments ? await fundingRows(this.#storage, file, payments) : []
    const paid = isPaidKnown ? [paidRow(this.#storage, file)] : []
    const gaps = gapsAround(this.#storage, file, known)
    const passed = unfiled
      ? [advanceRow(this.#storage, unfiled, file.last + 1), ...outdatedPositions(this.#storage, file.first)]
      : []
    await this.#storage.db.batch([
      ...rows,
      ...funding,
      ...paid,
      ...gaps,
      ...passed,
      this.#fileRow(0, file, 0, content, 'live', null),
    ])
  }

  /** The unfinished file of a level. */
  async open(level: Level): Promise<OpenFile | null> {
    const row = await this.#storage.db
      .prepare(`SELECT first, last, first_ms AS firstMs, last_ms AS lastMs, objects, next FROM files
        WHERE chain = ? AND level = ? AND state = 'open' ORDER BY first DESC LIMIT 1`)
      .bind(this.#storage.chain, level)
      .first<FileSpan & { objects: number; next: string }>()
    return row && { ...row, next: JSON.parse(row.next) as readonly PagePosition[] }
  }

  /** Live files from a height, in height order. */
  async live(level: Level, from: number, limit: number): Promise<readonly LiveFile[]> {
    const { results } = await this.#storage.db
      .prepare(`SELECT first, last, first_ms AS firstMs, last_ms AS lastMs, EXISTS (SELECT 1 FROM files n
        WHERE n.chain = f.chain AND n.level IN (0, 1, 2, 3) AND n.level >= f.level AND n.first = f.last + 1
        AND n.state = 'live') AS isFollowed FROM files f
        WHERE chain = ? AND level = ? AND state = 'live' AND first >= ? ORDER BY first LIMIT ?`)
      .bind(this.#storage.chain, level, from, limit)
      .all<FileSpan & { isFollowed: number }>()
    return results.map((file) => ({ ...file, isFollowed: file.isFollowed === 1 }))
  }

  async source(level: Level, file: FileSpan): Promise<SourceFile> {
    const { chain, db, bucket } = this.#storage
    const { results } = await db
      .prepare(
        `SELECT number, bytes, etag FROM file_objects WHERE chain = ? AND level = ? AND first = ? ORDER BY number`,
      )
      .bind(chain, level, file.first)
      .all<{ number: number; bytes: number; etag: string }>()
    const objects = results.map(({ number, bytes, etag }) => {
      const key = objectKey(chain, level, file, number)
      return {
        key,
        bytes,
        read: (offset: number, length: number) => bytesRange({ bucket }, { key, etag, offset, length }),
      }
    })
    return { objects }
  }

  async putPart({ level, file, number, content, tables, next }: FilePart): Promise<void> {
    const { chain, db } = this.#storage
    const rows = await this.#putObject(level, file, number, content)
    for (const table of tables) rows.push(await this.#putTable(level, file, number, table))
    const merged = db
      .prepare(`UPDATE files SET state = 'merged', merged_ms = ? WHERE chain = ? AND level = ? AND state = 'live'
        AND first >= ? AND last <= ?`)
      .bind(this.#now(), chain, level - 1, file.first, file.last)
    const fileRow = this.#fileRow(level, file, number, content, next ? 'open' : 'live', next)
    await db.batch([...rows, fileRow, ...(next ? [] : [merged])])
  }

  /** Writes a table that belongs to a file of a day, and returns its row. */
  putDayTable(file: FileSpan, number: number, table: Table): Promise<D1PreparedStatement> {
    return this.#putTable(2, file, number, table)
  }

  /** Writes an object unless it is empty, and returns its rows. */
  async #putObject(level: Level, file: FileSpan, number: number, { pages, bytes, entries, candles }: ObjectContent) {
    if (bytes === 0) return []
    const { chain, bucket, db } = this.#storage
    const { etag } = await bucket.put(
      objectKey(chain, level, file, number),
      concatPages(pages, bytes),
      putOptions(level === 3),
    )
    const object = db
      .prepare(
        `INSERT OR REPLACE INTO file_objects (chain, level, first, number, bytes, etag) VALUES (?, ?, ?, ?, ?, ?)`,
      )
      .bind(chain, level, file.first, number, bytes, etag)
    const rows = entries.map(({ key, first, last, minMs, maxMs, rows: count, offset, bytes: length }) => [
      ...[key, first, last, minMs, maxMs],
      ...[count, offset, length],
    ])
    const insert = (sql: string, all: readonly unknown[], ...more: number[]) =>
      jsonChunks(all).map((text) => db.prepare(sql).bind(chain, ...more, file.first, number, text))
    if (isBucketLevel(level))
      return [object, ...insert(BUCKETS, groupByBucket(level, withCandles(rows, candles)), level)]
    const ofKeys = insert(keysInto(KEY_TABLES[level]), rows)
    return [object, ...ofKeys, ...insert(CANDLES, candles.map(rowOfCandles), level)]
  }

  async #putTable(
    level: Level,
    file: FileSpan,
    number: number,
    { name, rows, bytes }: Table,
  ): Promise<D1PreparedStatement> {
    const { chain, bucket, db } = this.#storage
    const { first, last, firstMs, lastMs } = file
    const isForGood = level === 2 || (level === 1 && isTimeTable(name))
    await bucket.put(tableKey(chain, level, file, number, name), bytes, putOptions(isForGood))
    const values = [chain, level, first, last, firstMs, lastMs, number, name, rows, bytes.length, await sha256Of(bytes)]
    return db
      .prepare(`INSERT OR REPLACE INTO file_tables (chain, level, first, last, first_ms, last_ms, number, name, rows, bytes, sha256)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .bind(...values)
  }

  #fileRow(
    level: Level,
    file: FileSpan,
    number: number,
    made: ObjectContent,
    state: State,
    next: readonly PagePosition[] | null,
  ) {
    const { first, last, firstMs, lastMs } = file
    const rows = made.entries.reduce((sum, entry) => sum + entry.rows, 0)
    const objects = number + 1
    // The counts include an object only once, even if it is written again.
    return this.#storage.db
      .prepare(`INSERT INTO files (chain, level, first, last, first_ms, last_ms, objects, rows, bytes, state, next)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO UPDATE SET rows = rows + ?8, bytes = bytes + ?9,
        objects = ?7, state = ?10, next = ?11 WHERE state = 'open' AND objects = ?12`)
      .bind(
        this.#storage.chain,
        level,
        first,
        last,
        firstMs,
        lastMs,
        objects,
        rows,
        made.bytes,
        state,
        next && JSON.stringify(next),
        number,
      )
  }
}

/** Permanent objects use a cheaper storage class, which charges per read and has a minimum duration of one month. */
const putOptions = (isForGood: boolean): R2PutOptions => (isForGood ? { storageClass: 'InfrequentAccess' } : {})

const keysInto = (table: string) => `INSERT OR REPLACE INTO ${table}
  (chain, first, number, key, first_height, last_height, min_ms, max_ms, rows, offset, bytes)
  SELECT ?1, ?2, ?3, value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7
  FROM json_each(?4) WHERE TRUE`
const BUCKETS = `INSERT OR REPLACE INTO file_buckets (chain, level, first, number, bucket, entries)
  SELECT ?1, ?2, ?3, ?4, value->>0, value->>1 FROM json_each(?5) WHERE TRUE`

const CANDLES = `INSERT OR REPLACE INTO file_candles (chain, level, first, number, coin, base, min_ms, max_ms, candles, parts)
  SELECT ?1, ?2, ?3, ?4, value->>0, value->>1, value->>2, value->>3, value->>4, value->>5 FROM json_each(?5) WHERE TRUE`

const rowOfCandles = ({ coin, base, parts }: CandleSeries): readonly unknown[] => [
  ...[coin, base, parts[0]?.t, parts.at(-1)?.t],
  ...[parts.length, rowsOfParts(parts)],
]

/** Adds each coin's candles to the first row of that coin. */
function withCandles(rows: readonly (readonly unknown[])[], candles: readonly CandleSeries[]): (readonly unknown[])[] {
  const left = new Map(candles.map(({ coin, parts }) => [candleKey(coin), rowsOfParts(parts)]))
  return rows.map((row) => {
    const key = row[0] as string
    const mine = left.get(key)
    left.delete(key)
    return mine ? [...row, mine] : row
  })
}

/** Groups index entries by bucket, in order of bucket. */
function groupByBucket(level: BucketLevel, rows: readonly (readonly unknown[])[]): (readonly [number, unknown[]])[] {
  const buckets = new Map<number, unknown[]>()
  for (const row of rows) {
    const bucket = bucketOf(level, row[0] as string)
    const known = buckets.get(bucket)
    if (known) known.push(row)
    else buckets.set(bucket, [row])
  }
  return [...buckets]
}

function jsonChunks(rows: readonly unknown[]): string[] {
  const texts: string[] = []
  let open: string[] = []
  let chars = 0
  for (const row of rows) {
    const text = JSON.stringify(row)
    if (chars + text.length > MAX_TEXT_CHARS && open.length > 0) {
      texts.push(`[${open.join(',')}]`)
      open = []
      chars = 0
    }
    open.push(text)
    chars += text.length
  }
  return open.length > 0 ? [...texts, `[${open.join(',')}]`] : texts
}
