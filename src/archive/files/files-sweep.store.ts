// Removes files that have been merged into a higher level. If the archive is bounded, it also removes files of heights
// that the archive no longer keeps. Invariant: objects are removed before rows, so that an interrupted sweep is
// repeated and leaves no object without a row.

import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import { sweepUnfiled, unfiledRow } from '../archive/unfiled.store.ts'
import { replaceFileWithGap } from './file-gaps.store.ts'
import { objectKey, tableKey } from './file-keys.ts'
import { sweepFunding } from './funding.store.ts'
import { bucketsOf, type FileSpan, isBucketLevel, KEY_TABLES, type Level } from './levels.ts'
import { sweepPositions } from './position-days.store.ts'
import type { TableName } from './table.ts'

/** A reader that looked up an object has this much time to read it. */
const GRACE_MS = 600_000
/** A link to a table is valid for an hour, so its file is kept for another hour. */
const LINK_GRACE_MS = 3_600_000 + GRACE_MS
/**
 * Maximum files per turn, and maximum objects per call. A turn removes only one file if that file has a row per key.
 */
const FILES_PER_TURN = 16
const KEYS_PER_DELETE = 1_000
/** An archive of a year has 8,760 hours. */
const TABLES_PER_TURN = 200

type RemovedFile = Omit<FileSpan, 'lastMs'> & { readonly level: Level; readonly objects: number }
type RemovedTable = Omit<FileSpan, 'lastMs'> & {
  readonly level: Level
  readonly number: number
  readonly name: TableName
}

/** `isBounded`: files are removed when the archive removes their heights. */
export async function sweepFiles(storage: ArchiveStorage, nowMs: number, isBounded: boolean): Promise<void> {
  const { chain, db } = storage
  await sweepUnfiled(storage, nowMs)
  if (isBounded) {
    await db.prepare(EXPIRE_FILES).bind(nowMs, chain).run()
    await sweepPositions(storage)
  }
  const { results: gone } = await db
    .prepare(`SELECT level, first, last, first_ms AS firstMs, objects FROM files
      WHERE chain = ? AND state = 'merged' AND merged_ms < CASE WHEN level = 0 AND NOT EXISTS
      (SELECT 1 FROM file_tables t WHERE t.chain = files.chain AND t.level = 0 AND t.first = files.first)
      THEN ? ELSE ? END ORDER BY level LIMIT ?`)
    .bind(chain, nowMs - GRACE_MS, nowMs - LINK_GRACE_MS, FILES_PER_TURN)
    .all<RemovedFile>()
  const files = gone.filter(({ level }, at) => at === 0 || isBucketLevel(level))
  const { results: tables } = await db
    .prepare(`${EXPIRED_TABLES}${isBounded ? ` OR last < ${ARCHIVE_START}` : ''})`)
    .bind(chain, JSON.stringify(files.map(({ level, first }) => [level, first])))
    .all<RemovedTable>()
  const keys = [
    ...files.flatMap((file) =>
      Array.from({ length: file.objects }, (_, number) => objectKey(chain, file.level, file, number)),
    ),
    ...tables.map((table) => tableKey(chain, table.level, table, table.number, table.name)),
  ]
  if (keys.length === 0) return
  await removeObjects(storage, keys)
  const rows = tables.map((table) => deleteTableRow(storage, table))
  const funding = isBounded ? sweepFunding(storage) : []
  await db.batch([...files.flatMap((file) => deleteFileRows(storage, file)), ...rows, ...funding])
}

async function removeObjects({ bucket }: ArchiveStorage, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += KEYS_PER_DELETE) await bucket.delete(keys.slice(at, at + KEYS_PER_DELETE))
}

function deleteTableRow(
  { chain, db }: ArchiveStorage,
  { level, first, number, name }: RemovedTable,
): D1PreparedStatement {
  return db
    .prepare(`DELETE FROM file_tables WHERE chain = ? AND level = ? AND first = ? AND number = ? AND name = ?`)
    .bind(chain, level, first, number, name)
}

