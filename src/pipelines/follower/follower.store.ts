// Storage of the pipeline follower: the pipelines that wait, and the block from which a restarted follower evaluates
// again.

import * as z from 'zod'
import { migrate } from '../../core/migrate.store.ts'
import { rows } from '../../core/rows.ts'
import type { ReadBlock, WatchRequest } from '../follower-api.ts'

const TABLES = 'CREATE TABLE watches (id TEXT PRIMARY KEY, request TEXT NOT NULL) STRICT, WITHOUT ROWID;'

const WatchRow = z.object({ request: z.string() })

export type FollowedKind = 'events' | 'books'

/** Without a filter if the pipeline reads every block. The follower cannot hold all filters. */
export type StoredWatch = Omit<WatchRequest, 'filter'> & Partial<Pick<WatchRequest, 'filter'>>

export class FollowerStore {
  readonly #storage: DurableObjectStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    migrate(storage, [TABLES])
  }

  get watches(): readonly StoredWatch[] {
    const found = rows(WatchRow, this.#storage.sql.exec('SELECT request FROM watches'))
    return found.map(({ request }) => JSON.parse(request) as StoredWatch)
  }

  put(request: StoredWatch): void {
    this.#storage.sql.exec('INSERT OR REPLACE INTO watches VALUES (?, ?)', request.id, JSON.stringify(request))
  }

  remove(id: string): void {
    this.#storage.sql.exec('DELETE FROM watches WHERE id = ?', id)
  }

  scanned(kind: FollowedKind): ReadBlock | null {
    return this.#storage.kv.get<ReadBlock>(`scanned/${kind}`) ?? null
  }

  setScanned(kind: FollowedKind, block: ReadBlock): void {
    this.#storage.kv.put(`scanned/${kind}`, block)
  }
}
