// What there is of a chain's history, from the rows of D1 HISTORY. Law: no question reads more rows than its range has.

import { DAY_MS } from '../../core/time.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { coverOf } from '../files/cover.store.ts'
import type { FilesCover } from '../files/files-read.ts'
import { archiveFiles } from './archive-files.store.ts'
import type { CoveredDay, Exports, ToldGap } from './exports-api.ts'
import { type FileLink, linkPath, signedText } from './file-links.ts'
import type { FileSource, TimeRange } from './listed-files.ts'
import { signatureOf } from './signature.client.ts'
import { tableFiles } from './table-files.store.ts'

type Database = Pick<D1Database, 'prepare' | 'batch'>
type Segments = Omit<CoveredDay, 'checkpoints' | 'checkpointsBytes'>
type Checkpoints = Pick<CoveredDay, 'dayMs' | 'checkpoints' | 'checkpointsBytes'>

export class StoredExports implements Exports {
  readonly sources: readonly FileSource[]
  readonly #db: Database
  readonly #chain: string
  readonly sign: ((file: FileLink) => Promise<string>) | null

  /** `secret` signs links. */
  constructor(db: Database, chain: string, secret: string | undefined) {
    this.sources = [...archiveFiles(db, chain), ...tableFiles(db, chain)]
    this.#db = db
    this.#chain = chain
    this.sign = secret ? async (file) => linkPath(file, await signatureOf(signedText(file), secret)) : null
  }

  async ends(): Promise<{ readonly from: HeightAndTime; readonly to: HeightAndTime } | null> {
    const [first, last] = await this.#both<HeightAndTime, HeightAndTime>(
      `SELECT first AS height, first_ms AS time FROM segments WHERE chain = ?1 ORDER BY first LIMIT 1`,
      `SELECT last AS height, last_ms AS time FROM segments WHERE chain = ?1 ORDER BY first DESC LIMIT 1`,
    )
    return first[0] && last[0] ? { from: first[0], to: last[0] } : null
  }

  files(): Promise<FilesCover | null> {
    return coverOf({ chain: this.#chain, db: this.#db }, 'events')
  }

  async days({ fromMs, toMs }: TimeRange): Promise<readonly CoveredDay[]> {
    const [segments, checkpoints] = await this.#both<Segments, Checkpoints>(
      `SELECT first_ms / ${DAY_MS} * ${DAY_MS} AS dayMs, COUNT(*) AS segments, SUM(lines) AS blocks, MIN(first) AS first,
        MAX(last) AS last, SUM(events_bytes) AS eventsBytes, SUM(books_bytes) AS booksBytes FROM segments
        WHERE chain = ?1 AND first_ms BETWEEN ?2 AND ?3 GROUP BY dayMs ORDER BY dayMs`,
      `SELECT time_ms / ${DAY_MS} * ${DAY_MS} AS dayMs, COUNT(*) AS checkpoints, SUM(bytes) AS checkpointsBytes
        FROM checkpoints WHERE chain = ?1 AND time_ms BETWEEN ?2 AND ?3 GROUP BY dayMs`,
      fromMs,
      toMs,
    )
    const ofDay = new Map(checkpoints.map((one) => [one.dayMs, one]))
    return segments.map((day) => ({ ...day, checkpoints: 0, checkpointsBytes: 0, ...ofDay.get(day.dayMs) }))
  }

  async gaps(after: number | null, limit: number): Promise<readonly ToldGap[] | null> {
    const { results } = await this.#db
      .prepare(`SELECT from_height AS "from", to_height AS "to", after_ms AS afterMs, before_ms AS beforeMs FROM gaps
        WHERE chain = ? AND from_height >= ? ORDER BY from_height LIMIT ?`)
      .bind(this.#chain, after ?? 0, limit + 1)
      .all<ToldGap>()
    if (after === null) return results.slice(0, limit)
    return results[0]?.from === after ? results.slice(1) : null
  }

  /** Answers of two questions that take the same values. */
  async #both<A, B>(one: string, other: string, ...values: number[]): Promise<[A[], B[]]> {
    const statements = [one, other].map((sql) => this.#db.prepare(sql).bind(this.#chain, ...values))
    const [first, second] = await this.#db.batch(statements)
    return [first!.results as A[], second!.results as B[]]
  }
}

/** Null where the Worker has no archive. */
export function exportsOf(
  env: Partial<Pick<Cloudflare.Env, 'ARCHIVE' | 'HISTORY'>>,
  chain: string,
  secret: string | undefined,
): StoredExports | null {
  return env.ARCHIVE && env.HISTORY ? new StoredExports(env.HISTORY, chain, secret) : null
}
