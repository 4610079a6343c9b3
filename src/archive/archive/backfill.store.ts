// Writes segments of missing heights, and keeps the record of repairs. Invariants: objects are written before rows; all
// rows of one request body are written in one batch. The batch also has the gaps around them, the repair, and the
// request to build files. So a reader sees the heights either missing or complete.

import { batchOf } from '../../core/d1.store.ts'
import type { ArchivedGap } from '../../protocol/feed/archive-api.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { SkippedHeights } from '../../protocol/feed/status-shape.ts'
import { checkpointKey, segmentKey } from './archive-keys.ts'
import type { ArchiveStorage } from './archive-writer.store.ts'
import { checkpointRow, putBooks, putEvents } from './archive-writer.store.ts'
import type {
  ArchiveGap,
  AttemptReport,
  BackfillState,
  CheckpointFile,
  Repair,
  RepairAttempt,
  UploadedCheckpoint,
  UploadResult,
} from './backfill-api.ts'
import { type BackfillOrigin, type BackfillSegment, gapsBetween, type SegmentSpan } from './backfill-queue.ts'
import { uploadedCheckpoint } from './checkpoint-object.store.ts'
import { unfiledRow } from './unfiled.store.ts'

/** Maximum gaps per page. */
const GAPS_PER_PAGE = 1_000
/** Maximum sources per gap that `/status` names. */
const MAX_SOURCES = 20

const SPAN_COLUMNS = `first, last, first_ms AS firstMs, last_ms AS lastMs, epoch`
const GAP_COLUMNS = `from_height AS "from", to_height AS "to", after_ms AS afterMs, before_ms AS beforeMs,
  NULLIF(recorded_ms, 0) AS recordedMs, beyond_ms AS beyondMs`

/** First height of the first or the last segment. */
const edge = (order: 'ASC' | 'DESC') =>
  `COALESCE((SELECT first FROM segments WHERE chain = ?1 ORDER BY first ${order} LIMIT 1), 0)`

/**
 * NULL, which the column rejects, if a segment has some of the heights already. An earlier write may finish after its
 * caller gave up, and then the neighbors were read too early.
 */
const UNUSED_FIRST = `CASE WHEN COALESCE((SELECT last FROM segments WHERE chain = ?1 AND first <= ?3
  ORDER BY first DESC LIMIT 1), -1) < ?2 THEN ?2 END`

/** The gap around the heights ?2 to ?3. Gaps do not overlap, so it is the last one that starts below. */
const gapAround = (
  columns: string,
) => `SELECT ${columns} FROM (SELECT * FROM gaps WHERE chain = ?1 AND from_height <= ?2
  ORDER BY from_height DESC LIMIT 1) WHERE to_height >= ?3`

/** Rows of a table that overlap the ranges of ?2, with the overlap. The rows of a table do not overlap each other. */
const overlapping = (table: 'segments' | 'gaps', first: string, last: string) => `
  (SELECT value ->> 'from' AS low, value ->> 'to' AS high FROM json_each(?2)) CROSS JOIN ${table} ON chain = ?1
    AND ${first} >= COALESCE((SELECT MAX(${first}) FROM ${table} WHERE chain = ?1 AND ${first} <= low), low)
    AND ${first} <= high AND ${last} >= low`
const overlap = (first: string, last: string) => `MIN(${last}, high) - MAX(${first}, low) + 1`

type AttemptRow = RepairAttempt & Pick<Repair, 'from' | 'to'>

export class BackfillStore {
  readonly #storage: ArchiveStorage

  constructor(storage: ArchiveStorage) {
    this.#storage = storage
  }

