// Objects of the archive as files that can be taken away, from their rows in D1.

import { checkpointKey, segmentKey } from '../archive/archive-keys.ts'
import type { FilePlace, FileSource, FileSums, StoredFile, TimeRange } from './listed-files.ts'

type Database = Pick<D1Database, 'prepare'>
type Row = Omit<StoredFile, 'key' | 'place'>

/** Which columns of which rows are a product's. */
interface Columns {
  readonly table: string
  readonly first: string
  readonly last: string
  readonly firstMs: string
  readonly lastMs: string
  readonly bytes: string
  readonly sha256: string
  readonly key: (chain: string, row: Row) => string
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

/** Segments of both kinds, and checkpoints. */
export function archiveFiles(db: Database, chain: string): FileSource[] {
  return Object.entries(PRODUCTS).map(([product, columns]) => new Rows(db, chain, product, columns))
}

class Rows implements FileSource {
  readonly product: string
  readonly #db: Database
  readonly #chain: string
  readonly #columns: Columns

  constructor(db: Database, chain: string, product: string, columns: Columns) {
    this.product = product
    this.#db = db
    this.#chain = chain
    this.#columns = columns
  }

  async files(range: TimeRange, after: FilePlace | null, limit: number): Promise<readonly StoredFile[]> {
    const { first, last, firstMs, lastMs, bytes, sha256, key } = this.#columns
    const { results } = await this.#db
      .prepare(`SELECT ${first} AS first, ${last} AS last, ${firstMs} AS firstMs, ${lastMs} AS lastMs, ${bytes} AS bytes,
        ${sha256} AS sha256 ${this.#from} AND (${firstMs}, ${first}) > (?4, ?5) ORDER BY ${firstMs}, ${first} LIMIT ?6`)
      .bind(this.#chain, range.fromMs, range.toMs, after?.timeMs ?? -1, after?.height ?? -1, limit)
      .all<Row>()
    return results.map((row) => {
      const place = { timeMs: row.firstMs, height: row.first, part: 0 }
      return { ...row, place, key: key(this.#chain, row) }
    })
  }

  async sums(range: TimeRange): Promise<FileSums> {
    const sums = await this.#db
      .prepare(`SELECT COUNT(*) AS objects, COALESCE(SUM(${this.#columns.bytes}), 0) AS bytes ${this.#from}`)
      .bind(this.#chain, range.fromMs, range.toMs)
      .first<FileSums>()
    return sums!
  }

  /** Of a product that was removed the bytes are 0. */
  get #from(): string {
    const { table, firstMs, bytes } = this.#columns
    return `FROM ${table} WHERE chain = ?1 AND ${firstMs} BETWEEN ?2 AND ?3 AND ${bytes} > 0`
  }
}
