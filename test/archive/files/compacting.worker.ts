import type { ArchiveStorage } from '../../../src/archive/archive/archive-writer.store.ts'
import { BackfillStore } from '../../../src/archive/archive/backfill.store.ts'
import type { KnownEvents } from '../../../src/archive/archive/backfill-lines.ts'
import type { BackfillSegment } from '../../../src/archive/archive/backfill-queue.ts'
import type { Compaction } from '../../../src/archive/files/compaction.store.ts'
import { StoredFiles } from '../../../src/archive/files/files.store.ts'
import type { FilesRequest } from '../../../src/archive/files/files-read.ts'
import type { FileSpan, Level } from '../../../src/archive/files/levels.ts'
import type { BlockEvents } from '../../../src/archive/files/rows.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import { fillWith } from '../../kit/fills.ts'
import { archived, compactionOf } from './places.worker.ts'

/** Three blocks an hour, a segment each. */
const BLOCK_MS = 1_200_000
const START_MS = Date.UTC(2026, 10, 20)
const USER = `0x${'1'.repeat(40)}`
export const SETTLED_MS = 600_001
export const timeOf = (height: number) => START_MS + height * BLOCK_MS
export const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

const fillOf = (coin: string, tid: number): UserFill => [USER, fillWith({ coin, sz: '0.5', time: tid, oid: tid, tid })]

function blockAt(height: number, known: KnownEvents = 'events'): BlockEvents {
  const fills = [0, 1].map((at): UserFill => fillOf(at === 0 ? 'BTC' : 'ETH', 2 * height + at))
  const ledger = [{ users: [USER], time: height, hash: '0x0', delta: { type: 'deposit', usdc: '1' } }]
  const block = { height, time: timeOf(height), fills }
  return known === 'fills' ? { only: 'fills', ...block, ledger: [] } : { ...block, ledger }
}

export function segmentAt(height: number, known: KnownEvents = 'events'): BackfillSegment {
  const at = { first: height, last: height, firstMs: timeOf(height), lastMs: timeOf(height), epoch: null }
  return { ...at, events: [JSON.stringify(blockAt(height, known))], books: ['{}'], known }
}

export class World {
  readonly place: ArchiveStorage
  readonly files: StoredFiles
  nowMs = 0
  readonly failures: string[] = []
  #compaction: Compaction

  constructor(place: ArchiveStorage, writing: (place: ArchiveStorage) => ArchiveStorage = (place) => place) {
    this.place = place
    this.files = new StoredFiles(this.place)
    const written = writing(place)
    this.#compaction = compactionOf(written, { now: () => this.nowMs, objectBytes: 6_000 })
  }

  async log(heights: readonly number[]): Promise<void> {
    await archived(
      this.place,
      heights.map((height) => blockAt(height)),
    )
  }

  async backfill(heights: readonly number[], known: KnownEvents = 'events'): Promise<void> {
    const store = new BackfillStore(this.place)
    const around = await store.neighbors(heights[0]!, heights.at(-1)!)
    await store.write(
      heights.map((height) => segmentAt(height, known)),
      around,
      { source: 'test', nowMs: this.nowMs },
    )
  }

  /** Answers whether there may be more to do. */
  async turn(): Promise<boolean> {
    try {
      return await this.#compaction.turn()
    } catch (error) {
      this.failures.push((error as Error).message)
      return true
    }
  }

  async turns(most = 5_000): Promise<void> {
    for (let turn = 0; turn < most; turn++) if (!(await this.turn())) return
    if (most >= 5_000) throw new Error(`there is no end to it: ${this.failures.slice(-3)}`)
  }

  async rows(kind: 'fills' | 'ledger', more: Partial<FilesRequest> = {}): Promise<number[]> {
    const whole = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, upTo: Number.MAX_SAFE_INTEGER, limit: 1e6 }
    const scope = { by: 'user', address: USER } as const
    const { blocks } = await this.files.rows({ ...whole, kind, scope, order: 'oldest', ...more })
    return blocks.map(({ height }) => height)
  }

  /** Live and whole, level and heights. */
  async live(): Promise<string[]> {
    const { results } = await this.place.db
      .prepare(`SELECT level, first, last FROM files
      WHERE chain = ? AND state <> 'merged' ORDER BY first`)
      .bind(this.place.chain)
      .all<FileSpan & { level: Level }>()
    return results.map(({ level, first, last }) => `${level} ${first}-${last}`)
  }

  async gaps(need: 'fills' | 'events' = 'fills'): Promise<string[]> {
    return ((await this.files.coverage(need))?.gaps ?? []).map(({ from, to }) => `${from}-${to}`)
  }

  /** Rows of Parquet of all fills in the order of the chain. */
  async tableRows(): Promise<number> {
    const row = await this.place.db
      .prepare(`SELECT SUM(rows) AS rows FROM file_tables WHERE chain = ? AND level = 1 AND name = 'fills-by-time'`)
      .bind(this.place.chain)
      .first<{ rows: number }>()
    return row!.rows
  }
}

/** Every write fails now and then, before or after it had its effect. */
export const failing =
  (seed: number) =>
  ({ chain, bucket, db }: ArchiveStorage): ArchiveStorage => {
    const often = async <T>(work: () => Promise<T>): Promise<T> => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      const share = seed / 2 ** 31
      if (share < 0.1) throw new Error('it did not come there')
      const done = await work()
      if (share < 0.2) throw new Error('its answer did not come')
      return done
    }
    const put = (...of: Parameters<R2Bucket['put']>) => often(() => bucket.put(...of))
    const gone = (...of: Parameters<R2Bucket['delete']>) => often(() => bucket.delete(...of))
    const batch = (...of: Parameters<D1Database['batch']>) => often(() => db.batch(...of))
    return {
      chain,
      bucket: { get: bucket.get.bind(bucket), delete: gone, put } as ArchiveStorage['bucket'],
      db: { prepare: db.prepare.bind(db), batch } as ArchiveStorage['db'],
    }
  }