  /** Lists the gaps above height `after`. */
  async state(after: number): Promise<BackfillState> {
    const { chain, db } = this.#storage
    const [first, last, found] = await batchOf<[HeightAndTime, HeightAndTime, ArchiveGap]>(db, [
      db
        .prepare(`SELECT first AS height, first_ms AS time FROM segments WHERE chain = ? ORDER BY first LIMIT 1`)
        .bind(chain),
      db
        .prepare(`SELECT last + 1 AS height, last_ms AS time FROM segments WHERE chain = ? ORDER BY first DESC LIMIT 1`)
        .bind(chain),
      db
        .prepare(`SELECT ${GAP_COLUMNS} FROM gaps WHERE chain = ?1 AND from_height BETWEEN MAX(?2, ${edge('ASC')}) AND ${edge('DESC')}
          ORDER BY from_height LIMIT ?3`)
        .bind(chain, after, GAPS_PER_PAGE),
    ])
    const gaps = found.results
    const attempts = await this.#attempts(gaps)
    const end = gaps[GAPS_PER_PAGE - 1]
    return {
      from: first.results[0] ?? null,
      before: last.results[0] ?? null,
      gaps: gaps.map((gap) => {
        const own = attempts.filter(({ from, to }) => from <= gap.from && to >= gap.to)
        // An attempt at a larger gap counts for what is left of it.
        const latest = new Map(own.map(({ from: _, to: __, ...attempt }) => [attempt.source, attempt]))
        return { ...gap, attempts: [...latest.values()] }
      }),
      next: end ? end.to + 1 : null,
    }
  }

  async #attempts(gaps: readonly ArchiveGap[]): Promise<readonly AttemptRow[]> {
    const [first] = gaps
    const last = gaps.at(-1)
    if (!first || !last) return []
    const { results } = await this.#storage.db
      .prepare(`SELECT from_height AS "from", to_height AS "to", source, outcome, message, tries, at_ms AS atMs
        FROM repair_attempts WHERE chain = ? AND from_height <= ? AND to_height >= ? ORDER BY at_ms`)
      .bind(this.#storage.chain, last.to, first.from)
      .all<AttemptRow>()
    return results
  }

  /**
   * Records that a source could not fill a gap. Failures and other outcomes are counted apart. Returns false if the heights are not exactly a gap, for example because
   * they were repaired meanwhile.
   */
  async recordAttempt({ from, to, source, outcome, message, atMs, isBeyond }: AttemptReport): Promise<boolean> {
    const { chain, db } = this.#storage
    const isGap = `EXISTS (SELECT 1 FROM gaps WHERE chain = ?1 AND from_height = ?2 AND to_height = ?3)`
    const put = db
      .prepare(`INSERT INTO repair_attempts (chain, from_height, to_height, source, tries, at_ms, outcome, message)
        SELECT ?1, ?2, ?3, ?4, COALESCE((SELECT MAX(tries) FROM repair_attempts WHERE chain = ?1 AND source = ?4
          AND from_height <= ?2 AND to_height >= ?3 AND (outcome = 'failed') = (?6 = 'failed')), 0) + 1, ?5, ?6, ?7 WHERE ${isGap}
        ON CONFLICT DO UPDATE SET to_height = ?3, tries = excluded.tries, at_ms = ?5, outcome = ?6, message = ?7`)
      .bind(chain, from, to, source, atMs, outcome, message)
    const mark = db
      .prepare(`UPDATE gaps SET beyond_ms = ?4 WHERE chain = ?1 AND from_height = ?2 AND to_height = ?3`)
      .bind(chain, from, to, isBeyond ? atMs : null)
    const [stored] = await db.batch([put, mark])
    return (stored?.meta.changes ?? 0) > 0
  }

