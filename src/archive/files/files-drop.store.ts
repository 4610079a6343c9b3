// A file that is damaged goes, with what it was made of and what was being made of it. Law: objects go before rows, so that
// what ends amid is done again; the heights are a gap from then on, and are looked for in the archive.

import type { ArchivePlace } from '../archive/archive-writer.store.ts'
import { unfiledRow } from '../archive/unfiled.store.ts'
import { gapsInPlaceOf } from './file-gaps.store.ts'
import { objectKey, tableKey } from './file-keys.ts'
import { type Gone, type GoneTable, removeObjects, rowOfTable, rowsOfFile } from './files-sweep.store.ts'
import type { FileSpan, Level } from './levels.ts'

/** Of the same heights, it and what is below, of which tables may stand alone; and the one above that is not whole. */
const IT_AND_BESIDE = `((level <= ?2 AND first >= ?3 AND last <= ?4) OR (level, first) IN (SELECT level, first FROM files
  WHERE chain = ?1 AND level = ?2 + 1 AND state = 'open' AND first <= ?3 AND last >= ?4))`
const IT_ALONE = `level = ?2 AND first = ?3 AND last = ?4`

export async function dropFile(place: ArchivePlace, level: Level, file: FileSpan, nowMs: number): Promise<void> {
  const rows = await removed(place, level, file, IT_AND_BESIDE)
  await place.db.batch([
    ...rows,
    ...(await gapsInPlaceOf(place, file)),
    unfiledRow(place, file.first, file.last, nowMs),
  ])
}

/** One that is not whole goes: what it was being made of stands. */
export async function abandonFile(place: ArchivePlace, level: Level, file: FileSpan): Promise<void> {
  await place.db.batch(await removed(place, level, file, IT_ALONE))
}

/** Removes objects; answers what removes their rows. */
async function removed(
  place: ArchivePlace,
  level: Level,
  file: FileSpan,
  which: typeof IT_AND_BESIDE | typeof IT_ALONE,
): Promise<D1PreparedStatement[]> {
  const { chain, db } = place
  const found = async <Row>(columns: string, table: string) => {
    const asked = db.prepare(`SELECT level, first, last, first_ms AS firstMs, ${columns} FROM ${table}
      WHERE chain = ?1 AND ${which}`)
    return (await asked.bind(chain, level, file.first, file.last).all<Row>()).results
  }
  const files = await found<Gone>('objects', 'files')
  const tables = await found<GoneTable>('number, name', 'file_tables')
  await removeObjects(place, [
    // The next may be there without its row.
    ...files.flatMap((one) =>
      Array.from({ length: one.objects + 1 }, (_, number) => objectKey(chain, one.level, one, number)),
    ),
    ...tables.map((table) => tableKey(chain, table.level, table, table.number, table.name)),
  ])
  return [...files.flatMap((one) => rowsOfFile(place, one)), ...tables.map((table) => rowOfTable(place, table))]
}
