// Parquet as files that can be taken away, from their rows in D1. Laws: nothing of a file that is not whole is listed, and
// of two tables with the same rows one; whoever goes from page to page while hours become a day misses no row.

import { tableKey } from '../files/file-keys.ts'
import type { FileSpan, Level } from '../files/levels.ts'
import type { TableName } from '../files/table.ts'
import type { FilePlace, FileSource, FileSums, StoredFile, TimeRange } from './listed-files.ts'

type Database = Pick<D1Database, 'prepare'>
type Row = FileSpan & Pick<StoredFile, 'bytes' | 'sha256'> & { readonly level: Level; readonly number: number }

const [HOUR, DAY] = [1, 2] as const
/** The level whose tables stay: those of the levels below go as they become one of it. */
const LAST_LEVEL: Readonly<Record<TableName, Level>> = {
  'fills-by-user': DAY,
  'fills-by-time': HOUR,
  'ledger-by-user': DAY,
  'candles-by-coin': DAY,
  'funding-by-user': DAY,
}

/** A file ends where the last of those in it does, and stands behind all of them: a number has four digits. */
const PART = `t.level * 10000 + t.number`
const OF_FILE = `SELECT 1 FROM files f WHERE f.chain = t.chain AND f.level = t.level AND f.first = t.first AND f.state`

export function tableFiles(db: Database, chain: string): FileSource[] {
  return (Object.keys(LAST_LEVEL) as TableName[]).map((name) => new TableFiles(db, chain, name))
}

class TableFiles implements FileSource {
  readonly product: string
  readonly #db: Database
  readonly #chain: string
  readonly #name: TableName

  constructor(db: Database, chain: string, name: TableName) {
    this.product = name.replaceAll('-', '_')
    this.#db = db
    this.#chain = chain
    this.#name = name
  }

  async files(range: TimeRange, after: FilePlace | null, limit: number): Promise<readonly StoredFile[]> {
    const { results } = await this.#db
      .prepare(`SELECT t.level, t.first, t.last, t.first_ms AS firstMs, t.last_ms AS lastMs, t.number, t.bytes, t.sha256
        ${this.#from} AND (t.last, ${PART}) > (?5, ?6) ORDER BY t.last, ${PART} LIMIT ?7`)
      .bind(...this.#values(range), after?.height ?? -1, after?.part ?? -1, limit)
      .all<Row>()
    return results.map(({ level, number, ...row }) => {
      const place = { timeMs: row.firstMs, height: row.last, part: level * 10_000 + number }
      return { ...row, place, key: tableKey(this.#chain, level, row, number, this.#name) }
    })
  }

  async sums(range: TimeRange): Promise<FileSums> {
    const sums = await this.#db
      .prepare(`SELECT COUNT(*) AS objects, COALESCE(SUM(t.bytes), 0) AS bytes ${this.#from}`)
      .bind(...this.#values(range))
      .first<FileSums>()
    return sums!
  }

  #values({ fromMs, toMs }: TimeRange): readonly [string, TableName, number, number] {
    return [this.#chain, this.#name, fromMs, toMs]
  }

  get #from(): string {
    const isWhole = `NOT EXISTS (${OF_FILE} = 'open')`
    // Its file may be gone: a month has the tables of its days.
    const isForGood = `(t.level = ${LAST_LEVEL[this.#name]} AND ${isWhole})`
    const isListed = `(${isForGood} OR EXISTS (${OF_FILE} = 'live'))`
    return `FROM file_tables t WHERE t.chain = ?1 AND t.name = ?2 AND t.first_ms BETWEEN ?3 AND ?4 AND ${isListed}`
  }
}