  /** The state of gaps in the archive. Gaps below its first segment are not known. */
  async gapsOf(ranges: readonly SkippedHeights[]): Promise<readonly ArchivedGap[]> {
    if (ranges.length === 0) return []
    const { chain, db } = this.#storage
    const bind = (sql: string) => db.prepare(sql).bind(chain, JSON.stringify(ranges))
    type Row = { readonly low: number; readonly high: number }
    const [repairs, gaps] = await batchOf<
      [Row & { repaired: number; sources: string }, Row & { missing: number; beyond: number }]
    >(db, [
      bind(`SELECT low, high, SUM(${overlap('first', 'last')}) AS repaired, json_group_array(DISTINCT source) AS sources
        FROM ${overlapping('segments', 'first', 'last')} WHERE backfilled IS NOT NULL AND events_bytes > 0
        GROUP BY low, high`),
      bind(`SELECT low, high, SUM(heights) AS missing, SUM(IIF(beyond_ms IS NULL, 0, heights)) AS beyond FROM (
        SELECT low, high, beyond_ms, ${overlap('from_height', 'to_height')} AS heights
        FROM ${overlapping('gaps', 'from_height', 'to_height')} WHERE from_height > ${edge('ASC')}) GROUP BY low, high`),
    ])
    return ranges.map(({ from, to }) => {
      const isSame = ({ low, high }: Row) => low === from && high === to
      const { repaired = 0, sources = '[]' } = repairs.results.find(isSame) ?? {}
      const { missing = 0, beyond = 0 } = gaps.results.find(isSame) ?? {}
      const names = (JSON.parse(sources) as (string | null)[]).filter((source) => source !== null)
      return { from, to, repaired, missing, beyond, sources: names.sort().slice(0, MAX_SOURCES) }
    })
  }

  /** Segments that overlap these heights, and the segments next to them. */
  async neighbors(first: number, last: number): Promise<SegmentSpan[]> {
    const { chain, db } = this.#storage
    const { results } = await db
      .prepare(`SELECT ${SPAN_COLUMNS} FROM segments WHERE chain = ?1
        AND first >= COALESCE((SELECT first FROM segments WHERE chain = ?1 AND first < ?2 ORDER BY first DESC LIMIT 1), 0)
        AND first <= COALESCE((SELECT first FROM segments WHERE chain = ?1 AND first > ?3 ORDER BY first LIMIT 1), ?3)
        ORDER BY first`)
      .bind(chain, first, last)
      .all<SegmentSpan>()
    return results
  }

  /**
   * Stores the object of a checkpoint. It counts once blocks up to its height are written with it. `archived`: its
   * height is archived already, and a checkpoint never changes. `altered`: the body has another length or hash.
   */
  async uploadCheckpoint(
    { height, bytes, sha256 }: CheckpointFile,
    body: ReadableStream<Uint8Array>,
  ): Promise<UploadResult> {
    const { chain, bucket } = this.#storage
    const around = await this.neighbors(height, height)
    if (around.some(({ first, last }) => first <= height && height <= last)) return 'archived'
    const { readable, writable } = new FixedLengthStream(bytes)
    try {
      // R2 rejects a body that does not match its hash.
      const put = bucket.put(checkpointKey(chain, height), readable, { sha256 })
      await Promise.all([put, body.pipeTo(writable)])
      return 'stored'
    } catch (error) {
      if (isAltered(error)) return 'altered'
      throw error
    }
  }

  uploaded(height: number, sha256: string): Promise<UploadedCheckpoint | null> {
    const { chain, bucket } = this.#storage
    return uploadedCheckpoint(bucket, checkpointKey(chain, height), sha256)
  }

