// What is removed of the archive, over its rows. Laws: one turn removes at most 64 objects; what would go and what goes are
// judged alike.

import { oneRow } from '../../core/d1.store.ts'
import { checkpointKey, type LineKind, segmentKey } from './archive-keys.ts'
import type { ArchivePlace } from './archive-writer.store.ts'
import {
  type DueProduct,
  type Freed,
  isCheckpointOverdue,
  KEPT_PRODUCTS,
  type Kept,
  type KeptDays,
  keptFromMs,
  overdueSegments,
  type RetentionPlan,
} from './retention.ts'

/** Of the bound: beyond it not every minute brings a removal. */
const TRIMMED = 0.98
/** Objects of one turn: of each kind of segments, and of checkpoints. */
const OF_KIND = 24
const OF_CHECKPOINTS = 16
const ALL = 2 * OF_KIND + OF_CHECKPOINTS

const SEGMENT = `first, last, first_ms AS firstMs, last_ms AS lastMs, events_bytes AS events, books_bytes AS books`
/** The newest segment stays: from its end the archive goes on. */
const NOT_NEWEST = `first < (SELECT MAX(first) FROM segments WHERE chain = ?1)`

export interface ArchiveSums {
  readonly segments: number
  readonly bytes: number
}

interface Newest {
  readonly nowMs: number
  /** Time of the last block that is archived. */
  readonly newestMs: number
}

export class Retention {
  readonly #place: ArchivePlace

  constructor(place: ArchivePlace) {
    this.#place = place
  }

  /** One turn by age, and where the bound is passed one by bytes; answers what is left, null where nothing went. */
  async trim({ days, mostBytes }: Kept, sums: ArchiveSums, at: Newest): Promise<ArchiveSums | null> {
    const freed = await this.turn(days, at)
    const left = { segments: sums.segments - freed.segments, bytes: sums.bytes - freed.bytes }
    if (mostBytes !== null && left.bytes > mostBytes) return this.keepWithin(mostBytes)
    if (freed.objects === 0) return null
    // How much went before a removal broke off is known to nobody.
    return freed.bytes > 0 ? left : this.#sums()
  }

