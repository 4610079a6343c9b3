// Rows for heights that no file has, or of which files have only the fills. Invariants: two adjacent live files touch
// or have one gap row between them; a gap without any data has two times between which its blocks lie.

import { batchOf } from '../../core/d1.store.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import type { KnownEvents } from '../archive/backfill-lines.ts'
import type { TimeSpan } from '../candles.ts'
import type { FileGap } from './files-read.ts'
import { type FileSpan, LEVELS } from './levels.ts'

const nearest = (where: string, order: 'ASC' | 'DESC') => {
  const ofLevels = LEVELS.map(
    (_, level) => `SELECT * FROM (SELECT first, last, first_ms AS firstMs, last_ms AS lastMs FROM files
      WHERE chain = ?1 AND level = ${level} AND state = 'live' AND first ${where} ?2 ORDER BY first ${order} LIMIT 1)`,
  )
  return `SELECT * FROM (${ofLevels.join(' UNION ALL ')}) ORDER BY first ${order} LIMIT 1`
}
const BELOW = nearest('<=', 'DESC')
const ABOVE = nearest('>', 'ASC')
const NO_HEIGHT = Number.MAX_SAFE_INTEGER
const lower = (what: 'last' | 'lastMs') => `COALESCE((SELECT ${what} FROM (${nearest('<', 'DESC')})), -1)`
/**
 * SQL for the last height of the file below (-1 if there is none) and the first height of the file above (a maximum if
 * there is none).
 */
const LOWER = lower('last')
const UPPER = `COALESCE((SELECT first FROM (${ABOVE})), ${NO_HEIGHT})`
const PUT = `INSERT OR REPLACE INTO file_gaps (chain, from_height, to_height, known, after_ms, before_ms)`
/** Placeholder times of partial gaps, whose times are never queried. */
const ANY_TIME = `0, ${Number.MAX_SAFE_INTEGER}`

/** A gap. All its blocks are within these times, Unix ms, inclusive. */
interface TimedGap extends FileGap {
  readonly afterMs: number
  readonly beforeMs: number
}

/** The last live file that starts at or below a height, and the first file above it. */
export async function filesAround({ chain, db }: ArchiveStorage, height: number) {
  const statements = [BELOW, ABOVE].map((sql) => db.prepare(sql).bind(chain, height))
  const [below, above] = await batchOf<[FileSpan, FileSpan]>(db, statements)
  return { below: below.results[0] ?? null, above: above.results[0] ?? null }
}

/**
 * Periods in which a file may lack trades: before its first block, after its last, and at missing heights. `nextMs`:
 * time of the block after the file, if no file has that block yet.
 */
export async function holesOf(
  { chain, db }: ArchiveStorage,
  { first, last, firstMs, lastMs }: FileSpan,
  nextMs: number | null,
): Promise<readonly TimeSpan[]> {
  const lost = `SELECT after_ms AS fromMs, before_ms AS toMs FROM file_gaps WHERE chain = ?1 AND known IS NULL
    AND from_height <= ?3 + 1 AND to_height >= ?2 - 1`
  const [before, behind, gaps] = await batchOf<[FileSpan, FileSpan, TimeSpan]>(db, [
    db.prepare(BELOW).bind(chain, first - 1),
    db.prepare(BELOW).bind(chain, last + 1),
    db.prepare(lost).bind(chain, first, last),
  ])
  const [below] = before.results
  const [above] = behind.results
  const fromMs = below?.last === first - 1 ? below.lastMs : firstMs
  const toMs = nextMs ?? (above?.first === last + 1 ? above.firstMs : lastMs)
  return [
    { fromMs: Number.NEGATIVE_INFINITY, toMs: fromMs },
    ...gaps.results,
    { fromMs: toMs, toMs: Number.POSITIVE_INFINITY },
  ]
}

