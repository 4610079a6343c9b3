// A file that is damaged goes, with what it was made of and what was being made of it. Law: objects go before rows, so that
// what ends amid is done again; the heights are a gap from then on, and are looked for in the archive.

import type { ArchivePlace } from '../archive/archive-writer.store.ts'
import { unfiledRow } from '../archive/unfiled.store.ts'
import { gapsInPlaceOf } from './file-gaps.store.ts'
import { objectKey, tableKey } from './file-keys.ts'
import { type Gone, type GoneTable, removeObjects, rowsOfFile } from './files-sweep.store.ts'
import type { FileSpan, Level } from './levels.ts'

/** Files of the same heights below, which have been merged, and the one above that is not whole. */
const OF_IT = `SELECT level, first FROM files WHERE chain = ?1 AND ((level <= ?2 AND first >= ?3 AND last <= ?4)
  OR (level = ?2 + 1 AND state = 'open' AND first <= ?3 AND last >= ?4))`

export async function dropFile(place: ArchivePlace, level: Level, file: FileSpan, nowMs: number): Promise<void> {
  const { chain, db } = place
  const values = [chain, level, file.first, file.last]
  const { results: files } = await db
    .prepare(`SELECT level, first, last, first_ms AS firstMs, objects FROM files
      WHERE chain = ?1 AND (level, first) IN (${OF_IT})`)
    .bind(...values)
    .all<Gone>()
  const { results: tables } = await db
    .prepare(`SELECT level, first, last, first_ms AS firstMs, number, name FROM file_tables
      WHERE chain = ?1 AND (level, first) IN (${OF_IT})`)
    .bind(...values)
    .all<GoneTable>()
  await removeObjects(place, [
    // The next may be there without its row.
    ...files.flatMap((one) =>
      Array.from({ length: one.objects + 1 }, (_, number) => objectKey(chain, one.level, one, number)),
    ),
    ...tables.map((table) => tableKey(chain, table.level, table, table.number, table.name)),
  ])
  const ofTables = files.map((one) =>
    db.prepare(`DELETE FROM file_tables WHERE chain = ? AND level = ? AND first = ?`).bind(chain, one.level, one.first),
  )
  await db.batch([
    ...files.flatMap((one) => rowsOfFile(place, one)),
    ...ofTables,
    ...(await gapsInPlaceOf(place, file)),
    unfiledRow(place, file.first, file.last, nowMs),
  ])
}