  /** Removes what is too old, as far as one turn goes. */
  async turn(days: KeptDays, { nowMs, newestMs }: Newest): Promise<Freed> {
    const finished = await endRemovals(this.#place, ALL)
    if (finished > 0 || KEPT_PRODUCTS.every((product) => days[product] === null))
      return { objects: finished, segments: 0, bytes: 0 }
    const from = (product: keyof KeptDays) => keptFromMs(days[product], nowMs, newestMs) ?? Number.NEGATIVE_INFINITY
    const tooOld = async (kind: LineKind) =>
      (await this.#oldest(kind)).filter(({ lastMs }) => lastMs < from(kind)).slice(0, OF_KIND)
    const events = await tooOld('events')
    const books = await tooOld('books')
    const first = await this.#firstBooks(books.at(-1)?.first ?? -1)
    const isDue = ({ height, time }: CheckpointRow) => time < from('checkpoints') || isCheckpointOverdue(height, first)
    const checkpoints = (await this.#oldestCheckpoints()).filter(isDue)
    return remove(this.#place, { events, books, checkpoints })
  }

  /** Removes the oldest beyond so many bytes, as far as one turn goes, and answers what is left. */
  async keepWithin(mostBytes: number): Promise<ArchiveSums> {
    const { bytes } = await this.#sums()
    const { results } = await this.#place.db
      .prepare(`SELECT ${SEGMENT} FROM segments WHERE chain = ?1 AND ${NOT_NEWEST} ORDER BY first LIMIT ?2`)
      .bind(this.#place.chain, OF_KIND)
      .all<SegmentRow>()
    const oldest = results.map((row) => ({ ...row, bytes: row.events + row.books }))
    const due = overdueSegments(oldest, bytes, mostBytes * TRIMMED)
    const last = due.at(-1)
    const first = last ? await this.#firstBooks(last.first) : 0
    const checkpoints = (await this.#oldestCheckpoints()).filter(({ height }) => isCheckpointOverdue(height, first))
    const having = (kind: LineKind) => due.filter((row) => row[kind] > 0)
    await remove(this.#place, { events: having('events'), books: having('books'), checkpoints })
    return this.#sums()
  }

  /** What turns would remove by age, all together. */
  async plan(kept: Kept, { nowMs, newestMs }: Newest): Promise<RetentionPlan> {
    const { days } = kept
    const from = (product: keyof KeptDays) => keptFromMs(days[product], nowMs, newestMs) ?? Number.MIN_SAFE_INTEGER
    const ofKind = (kind: LineKind) =>
      this.#due(
        `first, last, first_ms AS firstMs, last_ms AS lastMs, ${kind}_bytes AS bytes FROM segments
          WHERE chain = ?1 AND ${NOT_NEWEST} AND ${kind}_bytes > 0 AND last_ms < ?2`,
        [from(kind)],
      )
    const ofCheckpoints = this.#due(
      `height AS first, height AS last, time_ms AS firstMs, time_ms AS lastMs, bytes FROM checkpoints WHERE chain = ?1
        AND height < (SELECT MAX(height) FROM checkpoints WHERE chain = ?1) AND (time_ms < ?2 OR height + 1 <
          (SELECT MIN(first) FROM segments WHERE chain = ?1 AND books_bytes > 0 AND last_ms >= ?3))`,
      [from('checkpoints'), from('books')],
    )
    const [events, books, checkpoints] = await Promise.all([ofKind('events'), ofKind('books'), ofCheckpoints])
    const due = Object.entries({ events, books, checkpoints }) as [DueProduct['product'], Omit<DueProduct, 'product'>][]
    const { bytes } = await this.#sums()
    return { kept, bytes, due: due.map(([product, one]) => ({ product, ...one })) }
  }

  #due(rows: string, values: readonly number[]): Promise<Omit<DueProduct, 'product'>> {
    const select = `SELECT COUNT(*) AS objects, COALESCE(SUM(bytes), 0) AS bytes, MIN(first) AS first, MAX(last) AS last,
      MIN(firstMs) AS firstMs, MAX(lastMs) AS lastMs FROM (SELECT ${rows})`
    return oneRow(this.#place.db.prepare(select).bind(this.#place.chain, ...values))
  }

  async #oldest(kind: LineKind): Promise<readonly SegmentRow[]> {
    const { results } = await this.#place.db
      .prepare(`SELECT ${SEGMENT} FROM segments INDEXED BY segments_with_${kind}
        WHERE chain = ?1 AND ${kind}_bytes > 0 AND ${NOT_NEWEST} ORDER BY first LIMIT ?2`)
      .bind(this.#place.chain, OF_KIND)
      .all<SegmentRow>()
    return results
  }

  /** The first segment with books behind one; 0 where there is none. */
  async #firstBooks(behind: number): Promise<number> {
    const found = await this.#place.db
      .prepare(`SELECT first FROM segments INDEXED BY segments_with_books
        WHERE chain = ? AND books_bytes > 0 AND first > ? ORDER BY first LIMIT 1`)
      .bind(this.#place.chain, behind)
      .first<{ first: number }>()
    return found?.first ?? 0
  }

  async #oldestCheckpoints(): Promise<readonly CheckpointRow[]> {
    const { results } = await this.#place.db
      .prepare(`SELECT height, time_ms AS time, bytes FROM checkpoints WHERE chain = ?1
        AND height < (SELECT MAX(height) FROM checkpoints WHERE chain = ?1) ORDER BY height LIMIT ?2`)
      .bind(this.#place.chain, OF_CHECKPOINTS)
      .all<CheckpointRow>()
    return results
  }

  #sums(): Promise<ArchiveSums> {
    const select = `SELECT COUNT(*) AS segments, COALESCE(SUM(events_bytes + books_bytes), 0)
      + (SELECT COALESCE(SUM(bytes), 0) FROM checkpoints WHERE chain = ?1) AS bytes FROM segments WHERE chain = ?1`
    return oneRow(this.#place.db.prepare(select).bind(this.#place.chain))
  }
}

// How objects of the archive go. Invariant: rows go first and name what is about to go in the same step; so wherever a removal
// breaks off, no row is without its object, and no object is forgotten.

/** Of either kind the bytes; 0: removed before. */
interface SegmentRow {
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
  readonly events: number
  readonly books: number
}

interface CheckpointRow {
  readonly height: number
  readonly time: number
  readonly bytes: number
}

interface Removed {
  readonly events: readonly SegmentRow[]
  readonly books: readonly SegmentRow[]
  readonly checkpoints: readonly CheckpointRow[]
}

/** Ends what broke off, so much of it; answers how many objects that were. */
async function endRemovals(place: ArchivePlace, most: number): Promise<number> {
  const { results } = await place.db
    .prepare(`SELECT key FROM removals WHERE chain = ? ORDER BY key LIMIT ?`)
    .bind(place.chain, most)
    .all<{ key: string }>()
  await drop(
    place,
    results.map(({ key }) => key),
  )
  return results.length
}

async function remove(place: ArchivePlace, { events, books, checkpoints }: Removed): Promise<Freed> {
  const { chain, db } = place
  const keys = [
    ...events.map((row) => segmentKey(chain, row, 'events')),
    ...books.map((row) => segmentKey(chain, row, 'books')),
    ...checkpoints.map(({ height }) => checkpointKey(chain, height)),
  ]
  if (keys.length === 0) return { objects: 0, segments: 0, bytes: 0 }
  const firsts = (rows: readonly SegmentRow[]) => rows.map(({ first }) => first)
  const [, , , gone] = await db.batch([
    each(place, `INSERT OR IGNORE INTO removals (chain, key) SELECT ?1, value FROM json_each(?2)`, keys),
    each(place, emptied('events'), firsts(events)),
    each(place, emptied('books'), firsts(books)),
    each(
      place,
      `DELETE FROM segments WHERE chain = ?1 AND first IN (SELECT value FROM json_each(?2))
        AND events_bytes = 0 AND books_bytes = 0`,
      firsts([...events, ...books]),
    ),
    each(
      place,
      `DELETE FROM checkpoints WHERE chain = ?1 AND height IN (SELECT value FROM json_each(?2))`,
      checkpoints.map(({ height }) => height),
    ),
  ])
  await drop(place, keys)
  const bytes = [...events.map((row) => row.events), ...books.map((row) => row.books)]
  const all = [...bytes, ...checkpoints.map((row) => row.bytes)].reduce((sum, one) => sum + one, 0)
  return { objects: keys.length, segments: gone?.meta.changes ?? 0, bytes: all }
}

async function drop(place: ArchivePlace, keys: string[]): Promise<void> {
  if (keys.length === 0) return
  await place.bucket.delete(keys)
  await each(place, `DELETE FROM removals WHERE chain = ?1 AND key IN (SELECT value FROM json_each(?2))`, keys).run()
}

function each({ chain, db }: ArchivePlace, sql: string, values: readonly (string | number)[]): D1PreparedStatement {
  return db.prepare(sql).bind(chain, JSON.stringify(values))
}

const emptied = (kind: LineKind): string =>
  `UPDATE segments SET ${kind}_bytes = 0, ${kind}_sha256 = '' WHERE chain = ?1 AND first IN (SELECT value FROM json_each(?2))`
