// Runs of transforms that exceeded their budget, by pipeline, in the storage of the object that ran them.

import { migrate } from '../../core/migrate.store.ts'
import type { StrikeStore, Strikes } from './turns.ts'

/** Of a pipeline that has not run since. */
const KEPT_MS = 86_400_000

export class StrikeRows implements StrikeStore {
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql
    migrate(storage, [
      'CREATE TABLE strikes (pipeline TEXT PRIMARY KEY, count INTEGER NOT NULL, until INTEGER NOT NULL)',
    ])
    this.#sql.exec('DELETE FROM strikes WHERE until < ?', Date.now() - KEPT_MS)
  }

  get(pipeline: string): Strikes | null {
    const sql = 'SELECT count, until AS untilMs FROM strikes WHERE pipeline = ?'
    const [row] = this.#sql.exec<{ count: number; untilMs: number }>(sql, pipeline).toArray()
    return row ?? null
  }

  put(pipeline: string, { count, untilMs }: Strikes): void {
    this.#sql.exec('INSERT OR REPLACE INTO strikes (pipeline, count, until) VALUES (?, ?, ?)', pipeline, count, untilMs)
  }

  delete(pipeline: string): void {
    this.#sql.exec('DELETE FROM strikes WHERE pipeline = ?', pipeline)
  }
}
