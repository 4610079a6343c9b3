// Reads the archive: rows in D1 locate objects in R2. Invariant: a missing, truncated or altered object causes an
// ArchiveDamage error, and none of its data is returned.

import { checkpointKey, type LineKind, segmentKey } from './archive-keys.ts'
import type {
  ArchivedBook,
  ArchivedCheckpoint,
  ArchivedSegment,
  ArchiveReader,
  RepairedHeights,
  RepairLog,
} from './archive-read.ts'
import { ArchiveDamage, joinRepairs } from './archive-read.ts'
import type { ArchiveStorage } from './archive-writer.store.ts'
import { checkpointBooks, type ObjectDigest } from './checkpoint-object.store.ts'
import { sha256Of, unpack } from './gzip-lines.client.ts'
import { unpackLines } from './gzip-members.client.ts'

type Segment = Omit<ArchivedSegment, 'chain'>

const SEGMENT = `first, last, first_ms AS firstMs, last_ms AS lastMs, epoch, next_ms AS nextMs, backfilled`
/** A gap of 25 minutes is repaired by some ten requests. */
const MAX_JOINED = 64

export class StoredArchive implements ArchiveReader, RepairLog {
  readonly #storage: ArchiveStorage

  constructor(storage: ArchiveStorage) {
    this.#storage = storage
  }

  async segmentsFrom(
    at: { readonly height: number } | { readonly timeMs: number },
    limit: number,
  ): Promise<readonly ArchivedSegment[]> {
    const [name, value] = 'height' in at ? ['', at.height] : ['_ms', at.timeMs]
    const { chain, db } = this.#storage
    // The subquery finds the first row by its index. The rows after it are selected by height, so that a block with a
    // wrong time hides no other block.
    const { results } = await db
      .prepare(`SELECT ${SEGMENT} FROM segments WHERE chain = ?1 AND last${name} >= ?2 AND first >= COALESCE(
        (SELECT first FROM segments WHERE chain = ?1 AND first${name} <= ?2 ORDER BY first${name} DESC LIMIT 1), 0)
        ORDER BY first LIMIT ?3`)
      .bind(chain, value, limit)
      .all<Segment>()
    return results.map((segment) => ({ chain, ...segment }))
  }

  async last(): Promise<number | null> {
    const { chain, db } = this.#storage
    const row = await db
      .prepare(`SELECT last FROM segments WHERE chain = ? ORDER BY first DESC LIMIT 1`)
      .bind(chain)
      .first<{ last: number }>()
    return row?.last ?? null
  }

  async *lines(segment: ArchivedSegment, kind: LineKind): AsyncGenerator<string> {
    const key = segmentKey(segment.chain, segment, kind)
    const sum = await this.#storage.db
      .prepare(`SELECT ${kind}_bytes AS bytes, ${kind}_sha256 AS sha256 FROM segments WHERE chain = ? AND first = ?`)
      .bind(segment.chain, segment.first)
      .first<ObjectDigest>()
    const body = await this.#body(key, sum)
    if (kind === 'books') yield* unpackLines(body)
    else yield* unpack(body)
  }

  async checkpointAt(height: number): Promise<ArchivedCheckpoint | null> {
    return this.#storage.db
      .prepare(`SELECT epoch, height, time_ms AS time FROM checkpoints WHERE chain = ? AND height <= ?
        ORDER BY height DESC LIMIT 1`)
      .bind(this.#storage.chain, height)
      .first<ArchivedCheckpoint>()
  }

  async checkpointAfter(height: number): Promise<ArchivedCheckpoint | null> {
    return this.#storage.db
      .prepare(`SELECT epoch, height, time_ms AS time FROM checkpoints WHERE chain = ? AND height > ?
        ORDER BY height LIMIT 1`)
      .bind(this.#storage.chain, height)
      .first<ArchivedCheckpoint>()
  }

  async *books(height: number, coins: ReadonlySet<string> | null): AsyncGenerator<ArchivedBook> {
    const { chain, bucket, db } = this.#storage
    const sum = await db
      .prepare(`SELECT bytes, sha256 FROM checkpoints WHERE chain = ? AND height = ?`)
      .bind(chain, height)
      .first<ObjectDigest>()
    const key = checkpointKey(chain, height)
    if (!sum) throw new ArchiveDamage(key, 'missing')
    yield* checkpointBooks(bucket, key, sum, coins)
  }

  async gaps(from: number, to: number): Promise<readonly { readonly from: number; readonly to: number }[]> {
    const { results } = await this.#storage.db
      .prepare(`SELECT from_height AS "from", to_height AS "to" FROM gaps
        WHERE chain = ? AND from_height <= ? AND to_height >= ? ORDER BY from_height`)
      .bind(this.#storage.chain, to, from)
      .all<{ from: number; to: number }>()
    return results
  }

  async repairAfter(id: number | null): ReturnType<RepairLog['repairAfter']> {
    const which = id === null ? 'id >= ? ORDER BY id DESC' : 'id > ? ORDER BY id'
    const { results } = await this.#storage.db
      .prepare(`SELECT id, from_height AS "from", to_height AS "to" FROM repairs WHERE chain = ? AND ${which} LIMIT ?`)
      .bind(this.#storage.chain, id ?? 0, id === null ? 1 : MAX_JOINED)
      .all<RepairedHeights>()
    return joinRepairs(results)
  }

  async isRepairedAfter(id: number, { first, backfilled }: ArchivedSegment): Promise<boolean> {
    if (backfilled == null) return false
    const row = await this.#storage.db
      .prepare(`SELECT id FROM repairs WHERE chain = ?1 AND id > ?2 AND from_height <= ?3 AND to_height >= ?3 LIMIT 1`)
      .bind(this.#storage.chain, id, first)
      .first()
    return row !== null
  }

  async #body(key: string, sum: ObjectDigest | null): Promise<Uint8Array> {
    if (sum?.bytes === 0) throw new ArchiveDamage(key, 'removed')
    const object = sum && (await this.#storage.bucket.get(key))
    if (!object) throw new ArchiveDamage(key, 'missing')
    const body = new Uint8Array(await object.arrayBuffer())
    if (body.byteLength < sum.bytes) throw new ArchiveDamage(key, 'truncated')
    if ((await sha256Of(body)) !== sum.sha256) throw new ArchiveDamage(key, 'altered')
    return body
  }
}

/** Null if the Worker has no archive. */
export function archiveOf(
  env: Partial<Pick<Cloudflare.Env, 'ARCHIVE' | 'HISTORY'>>,
  chain: string,
): StoredArchive | null {
  const { ARCHIVE: bucket, HISTORY: db } = env
  return bucket && db ? new StoredArchive({ chain, bucket, db }) : null
}
