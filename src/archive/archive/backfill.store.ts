// Writes backfilled segments below the first block that the log archived. Invariants: objects are written before rows;
// the rows of one request body are written in one batch, together with the gaps around them and the request to build
// files from them.

import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { segmentKey } from './archive-keys.ts'
import type { ArchiveStorage } from './archive-writer.store.ts'
import { putBooks, putEvents } from './archive-writer.store.ts'
import type { BackfillState } from './backfill-api.ts'
import { type BackfillSegment, gapsBetween, type SegmentSpan } from './backfill-queue.ts'
import type { CutGap } from './segment-cutter.ts'
import { unfiledRow } from './unfiled.store.ts'

/** Maximum gaps per page. */
const GAPS_PER_PAGE = 1_000

const SPAN_COLUMNS = `first, last, first_ms AS firstMs, last_ms AS lastMs`

export class BackfillStore {
  readonly #storage: ArchiveStorage

  constructor(storage: ArchiveStorage) {
    this.#storage = storage
  }

  /** Lists the gaps above height `after`. */
  async state(after: number): Promise<BackfillState> {
    const from = await this.#first('')
    const before = await this.logStart()
    const { chain, db } = this.#storage
    const { results } = await db
      .prepare(`SELECT from_height AS "from", to_height AS "to", after_ms AS afterMs, before_ms AS beforeMs FROM gaps
        WHERE chain = ? AND from_height >= ? AND from_height < ? ORDER BY from_height LIMIT ?`)
      .bind(chain, Math.max(after, from?.height ?? 0), before?.height ?? 0, GAPS_PER_PAGE)
      .all<CutGap>()
    const last = results[GAPS_PER_PAGE - 1]
    return { from, before, gaps: results, next: last ? last.to + 1 : null }
  }

  /** The first block that the log archived. */
  logStart(): Promise<HeightAndTime | null> {
    return this.#first('AND backfilled IS NULL')
  }

  #first(where: string): Promise<HeightAndTime | null> {
    return this.#storage.db
      .prepare(`SELECT first AS height, first_ms AS time FROM segments WHERE chain = ? ${where} ORDER BY first LIMIT 1`)
      .bind(this.#storage.chain)
      .first<HeightAndTime>()
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

  /** Writes segments, and the gaps between them and their neighbors in `around`. Returns the bytes written. */
  async write(segments: readonly BackfillSegment[], around: readonly SegmentSpan[], nowMs: number): Promise<number> {
    const { chain, db } = this.#storage
    const [begin] = segments
    const end = segments.at(-1)
    if (!begin || !end) return 0
    let sum = 0
    const rows: D1PreparedStatement[] = []
    for (const segment of segments) {
      const { first, last, firstMs, lastMs, events: lines, known } = segment
      const [events, books] = await Promise.all([
        putEvents(this.#storage, segmentKey(chain, segment, 'events'), lines),
        putBooks(this.#storage, segmentKey(chain, segment, 'books'), segment.books),
      ])
      const sums = [events.bytes, books.bytes, events.sha256, books.sha256]
      const row = db.prepare(`INSERT INTO segments (chain, first, last, first_ms, last_ms, epoch, lines, events_bytes,
        books_bytes, events_sha256, books_sha256, backfilled) VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?)`)
      rows.push(row.bind(chain, first, last, firstMs, lastMs, lines.length, ...sums, known))
      sum += events.bytes + books.bytes
    }
    const unfiled = unfiledRow(this.#storage, begin.first, end.last, nowMs)
    await db.batch([...rows, ...this.#gaps([...segments, ...around]), unfiled])
    return sum
  }

  /** Replaces the gaps between these spans. */
  #gaps(spans: readonly SegmentSpan[]): D1PreparedStatement[] {
    const { chain, db } = this.#storage
    const firsts = spans.map(({ first }) => first)
    const min = Math.min(...firsts)
    const max = Math.max(...firsts)
    const gone = db.prepare(`DELETE FROM gaps WHERE chain = ? AND from_height > ? AND from_height < ?`)
    const put = db.prepare(
      `INSERT INTO gaps (chain, from_height, to_height, after_ms, before_ms) VALUES (?, ?, ?, ?, ?)`,
    )
    const gaps = gapsBetween(spans).map(({ from, to, afterMs, beforeMs }) =>
      put.bind(chain, from, to, afterMs, beforeMs),
    )
    return [gone.bind(chain, min, max), ...gaps]
  }
}
