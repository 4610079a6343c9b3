// Removes old archive data, using its rows in D1. Invariants: one turn removes at most 64 objects; the plan and the
// removal use the same rules.

import { oneRow } from '../../core/d1.store.ts'
import { checkpointKey, type LineKind, segmentKey } from './archive-keys.ts'
import type { ArchiveStorage } from './archive-writer.store.ts'
import {
  ARCHIVE_PRODUCTS,
  cutoffMs,
  type DueProduct,
  excessSegments,
  isCheckpointUnused,
  type RemovalTotals,
  type RetentionDays,
  type RetentionLimits,
  type RetentionPlan,
} from './retention.ts'

/** Data is trimmed to this share of the limit, so that not every run has to remove something. */
const TRIM_RATIO = 0.98
/** Maximum objects of each kind that one turn removes. */
const SEGMENTS_PER_TURN = 24
const CHECKPOINTS_PER_TURN = 16
const OBJECTS_PER_TURN = 2 * SEGMENTS_PER_TURN + CHECKPOINTS_PER_TURN

const SEGMENT = `first, last, first_ms AS firstMs, last_ms AS lastMs, events_bytes AS events, books_bytes AS books`
/** The newest segment is always kept, because archiving continues from it. */
const NOT_NEWEST = `first < (SELECT MAX(first) FROM segments WHERE chain = ?1)`

export interface ArchiveSums {
  readonly segments: number
  readonly bytes: number
}

interface RetentionClock {
  readonly nowMs: number
  /** Block time of the last archived block. */
  readonly newestMs: number
}

export class Retention {
  readonly #storage: ArchiveStorage

  constructor(storage: ArchiveStorage) {
    this.#storage = storage
  }

  /**
   * Removes expired data once and, if the size limit is exceeded, the oldest data. Returns the new totals; null if
   * nothing was removed.
   */
  async trim({ days, maxBytes }: RetentionLimits, sums: ArchiveSums, at: RetentionClock): Promise<ArchiveSums | null> {
    const freed = await this.removeExpired(days, at)
    const left = { segments: sums.segments - freed.segments, bytes: sums.bytes - freed.bytes }
    if (maxBytes !== null && left.bytes > maxBytes) return this.trimToBytes(maxBytes)
    if (freed.objects === 0) return null
    // After an interrupted removal, the freed size is unknown, so the remaining sizes are summed again.
    return freed.bytes > 0 ? left : this.#sums()
  }

