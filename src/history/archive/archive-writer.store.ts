// What the Archiver writes: objects into R2 first, then their row into D1. Law: a row stands for objects that are there;
// whatever is written again is written alike, under the same name.

import type { HeightAndTime } from '../../feed/held-fills.ts'
import { checkpointKey, type LineKind, segmentKey } from './archive-keys.ts'
import { pack } from './packed.client.ts'
import { isCheckpointOverdue, overdueSegments } from './retention.ts'
import type { CutGap, CutSegment } from './segment-cutter.ts'
import type { TakenBooks } from './taken-books.ts'

/** Of the bound: beyond it not every minute brings a removal. */
const TRIMMED = 0.98
/** Segments that are removed at once. */
const REMOVED_AT_ONCE = 64

export interface ArchivePlace {
  readonly chain: string
  readonly bucket: Pick<R2Bucket, 'get' | 'put' | 'delete'>
  readonly db: Pick<D1Database, 'prepare' | 'batch'>
}

/** What the archive has in all. */
export interface ArchiveSums {
  readonly segments: number
  readonly bytes: number
}

/** An object as its row tells of it. */
interface Stored {
  readonly bytes: number
  readonly sha256: string
}

/** Writes lines under a key. */
export async function putLines(
  { bucket }: Pick<ArchivePlace, 'bucket'>,
  key: string,
  lines: readonly string[],
): Promise<Stored> {
  const { body, sha256 } = await pack(lines)
  // Of a body that comes otherwise than it was sent nothing is kept.
  await bucket.put(key, body, { sha256 })
  return { bytes: body.byteLength, sha256 }
}

export class ArchiveWriter {
  readonly #place: ArchivePlace

  constructor(place: ArchivePlace) {
    this.#place = place
  }

  /** Answers how many bytes it took. */
  async segment(cut: CutSegment): Promise<number> {
    const { chain, db } = this.#place
    const events = await this.#put(segmentKey(chain, cut, 'events'), cut.events)
    const books = await this.#put(segmentKey(chain, cut, 'books'), cut.books)
    const { first, last, firstMs, lastMs, epoch } = cut
    const sums = [events.bytes, books.bytes, events.sha256, books.sha256]
    await db
      .prepare(`INSERT OR REPLACE INTO segments (chain, first, last, first_ms, last_ms, epoch, lines, events_bytes,
        books_bytes, events_sha256, books_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .bind(chain, first, last, firstMs, lastMs, epoch, cut.events.length, ...sums)
      .run()
    return events.bytes + books.bytes
  }

  async gap({ from, to, afterMs, beforeMs }: CutGap): Promise<void> {
    await this.#place.db
      .prepare(
        `INSERT OR REPLACE INTO gaps (chain, from_height, to_height, after_ms, before_ms) VALUES (?, ?, ?, ?, ?)`,
      )
      .bind(this.#place.chain, from, to, afterMs, beforeMs)
      .run()
  }

  /** Answers how many bytes it took. */
  async checkpoint({ height, time, epoch, coins, lines }: TakenBooks): Promise<number> {
    const { chain, db } = this.#place
    const { bytes, sha256 } = await this.#put(checkpointKey(chain, height), lines)
    await db
      .prepare(`INSERT OR REPLACE INTO checkpoints (chain, height, time_ms, epoch, coins, bytes, sha256)
        VALUES (?, ?, ?, ?, ?, ?, ?)`)
      .bind(chain, height, time, epoch, coins, bytes, sha256)
      .run()
    return bytes
  }

  #put(key: string, lines: readonly string[]): Promise<Stored> {
    return putLines(this.#place, key, lines)
  }

  /**
   * Removes the oldest beyond so many bytes, as far as one call goes, and answers what is left. Objects go before rows: a
   * removal that ends amid is done again, and leaves no object without a row.
   */
  async keepWithin(mostBytes: number): Promise<ArchiveSums> {
    const { chain, db } = this.#place
    const { segments, bytes } = await this.#sums()
    const { results } = await db
      .prepare(`SELECT first, last, first_ms AS firstMs, events_bytes + books_bytes AS bytes FROM segments
        WHERE chain = ? ORDER BY first LIMIT ?`)
      .bind(chain, REMOVED_AT_ONCE)
      .all<{ first: number; last: number; firstMs: number; bytes: number }>()
    const oldest = results.slice(0, segments - 1)
    const due = new Set(overdueSegments(oldest, bytes, mostBytes * TRIMMED).map(({ first }) => first))
    const gone = results.filter(({ first }) => due.has(first))
    const kinds: readonly LineKind[] = ['events', 'books']
    const keys = gone.flatMap((one) => kinds.map((kind) => segmentKey(chain, one, kind)))
    const rows = gone.map(({ first }) =>
      db.prepare(`DELETE FROM segments WHERE chain = ? AND first = ?`).bind(chain, first),
    )
    await this.#remove(keys, rows)
    if (gone.length > 0) await this.#dropCheckpoints(gone.at(-1)!.last + 1)
    return this.#sums()
  }

  async #dropCheckpoints(first: number): Promise<void> {
    const { chain, db } = this.#place
    const { results } = await db
      .prepare(`SELECT height FROM checkpoints WHERE chain = ? AND height < ? ORDER BY height LIMIT ?`)
      .bind(chain, first, REMOVED_AT_ONCE)
      .all<{ height: number }>()
    const gone = results.filter(({ height }) => isCheckpointOverdue(height, first))
    const rows = gone.map(({ height }) =>
      db.prepare(`DELETE FROM checkpoints WHERE chain = ? AND height = ?`).bind(chain, height),
    )
    await this.#remove(
      gone.map(({ height }) => checkpointKey(chain, height)),
      rows,
    )
  }

  async #remove(keys: string[], rows: D1PreparedStatement[]): Promise<void> {
    if (keys.length === 0) return
    await this.#place.bucket.delete(keys)
    await this.#place.db.batch(rows)
  }

  /** The last block that has a row. */
  async found(): Promise<HeightAndTime | null> {
    return this.#place.db
      .prepare(`SELECT last AS height, last_ms AS time FROM segments WHERE chain = ? ORDER BY first DESC LIMIT 1`)
      .bind(this.#place.chain)
      .first<HeightAndTime>()
  }

  async #sums(): Promise<ArchiveSums> {
    const { chain, db } = this.#place
    const sums = await db
      .prepare(`SELECT COUNT(*) AS segments, COALESCE(SUM(events_bytes + books_bytes), 0)
        + (SELECT COALESCE(SUM(bytes), 0) FROM checkpoints WHERE chain = ?1) AS bytes FROM segments WHERE chain = ?1`)
      .bind(chain)
      .first<ArchiveSums>()
    return sums!
  }
}
