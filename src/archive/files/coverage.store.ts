// Heights that the files cover. Invariant: a query reads one row per level plus the gaps, however old the archive is.

import { batchOf } from '../../core/d1.store.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { CoverageNeed, FileCoverage, FileGap } from './files-read.ts'
import { LEVELS } from './levels.ts'

/** The first or the last file of each level. The overall first or last file is among these. */
const ends = (order: 'ASC' | 'DESC') =>
  LEVELS.map(
    (_, level) => `SELECT * FROM (SELECT first, first_ms, last, last_ms FROM files
      WHERE chain = ?1 AND level = ${level} AND state = 'live' ORDER BY first ${order} LIMIT 1)`,
  ).join(' UNION ALL ')
const FIRST = `SELECT first AS height, first_ms AS time FROM (${ends('ASC')}) ORDER BY first LIMIT 1`
const LAST = `SELECT last AS height, last_ms AS time FROM (${ends('DESC')}) ORDER BY first DESC LIMIT 1`

type CoverageStorage = { readonly chain: string; readonly db: Pick<D1Database, 'prepare' | 'batch'> }

/** Queries for the first and last block of the files, each as `height` and `time`. */
export function endsOfFiles({ chain, db }: CoverageStorage): D1PreparedStatement[] {
  return [FIRST, LAST].map((sql) => db.prepare(sql).bind(chain))
}

export async function coverageOf(storage: CoverageStorage, need: CoverageNeed): Promise<FileCoverage | null> {
  const { chain, db } = storage
  const lacking = need === 'fills' ? ' AND known IS NULL' : ''
  const stretches = (table: 'file_funded' | 'file_paid') =>
    db
      .prepare(`SELECT from_height AS "from", from_ms AS fromMs, to_height AS "to" FROM ${table} WHERE chain = ?
        ORDER BY from_height`)
      .bind(chain)
  type Paid = FileCoverage['funded'][number]
  type Rows = [HeightAndTime, HeightAndTime, FileGap, Paid, ...Paid[]]
  const [first, last, gaps, funded, paid] = await batchOf<Rows>(db, [
    ...endsOfFiles(storage),
    db
      .prepare(`SELECT from_height AS "from", to_height AS "to", known FROM file_gaps WHERE chain = ?${lacking}
        ORDER BY from_height`)
      .bind(chain),
    stretches('file_funded'),
    ...(need === 'payments' ? [stretches('file_paid')] : []),
  ])
  const [from] = first.results
  const [to] = last.results
  if (!from || !to) return null
  const between = gaps.results.filter((gap) => gap.to >= from.height && gap.from <= to.height)
  return { from, to, gaps: between, funded: funded.results, ...(paid && { paid: paid.results }) }
}