  /** Removes expired data, up to one turn's limit. */
  async removeExpired(days: RetentionDays, { nowMs, newestMs }: RetentionClock): Promise<RemovalTotals> {
    const finished = await finishRemovals(this.#storage, OBJECTS_PER_TURN)
    if (finished > 0 || ARCHIVE_PRODUCTS.every((product) => days[product] === null))
      return { objects: finished, segments: 0, bytes: 0 }
    const from = (product: keyof RetentionDays) => cutoffMs(days[product], nowMs, newestMs) ?? Number.NEGATIVE_INFINITY
    const tooOld = async (kind: LineKind) =>
      (await this.#oldest(kind)).filter(({ lastMs }) => lastMs < from(kind)).slice(0, SEGMENTS_PER_TURN)
    const events = await tooOld('events')
    const books = await tooOld('books')
    const first = await this.#firstBooks(books.at(-1)?.first ?? -1)
    const isDue = ({ height, time }: CheckpointRow) => time < from('checkpoints') || isCheckpointUnused(height, first)
    const checkpoints = (await this.#oldestCheckpoints()).filter(isDue)
    return remove(this.#storage, { events, books, checkpoints })
  }

  /** Removes the oldest data until the size is below a limit, up to one turn's maximum. Returns the new totals. */
  async trimToBytes(maxBytes: number): Promise<ArchiveSums> {
    const { bytes } = await this.#sums()
    const { results } = await this.#storage.db
      .prepare(`SELECT ${SEGMENT} FROM segments WHERE chain = ?1 AND ${NOT_NEWEST} ORDER BY first LIMIT ?2`)
      .bind(this.#storage.chain, SEGMENTS_PER_TURN)
      .all<SegmentRow>()
    const oldest = results.map((row) => ({ ...row, bytes: row.events + row.books }))
    const due = excessSegments(oldest, bytes, maxBytes * TRIM_RATIO)
    const last = due.at(-1)
    const first = last ? await this.#firstBooks(last.first) : 0
    const checkpoints = (await this.#oldestCheckpoints()).filter(({ height }) => isCheckpointUnused(height, first))
    const having = (kind: LineKind) => due.filter((row) => row[kind] > 0)
    await remove(this.#storage, { events: having('events'), books: having('books'), checkpoints })
    return this.#sums()
  }

  /** Lists everything that will be removed because of its age. */
  async plan(kept: RetentionLimits, { nowMs, newestMs }: RetentionClock): Promise<RetentionPlan> {
    const { days } = kept
    const from = (product: keyof RetentionDays) => cutoffMs(days[product], nowMs, newestMs) ?? Number.MIN_SAFE_INTEGER
    const ofKind = (kind: LineKind) =>
      this.#expired(
        `first, last, first_ms AS firstMs, last_ms AS lastMs, ${kind}_bytes AS bytes FROM segments
          WHERE chain = ?1 AND ${NOT_NEWEST} AND ${kind}_bytes > 0 AND last_ms < ?2`,
        [from(kind)],
      )
    const ofCheckpoints = this.#expired(
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

  #expired(rows: string, values: readonly number[]): Promise<Omit<DueProduct, 'product'>> {
    const select = `SELECT COUNT(*) AS objects, COALESCE(SUM(bytes), 0) AS bytes, MIN(first) AS first, MAX(last) AS last,
      MIN(firstMs) AS firstMs, MAX(lastMs) AS lastMs FROM (SELECT ${rows})`
    return oneRow(this.#storage.db.prepare(select).bind(this.#storage.chain, ...values))
  }

  async #oldest(kind: LineKind): Promise<readonly SegmentRow[]> {
    const { results } = await this.#storage.db
      .prepare(`SELECT ${SEGMENT} FROM segments INDEXED BY segments_with_${kind}
        WHERE chain = ?1 AND ${kind}_bytes > 0 AND ${NOT_NEWEST} ORDER BY first LIMIT ?2`)
      .bind(this.#storage.chain, SEGMENTS_PER_TURN)
      .all<SegmentRow>()
    return results
  }

  /** The first segment with books above a height; 0 if there is none. */
  async #firstBooks(behind: number): Promise<number> {
    const found = await this.#storage.db
      .prepare(`SELECT first FROM segments INDEXED BY segments_with_books
        WHERE chain = ? AND books_bytes > 0 AND first > ? ORDER BY first LIMIT 1`)
      .bind(this.#storage.chain, behind)
      .first<{ first: number }>()
    return found?.first ?? 0
  }

  async #oldestCheckpoints(): Promise<readonly CheckpointRow[]> {
    const { results } = await this.#storage.db
      .prepare(`SELECT height, time_ms AS time, bytes FROM checkpoints WHERE chain = ?1
        AND height < (SELECT MAX(height) FROM checkpoints WHERE chain = ?1) ORDER BY height LIMIT ?2`)
      .bind(this.#storage.chain, CHECKPOINTS_PER_TURN)
      .all<CheckpointRow>()
    return results
  }

  #sums(): Promise<ArchiveSums> {
    const select = `SELECT COUNT(*) AS segments, COALESCE(SUM(events_bytes + books_bytes), 0)
      + (SELECT COALESCE(SUM(bytes), 0) FROM checkpoints WHERE chain = ?1) AS bytes FROM segments WHERE chain = ?1`
    return oneRow(this.#storage.db.prepare(select).bind(this.#storage.chain))
  }
}

// Removal of archive objects. Invariant: the batch that changes the rows also records the keys to delete. An
// interrupted removal therefore leaves no row whose object is missing, and no object that is never deleted.

/** A segment with its bytes by kind; 0 if that kind is already removed. */
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

interface Removal {
  readonly events: readonly SegmentRow[]
  readonly books: readonly SegmentRow[]
  readonly checkpoints: readonly CheckpointRow[]
}

/** Finishes interrupted removals; returns the number of removed objects. */
async function finishRemovals(storage: ArchiveStorage, max: number): Promise<number> {
  const { results } = await storage.db
    .prepare(`SELECT key FROM removals WHERE chain = ? ORDER BY key LIMIT ?`)
    .bind(storage.chain, max)
    .all<{ key: string }>()
  await drop(
    storage,
    results.map(({ key }) => key),
  )
  return results.length
}

async function remove(storage: ArchiveStorage, { events, books, checkpoints }: Removal): Promise<RemovalTotals> {
  const { chain, db } = storage
  const keys = [
    ...events.map((row) => segmentKey(chain, row, 'events')),
    ...books.map((row) => segmentKey(chain, row, 'books')),
    ...checkpoints.map(({ height }) => checkpointKey(chain, height)),
  ]
  if (keys.length === 0) return { objects: 0, segments: 0, bytes: 0 }
  const firsts = (rows: readonly SegmentRow[]) => rows.map(({ first }) => first)
  const [, , , gone] = await db.batch([
    forValues(storage, `INSERT OR IGNORE INTO removals (chain, key) SELECT ?1, value FROM json_each(?2)`, keys),
    forValues(storage, clearBytesSql('events'), firsts(events)),
    forValues(storage, clearBytesSql('books'), firsts(books)),
    forValues(
      storage,
      `DELETE FROM segments WHERE chain = ?1 AND first IN (SELECT value FROM json_each(?2))
        AND events_bytes = 0 AND books_bytes = 0`,
      firsts([...events, ...books]),
    ),
    forValues(
      storage,
      `DELETE FROM checkpoints WHERE chain = ?1 AND height IN (SELECT value FROM json_each(?2))`,
      checkpoints.map(({ height }) => height),
    ),
    ...REPAIRS_BELOW.map((sql) => db.prepare(sql).bind(chain)),
  ])
  await drop(storage, keys)
  const bytes = [...events.map((row) => row.events), ...books.map((row) => row.books)]
  const all = [...bytes, ...checkpoints.map((row) => row.bytes)].reduce((sum, one) => sum + one, 0)
  return { objects: keys.length, segments: gone?.meta.changes ?? 0, bytes: all }
}

/**
 * A pipeline, which may have been paused for any time, can deliver a repair as long as events of its heights exist. Nothing
 * reads attempts below the archive.
 */
const REPAIRS_BELOW = [
  `DELETE FROM repairs WHERE chain = ?1 AND to_height < (SELECT first FROM segments INDEXED BY segments_with_events
    WHERE chain = ?1 AND events_bytes > 0 ORDER BY first LIMIT 1)`,
  `DELETE FROM repair_attempts WHERE chain = ?1 AND to_height < (SELECT first FROM segments
    WHERE chain = ?1 ORDER BY first LIMIT 1)`,
]

async function drop(storage: ArchiveStorage, keys: string[]): Promise<void> {
  if (keys.length === 0) return
  await storage.bucket.delete(keys)
  await forValues(
    storage,
    `DELETE FROM removals WHERE chain = ?1 AND key IN (SELECT value FROM json_each(?2))`,
    keys,
  ).run()
}

function forValues(
  { chain, db }: ArchiveStorage,
  sql: string,
  values: readonly (string | number)[],
): D1PreparedStatement {
  return db.prepare(sql).bind(chain, JSON.stringify(values))
}

const clearBytesSql = (kind: LineKind): string =>
  `UPDATE segments SET ${kind}_bytes = 0, ${kind}_sha256 = '' WHERE chain = ?1 AND first IN (SELECT value FROM json_each(?2))`
