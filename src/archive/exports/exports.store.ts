// Exports of a chain's history, from the rows of the D1 database HISTORY. Invariant: a query reads no more rows than
// its range contains.

import { batchOf, oneRow } from '../../core/d1.store.ts'
import { signatureOf } from '../../core/signature.client.ts'
import { DAY_MS, HOUR_MS } from '../../core/time.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { checkpointKey, segmentKey } from '../archive/archive-keys.ts'
import { coverageOf } from '../files/coverage.store.ts'
import { tableKey } from '../files/file-keys.ts'
import type { FileCoverage } from '../files/files-read.ts'
import type { FileSpan, Level } from '../files/levels.ts'
import type { TableName } from '../files/table.ts'
import type { CoveredPeriod, Exports, HistoryGap, HistoryRepair } from './exports-api.ts'
import { type FileLink, linkPath, signedText } from './file-links.ts'
import type { FileSource, StoredFile, TimeRange } from './file-list.ts'

type Database = Pick<D1Database, 'prepare' | 'batch'>
type Segments = Omit<CoveredPeriod, 'checkpoints' | 'checkpointsBytes'>
type Checkpoints = Pick<CoveredPeriod, 'startMs' | 'checkpoints' | 'checkpointsBytes'>

export class StoredExports implements Exports {
  readonly sources: readonly FileSource[]
  readonly #db: Database
  readonly #chain: string
  readonly sign: ((file: FileLink) => Promise<string>) | null

  constructor(db: Database, chain: string, secret: string | undefined) {
    this.sources = [...archiveFiles(db, chain), ...tableFiles(db, chain)]
    this.#db = db
    this.#chain = chain
    this.sign = secret ? async (file) => linkPath(file, await signatureOf(signedText(file), secret)) : null
  }