function deleteFileRows({ chain, db }: ArchiveStorage, { level, first }: RemovedFile): D1PreparedStatement[] {
  const index = isBucketLevel(level)
    ? db
        .prepare(`DELETE FROM file_buckets WHERE chain = ? AND level = ? AND first = ?
          AND bucket IN (SELECT value FROM json_each(?))`)
        .bind(chain, level, first, JSON.stringify(bucketsOf(level)))
    : db.prepare(`DELETE FROM ${KEY_TABLES[level]} WHERE chain = ? AND first = ?`).bind(chain, first)
  const others = ['file_candles', 'file_objects', 'files'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE chain = ? AND level = ? AND first = ?`).bind(chain, level, first),
  )
  return [index, ...others]
}

const ARCHIVE_START = `(SELECT MIN(first) FROM segments WHERE chain = ?1)`
/** Files of heights that the archive no longer keeps, except files that are being merged. */
const EXPIRE_FILES = `UPDATE files SET state = 'merged', merged_ms = ?1 WHERE chain = ?2 AND state = 'live'
  AND last < (SELECT MIN(first) FROM segments WHERE chain = ?2) AND NOT EXISTS (SELECT 1 FROM files o WHERE o.chain = ?2
  AND o.state = 'open' AND o.level = files.level + 1 AND o.first <= files.first AND o.last >= files.last)`
/**
 * Tables of merged minutes and hours. Hour tables in chain order are kept, because these products have no day tables.
 */
const EXPIRED_TABLES = `SELECT level, first, last, first_ms AS firstMs, number, name FROM file_tables WHERE chain = ?1
  AND (level < 2 AND (level, first) IN (SELECT value->>0, value->>1 FROM json_each(?2))
  AND (level = 0 OR name NOT LIKE '%-by-time')`

/** Removes the oldest Parquet files of fills that end before this time. The index has only their starts. */
export async function sweepFillTables(storage: ArchiveStorage, beforeMs: number): Promise<void> {
  const { chain, db } = storage
  const { results: tables } = await db
    .prepare(`SELECT level, first, last, first_ms AS firstMs, number, name FROM file_tables WHERE chain = ?1
      AND name IN ('fills-by-time', 'fills-by-user') AND first_ms < ?2 AND last_ms < ?2 ORDER BY first_ms LIMIT ?3`)
    .bind(chain, beforeMs, TABLES_PER_TURN)
    .all<RemovedTable>()
  if (tables.length === 0) return
  await removeObjects(
    storage,
    tables.map((table) => tableKey(chain, table.level, table, table.number, table.name)),
  )
  await db.batch(tables.map((table) => deleteTableRow(storage, table)))
}

// Removes a damaged file, the files it was built from, and the unfinished file that is built from it. Invariant:
// objects are removed before rows, so that an interrupted removal is repeated. The heights become a gap and are written
// to files again from the archive.

/** SQL condition for the file, all files of lower levels within its heights, and the unfinished file built from it. */
const FILE_AND_RELATED = `((level <= ?2 AND first >= ?3 AND last <= ?4) OR (level, first) IN (SELECT level, first FROM files
  WHERE chain = ?1 AND level = ?2 + 1 AND state = 'open' AND first <= ?3 AND last >= ?4))`
const FILE_ONLY = `level = ?2 AND first = ?3 AND last = ?4`

export async function dropFile(storage: ArchiveStorage, level: Level, file: FileSpan, nowMs: number): Promise<void> {
  const rows = await removeFiles(storage, level, file, FILE_AND_RELATED)
  await storage.db.batch([
    ...rows,
    ...(await replaceFileWithGap(storage, file)),
    unfiledRow(storage, file.first, file.last, nowMs),
  ])
}

/** Removes an unfinished file. The files that it was built from are kept. */
export async function abandonFile(storage: ArchiveStorage, level: Level, file: FileSpan): Promise<void> {
  await storage.db.batch(await removeFiles(storage, level, file, FILE_ONLY))
}

/** Removes objects and returns the statements that remove their rows. */
async function removeFiles(
  storage: ArchiveStorage,
  level: Level,
  file: FileSpan,
  which: typeof FILE_AND_RELATED | typeof FILE_ONLY,
): Promise<D1PreparedStatement[]> {
  const { chain, db } = storage
  const found = async <Row>(columns: string, table: string) => {
    const query = db.prepare(`SELECT level, first, last, first_ms AS firstMs, ${columns} FROM ${table}
      WHERE chain = ?1 AND ${which}`)
    return (await query.bind(chain, level, file.first, file.last).all<Row>()).results
  }
  const files = await found<RemovedFile>('objects', 'files')
  const tables = await found<RemovedTable>('number, name', 'file_tables')
  await removeObjects(storage, [
    // The next object may already exist without a row.
    ...files.flatMap((one) =>
      Array.from({ length: one.objects + 1 }, (_, number) => objectKey(chain, one.level, one, number)),
    ),
    ...tables.map((table) => tableKey(chain, table.level, table, table.number, table.name)),
  ])
  return [
    ...files.flatMap((one) => deleteFileRows(storage, one)),
    ...tables.map((table) => deleteTableRow(storage, table)),
  ]
}