  /**
   * Writes segments, and the gaps between them and their neighbors in `around`. Returns the bytes written. After `signal`,
   * no further write begins, because the next import may write other bytes under the same names.
   */
  async write(
    segments: readonly BackfillSegment[],
    around: readonly SegmentSpan[],
    { source, nowMs, checkpoint = null, signal }: WriteRequest,
  ): Promise<number> {
    const { chain, db } = this.#storage
    const [begin] = segments
    const end = segments.at(-1)
    if (!begin || !end) return 0
    let sum = checkpoint?.bytes ?? 0
    const rows = checkpoint === null ? [] : [checkpointRow(this.#storage, checkpoint)]
    for (const segment of segments) {
      signal?.throwIfAborted()
      const { first, last, firstMs, lastMs, epoch, events: lines, known } = segment
      const [events, books] = await Promise.all([
        putEvents(this.#storage, segmentKey(chain, segment, 'events'), lines),
        putBooks(this.#storage, segmentKey(chain, segment, 'books'), segment.books),
      ])
      const sums = [events.bytes, books.bytes, events.sha256, books.sha256]
      const row = db.prepare(`INSERT INTO segments (chain, first, last, first_ms, last_ms, epoch, lines, events_bytes,
        books_bytes, events_sha256, books_sha256, backfilled, source)
        VALUES (?1, ${UNUSED_FIRST}, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)`)
      rows.push(row.bind(chain, first, last, firstMs, lastMs, epoch, lines.length, ...sums, known, source))
      sum += events.bytes + books.bytes
    }
    const repairs = runsOf(segments).map((run) => this.#repair(run, source, nowMs))
    signal?.throwIfAborted()
    const unfiled = unfiledRow(this.#storage, begin.first, end.last, nowMs)
    await db.batch([...rows, ...repairs, ...this.#gaps(segments, around), unfiled])
    return sum
  }

  /** Only gaps that the log recorded count as repaired. */
  #repair({ from, to, known, hasBooks }: RepairRun, source: string, nowMs: number): D1PreparedStatement {
    return this.#storage.db
      .prepare(`INSERT INTO repairs (chain, from_height, to_height, known, source, at_ms, books)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE (${gapAround('recorded_ms')}) > 0`)
      .bind(this.#storage.chain, from, to, known, source, nowMs, Number(hasBooks))
  }

  /** Replaces the gaps next to new segments. The remainder of a gap keeps its record. */
  #gaps(segments: readonly SegmentSpan[], around: readonly SegmentSpan[]): D1PreparedStatement[] {
    const { chain, db } = this.#storage
    const firsts = new Set(segments.map(({ first }) => first))
    const lasts = new Set(segments.map(({ last }) => last))
    // An import can touch few of very many gaps.
    const gaps = gapsBetween([...segments, ...around]).filter(
      ({ from, to }) => lasts.has(from - 1) || firsts.has(to + 1),
    )
    const put =
      db.prepare(`INSERT OR REPLACE INTO gaps (chain, from_height, to_height, after_ms, before_ms, recorded_ms, beyond_ms)
      SELECT ?1, ?2, ?3, ?4, ?5, COALESCE((${gapAround('recorded_ms')}), 0), (${gapAround('beyond_ms')})`)
    // Highest first: the lowest remainder may replace the row that the others are copied from.
    const puts = gaps
      .toReversed()
      .map(({ from, to, afterMs, beforeMs }) => put.bind(chain, from, to, afterMs, beforeMs))
    const gone = db
      .prepare(`DELETE FROM gaps WHERE chain = ?1 AND from_height IN (SELECT from_height FROM json_each(?2)
        CROSS JOIN gaps g ON g.chain = ?1 AND g.from_height BETWEEN value ->> 'first' AND value ->> 'last')`)
      .bind(chain, JSON.stringify(segments.map(({ first, last }) => ({ first, last }))))
    const settled = db
      .prepare(`DELETE FROM repair_attempts WHERE chain = ?1 AND COALESCE((SELECT g.to_height FROM gaps g WHERE g.chain = ?1
        AND g.from_height <= repair_attempts.to_height ORDER BY g.from_height DESC LIMIT 1), -1) < from_height`)
      .bind(chain)
    return [...puts, gone, settled]
  }
}

const isAltered = (error: unknown) => error instanceof Error && /FixedLengthStream|checksum/.test(error.message)

interface WriteRequest extends Partial<BackfillOrigin> {
  readonly source: string
  readonly nowMs: number
  readonly signal?: AbortSignal
}

type RepairRun = Pick<Repair, 'from' | 'to' | 'known' | 'hasBooks'>

/** Runs of consecutive heights with the same known data. */
function runsOf(segments: readonly BackfillSegment[]): RepairRun[] {
  const runs: RepairRun[] = []
  for (const { first, last, known, epoch } of segments) {
    const hasBooks = epoch !== null
    const run = runs.at(-1)
    if (run?.to === first - 1 && run.known === known && run.hasBooks === hasBooks)
      runs.splice(-1, 1, { ...run, to: last })
    else runs.push({ from: first, to: last, known, hasBooks })
  }
  return runs
}