  async ends(): Promise<{ readonly from: HeightAndTime; readonly to: HeightAndTime } | null> {
    const [first, last] = await this.#batchTwo<HeightAndTime, HeightAndTime>(
      `SELECT first AS height, first_ms AS time FROM segments WHERE chain = ?1 ORDER BY first LIMIT 1`,
      `SELECT last AS height, last_ms AS time FROM segments WHERE chain = ?1 ORDER BY first DESC LIMIT 1`,
    )
    return first[0] && last[0] ? { from: first[0], to: last[0] } : null
  }

  files(): Promise<FileCoverage | null> {
    return coverageOf({ chain: this.#chain, db: this.#db }, 'events')
  }

  async periods({ fromMs, toMs }: TimeRange, length: 'day' | 'hour'): Promise<readonly CoveredPeriod[]> {
    const lengthMs = length === 'day' ? DAY_MS : HOUR_MS
    const [segments, checkpoints] = await this.#batchTwo<Segments, Checkpoints>(
      `SELECT first_ms / ${lengthMs} * ${lengthMs} AS startMs, COUNT(*) AS segments, SUM(lines) AS blocks,
        MIN(first) AS first, MAX(last) AS last, SUM(events_bytes) AS eventsBytes, SUM(books_bytes) AS booksBytes
        FROM segments WHERE chain = ?1 AND first_ms BETWEEN ?2 AND ?3 GROUP BY startMs ORDER BY startMs`,
      `SELECT time_ms / ${lengthMs} * ${lengthMs} AS startMs, COUNT(*) AS checkpoints, SUM(bytes) AS checkpointsBytes
        FROM checkpoints WHERE chain = ?1 AND time_ms BETWEEN ?2 AND ?3 GROUP BY startMs`,
      fromMs,
      toMs,
    )
    const byStart = new Map(checkpoints.map((one) => [one.startMs, one]))
    return segments.map((one) => ({ ...one, checkpoints: 0, checkpointsBytes: 0, ...byStart.get(one.startMs) }))
  }

  async gaps(after: number | null, limit: number): Promise<readonly HistoryGap[]> {
    const { results } = await this.#db
      .prepare(`SELECT from_height AS "from", to_height AS "to", after_ms AS afterMs, before_ms AS beforeMs,
        beyond_ms AS beyondMs FROM gaps WHERE chain = ? AND from_height > ? ORDER BY from_height LIMIT ?`)
      .bind(this.#chain, after ?? -1, limit)
      .all<HistoryGap>()
    return results
  }

  async repairs(limit: number): Promise<readonly HistoryRepair[]> {
    const { results } = await this.#db
      .prepare(`SELECT from_height AS "from", to_height AS "to", known, books, source, at_ms AS atMs,
        (SELECT first_ms FROM segments s WHERE s.chain = r.chain AND s.first <= r.from_height AND s.last >= r.from_height
          ORDER BY s.first DESC LIMIT 1) AS nearMs FROM repairs r WHERE chain = ? ORDER BY id DESC LIMIT ?`)
      .bind(this.#chain, limit)
      .all<Omit<HistoryRepair, 'hasBooks'> & { readonly books: number }>()
    return results.map(({ books, ...repair }) => ({ ...repair, hasBooks: books > 0 }))
  }

  /** Returns the results of two queries that have the same parameters. */
  async #batchTwo<A, B>(one: string, other: string, ...values: number[]): Promise<[A[], B[]]> {
    const statements = [one, other].map((sql) => this.#db.prepare(sql).bind(this.#chain, ...values))
    const [first, second] = await batchOf<[A, B]>(this.#db, statements)
    return [first.results, second.results]
  }
}

/** Null if the Worker has no archive. */
export function exportsOf(
  env: Partial<Pick<Cloudflare.Env, 'ARCHIVE' | 'HISTORY'>>,
  chain: string,
  secret: string | undefined,
): StoredExports | null {
  return env.ARCHIVE && env.HISTORY ? new StoredExports(env.HISTORY, chain, secret) : null
}

type ArchiveRow = Omit<StoredFile, 'key' | 'position'>

/** The table and columns that describe a product. */
interface Columns {
  readonly table: string
  readonly first: string
  readonly last: string
  readonly firstMs: string
  readonly lastMs: string
  readonly bytes: string
  readonly sha256: string
  readonly key: (chain: string, row: ArchiveRow) => string
}

const SEGMENT = { table: 'segments', first: 'first', last: 'last', firstMs: 'first_ms', lastMs: 'last_ms' }
const CHECKPOINT = { table: 'checkpoints', first: 'height', last: 'height', firstMs: 'time_ms', lastMs: 'time_ms' }

const PRODUCTS: Readonly<Record<string, Columns>> = {
  events: {
    ...SEGMENT,
    bytes: 'events_bytes',
    sha256: 'events_sha256',
    key: (chain, row) => segmentKey(chain, row, 'events'),
  },
  books: {
    ...SEGMENT,
    bytes: 'books_bytes',
    sha256: 'books_sha256',
    key: (chain, row) => segmentKey(chain, row, 'books'),
  },
  checkpoints: {
    ...CHECKPOINT,
    bytes: 'bytes',
    sha256: 'sha256',
    key: (chain, { first }) => checkpointKey(chain, first),
  },
}

function archiveFiles(db: Database, chain: string): FileSource[] {
  return Object.entries(PRODUCTS).map(([product, { table, first, last, firstMs, lastMs, bytes, sha256, key }]) => {
    // Segments without data of this product have 0 bytes.
    const from = `FROM ${table} WHERE chain = ?1 AND ${firstMs} BETWEEN ?2 AND ?3 AND ${bytes} > 0`
    return {
      product,
      files: async (range, after, limit) => {
        const { results } = await db
          .prepare(`SELECT ${first} AS first, ${last} AS last, ${firstMs} AS firstMs, ${lastMs} AS lastMs,
            ${bytes} AS bytes, ${sha256} AS sha256 ${from} AND (${firstMs}, ${first}) > (?4, ?5)
            ORDER BY ${firstMs}, ${first} LIMIT ?6`)
          .bind(chain, range.fromMs, range.toMs, after?.timeMs ?? -1, after?.height ?? -1, limit)
          .all<ArchiveRow>()
        return results.map((row) => {
          const position = { timeMs: row.firstMs, height: row.first, part: 0 }
          return { ...row, position, key: key(chain, row) }
        })
      },
      totals: (range) => {
        const select = `SELECT COUNT(*) AS objects, COALESCE(SUM(${bytes}), 0) AS bytes ${from}`
        return oneRow(db.prepare(select).bind(chain, range.fromMs, range.toMs))
      },
    }
  })
}

// Downloadable Parquet files, from their rows in D1. Invariants: only files whose data is complete are listed; no two
// listed files have the same rows; paging misses no row while hours are merged into a day.

type TableRow = FileSpan & Pick<StoredFile, 'bytes' | 'sha256'> & { readonly level: Level; readonly number: number }

const HOUR = 1
const DAY = 2
/** The level whose tables are permanent. Tables of lower levels are merged into it. */
const LAST_LEVEL: Readonly<Record<TableName, Level>> = {
  'fills-by-user': DAY,
  'fills-by-time': HOUR,
  'ledger-by-user': DAY,
  'candles-by-coin': DAY,
  'funding-by-user': DAY,
  'positions-by-coin': DAY,
  'oracle-updates-by-time': HOUR,
  'writer-actions-by-time': HOUR,
}

/**
 * Sort order of files at the same height. A merged file sorts after the files that it replaces. File numbers
 * have up to four digits.
 */
const PART = `t.level * 10000 + t.number`
const OF_FILE = `SELECT 1 FROM files f WHERE f.chain = t.chain AND f.level = t.level AND f.first = t.first AND f.state`

export function tableFiles(db: Database, chain: string): FileSource[] {
  return (Object.keys(LAST_LEVEL) as TableName[]).map((name) => {
    const isWhole = `NOT EXISTS (${OF_FILE} = 'open')`
    // The files row of a day may be gone, because months reuse the tables of their days.
    const isForGood = `(t.level = ${LAST_LEVEL[name]} AND ${isWhole})`
    const isListed = `(${isForGood} OR EXISTS (${OF_FILE} = 'live'))`
    const from = `FROM file_tables t WHERE t.chain = ?1 AND t.name = ?2 AND t.first_ms BETWEEN ?3 AND ?4 AND ${isListed}`
    return {
      product: name.replaceAll('-', '_'),
      files: async ({ fromMs, toMs }, after, limit) => {
        const { results } = await db
          .prepare(`SELECT t.level, t.first, t.last, t.first_ms AS firstMs, t.last_ms AS lastMs, t.number, t.bytes,
            t.sha256 ${from} AND (t.last, ${PART}) > (?5, ?6) ORDER BY t.last, ${PART} LIMIT ?7`)
          .bind(chain, name, fromMs, toMs, after?.height ?? -1, after?.part ?? -1, limit)
          .all<TableRow>()
        return results.map(({ level, number, ...row }) => {
          const position = { timeMs: row.firstMs, height: row.last, part: level * 10_000 + number }
          return { ...row, position, key: tableKey(chain, level, row, number, name) }
        })
      },
      totals: ({ fromMs, toMs }) => {
        const select = `SELECT COUNT(*) AS objects, COALESCE(SUM(t.bytes), 0) AS bytes ${from}`
        return oneRow(db.prepare(select).bind(chain, name, fromMs, toMs))
      },
    }
  })
}