/** Gap rows to change for a new file. They depend on the neighbors that exist when the file is written. */
export function gapsAround(
  storage: ArchiveStorage,
  { first, last, firstMs, lastMs }: FileSpan,
  known: KnownEvents | null,
): D1PreparedStatement[] {
  const { chain, db } = storage
  const changes = [
    db
      .prepare(`DELETE FROM file_gaps WHERE chain = ?1 AND from_height > ${LOWER} AND to_height < ${UPPER}`)
      .bind(chain, first),
    db
      .prepare(
        `${PUT} SELECT ?1, ${LOWER} + 1, ?2 - 1, NULL, ${lower('lastMs')}, ?3 WHERE ${LOWER} BETWEEN 0 AND ?2 - 2`,
      )
      .bind(chain, first, firstMs),
    db
      .prepare(`${PUT} SELECT ?1, MAX(?3, ${LOWER}) + 1, ${UPPER} - 1, NULL, MAX(?4, ${lower('lastMs')}),
        (SELECT firstMs FROM (${ABOVE})) WHERE ${UPPER} - 1 BETWEEN MAX(?3, ${LOWER}) + 1 AND ${NO_HEIGHT - 2}`)
      .bind(chain, first, last, lastMs),
  ]
  if (known === null)
    return [...changes, gapRow(storage, { from: first, to: last, known, afterMs: firstMs, beforeMs: lastMs })]
  return known === 'fills' ? [...changes, ...partialGapRows(storage, first, last)] : changes
}

/** Merges adjacent partial gaps into one row. One row per minute would be half a million rows a year. */
function partialGapRows({ chain, db }: ArchiveStorage, first: number, last: number): D1PreparedStatement[] {
  const below = `SELECT from_height FROM (SELECT * FROM file_gaps WHERE chain = ?1 AND from_height < ?2
    ORDER BY from_height DESC LIMIT 1) WHERE known = 'fills' AND to_height = ?2 - 1`
  const above = `SELECT to_height FROM file_gaps WHERE chain = ?1 AND from_height = ?3 + 1 AND known = 'fills'`
  return [
    db
      .prepare(`${PUT} SELECT ?1, COALESCE((${below}), ?2), COALESCE((${above}), ?3), 'fills', ${ANY_TIME}`)
      .bind(chain, first, last),
    db.prepare(`DELETE FROM file_gaps WHERE chain = ? AND from_height = ? AND known = 'fills'`).bind(chain, last + 1),
  ]
}

/** Gap rows to change for a removed file. */
export async function replaceFileWithGap(
  storage: ArchiveStorage,
  { first, last, firstMs, lastMs }: FileSpan,
): Promise<D1PreparedStatement[]> {
  const { chain, db } = storage
  const { results } = await db
    .prepare(`SELECT from_height AS "from", to_height AS "to", known, after_ms AS afterMs, before_ms AS beforeMs FROM file_gaps
      WHERE chain = ? AND from_height <= ? AND to_height >= ?`)
    .bind(chain, last, first)
    .all<TimedGap>()
  const left = results.flatMap((gap): TimedGap[] => [
    ...(gap.from < first ? [{ ...gap, to: first - 1 }] : []),
    ...(gap.to > last ? [{ ...gap, from: last + 1 }] : []),
  ])
  const gone = db.prepare(`DELETE FROM file_gaps WHERE chain = ? AND from_height <= ? AND to_height >= ?`)
  const gaps = [...left, { from: first, to: last, known: null, afterMs: firstMs, beforeMs: lastMs }]
  return [gone.bind(chain, last, first), ...gaps.map((gap) => gapRow(storage, gap))]
}

function gapRow({ chain, db }: ArchiveStorage, gap: TimedGap): D1PreparedStatement {
  const { from, to, known = null, afterMs, beforeMs } = gap
  return db.prepare(`${PUT} VALUES (?, ?, ?, ?, ?, ?)`).bind(chain, from, to, known, afterMs, beforeMs)
}
