// Writes the archive: objects into R2 first, then their rows into D1. Invariants: a row always refers to an existing
// object; rewriting produces the same bytes under the same name.

import { joinedBytes } from '../../core/chunks.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { checkpointKey, segmentKey } from './archive-keys.ts'
import type { CheckpointBooks } from './archive-runner.ts'
import type { UploadedCheckpoint } from './backfill-api.ts'
import { packCheckpoint } from './checkpoint-members.client.ts'
import type { ObjectDigest } from './checkpoint-object.store.ts'
import { pack, sha256Of } from './gzip-lines.client.ts'
import { packLines } from './gzip-members.client.ts'
import type { CutGap, CutSegment } from './segment-cutter.ts'

export interface ArchiveStorage {
  readonly chain: string
  readonly bucket: Pick<R2Bucket, 'get' | 'put' | 'delete'>
  readonly db: Pick<D1Database, 'prepare' | 'batch'>
}

/** Writes events as an object under a key. */
export async function putEvents(
  storage: Pick<ArchiveStorage, 'bucket'>,
  key: string,
  lines: readonly string[],
): Promise<ObjectDigest> {
  const { body, sha256 } = await pack(lines)
  return putObject(storage, key, body, sha256)
}

/** Writes changes of books, which are large, so that they can be read one gzip member at a time. */
export async function putBooks(
  storage: Pick<ArchiveStorage, 'bucket'>,
  key: string,
  lines: readonly string[],
): Promise<ObjectDigest> {
  return putMembers(storage, key, await packLines(lines))
}

async function putMembers(
  storage: Pick<ArchiveStorage, 'bucket'>,
  key: string,
  members: readonly Uint8Array[],
): Promise<ObjectDigest> {
  const body = joinedBytes(members)
  return putObject(storage, key, body, await sha256Of(body))
}

async function putObject(
  { bucket }: Pick<ArchiveStorage, 'bucket'>,
  key: string,
  body: Uint8Array,
  sha256: string,
): Promise<ObjectDigest> {
  // R2 rejects a body that does not match its hash.
  await bucket.put(key, body, { sha256 })
  return { bytes: body.byteLength, sha256 }
}

/** The row of a checkpoint whose object is stored. */
export function checkpointRow(
  { chain, db }: Pick<ArchiveStorage, 'chain' | 'db'>,
  { height, time, epoch, coins, bytes, sha256 }: UploadedCheckpoint,
): D1PreparedStatement {
  return db
    .prepare(`INSERT OR REPLACE INTO checkpoints (chain, height, time_ms, epoch, coins, bytes, sha256)
      VALUES (?, ?, ?, ?, ?, ?, ?)`)
    .bind(chain, height, time, epoch, coins, bytes, sha256)
}

export class ArchiveWriter {
  readonly #storage: ArchiveStorage

  constructor(storage: ArchiveStorage) {
    this.#storage = storage
  }

  /** Returns the bytes written. */
  async putSegment(cut: CutSegment): Promise<number> {
    const { chain, db } = this.#storage
    const events = await putEvents(this.#storage, segmentKey(chain, cut, 'events'), cut.events)
    const books = await putBooks(this.#storage, segmentKey(chain, cut, 'books'), cut.books)
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

  async putGap({ from, to, afterMs, beforeMs }: CutGap, nowMs: number): Promise<void> {
    await this.#storage.db
      .prepare(`INSERT OR REPLACE INTO gaps (chain, from_height, to_height, after_ms, before_ms, recorded_ms)
        VALUES (?, ?, ?, ?, ?, ?)`)
      .bind(this.#storage.chain, from, to, afterMs, beforeMs, nowMs)
      .run()
  }

  /** Returns the bytes written. */
  async putCheckpoint({ height, time, epoch, coins, lines }: CheckpointBooks): Promise<number> {
    const members = await packCheckpoint({ epoch, height, time, coins }, lines)
    const { bytes, sha256 } = await putMembers(this.#storage, checkpointKey(this.#storage.chain, height), members)
    await checkpointRow(this.#storage, { height, time, epoch, coins, bytes, sha256 }).run()
    return bytes
  }

  /** The last block that has a row. */
  async lastBlock(): Promise<HeightAndTime | null> {
    return this.#storage.db
      .prepare(`SELECT last AS height, last_ms AS time FROM segments WHERE chain = ? ORDER BY first DESC LIMIT 1`)
      .bind(this.#storage.chain)
      .first<HeightAndTime>()
  }
}
