// Writes the archive: objects into R2 first, then their rows into D1. Invariants: a row always refers to an existing
// object; rewriting produces the same bytes under the same name.

import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { checkpointKey, segmentKey } from './archive-keys.ts'
import type { CheckpointBooks } from './archive-runner.ts'
import { pack } from './gzip-lines.client.ts'
import type { CutGap, CutSegment } from './segment-cutter.ts'

export interface ArchiveStorage {
  readonly chain: string
  readonly bucket: Pick<R2Bucket, 'get' | 'put' | 'delete'>
  readonly db: Pick<D1Database, 'prepare' | 'batch'>
}

interface StoredObject {
  readonly bytes: number
  readonly sha256: string
}

/** Writes lines as an object under a key. */
export async function putLines(
  { bucket }: Pick<ArchiveStorage, 'bucket'>,
  key: string,
  lines: readonly string[],
): Promise<StoredObject> {
  const { body, sha256 } = await pack(lines)
  // R2 rejects a body that does not match its hash.
  await bucket.put(key, body, { sha256 })
  return { bytes: body.byteLength, sha256 }
}

export class ArchiveWriter {
  readonly #storage: ArchiveStorage

  constructor(storage: ArchiveStorage) {
    this.#storage = storage
  }

  /** Returns the bytes written. */
  async putSegment(cut: CutSegment): Promise<number> {
    const { chain, db } = this.#storage
    const events = await this.#put(segmentKey(chain, cut, 'events'), cut.events)
    const books = await this.#put(segmentKey(chain, cut, 'books'), cut.books)
    const { first, last, firstMs, lastMs, epoch, nextMs = null } = cut
    const sums = [events.bytes, books.bytes, events.sha256, books.sha256]
    await db.batch([
      db
        .prepare(`INSERT OR REPLACE INTO segments (chain, first, last, first_ms, last_ms, epoch, lines, events_bytes,
          books_bytes, events_sha256, books_sha256, next_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
        .bind(chain, first, last, firstMs, lastMs, epoch, cut.events.length, ...sums, nextMs),
      // Cancels an unfinished removal of the same segment.
      db
        .prepare(`DELETE FROM removals WHERE chain = ? AND key IN (?, ?)`)
        .bind(chain, segmentKey(chain, cut, 'events'), segmentKey(chain, cut, 'books')),
    ])
    return events.bytes + books.bytes
  }

  async putGap({ from, to, afterMs, beforeMs }: CutGap): Promise<void> {
    await this.#storage.db
      .prepare(
        `INSERT OR REPLACE INTO gaps (chain, from_height, to_height, after_ms, before_ms) VALUES (?, ?, ?, ?, ?)`,
      )
      .bind(this.#storage.chain, from, to, afterMs, beforeMs)
      .run()
  }

  /** Returns the bytes written. */
  async putCheckpoint({ height, time, epoch, coins, lines }: CheckpointBooks): Promise<number> {
    const { chain, db } = this.#storage
    const { bytes, sha256 } = await this.#put(checkpointKey(chain, height), lines)
    await db
      .prepare(`INSERT OR REPLACE INTO checkpoints (chain, height, time_ms, epoch, coins, bytes, sha256)
        VALUES (?, ?, ?, ?, ?, ?, ?)`)
      .bind(chain, height, time, epoch, coins, bytes, sha256)
      .run()
    return bytes
  }

  #put(key: string, lines: readonly string[]): Promise<StoredObject> {
    return putLines(this.#storage, key, lines)
  }

  /** The last block that has a row. */
  async lastBlock(): Promise<HeightAndTime | null> {
    return this.#storage.db
      .prepare(`SELECT last AS height, last_ms AS time FROM segments WHERE chain = ? ORDER BY first DESC LIMIT 1`)
      .bind(this.#storage.chain)
      .first<HeightAndTime>()
  }
}
