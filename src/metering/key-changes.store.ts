// When what is known of a key at the edge was last changed, in the meter of its account: the one that every isolate
// which spends must ask. Law: a change is told for longer than any copy of what was before can live.

import { Tables } from '../core/tables.store.ts'

/** A copy in KV lives an hour, and a little longer in the memory of who read it last. */
const TOLD_MS = 2 * 3_600_000
/** Stands for all keys of the account: a change of its plan. */
const ALL = ''

export class KeyChanges extends Tables {
  #lastMs: number

  constructor(sql: SqlStorage) {
    super(sql)
    this.#lastMs = sql.exec<{ at: number | null }>('SELECT max(at) AS at FROM changes').one().at ?? 0
  }

  /** Null: all keys of the account. */
  note(keyHash: string | null, nowMs: number): void {
    this.run('DELETE FROM changes WHERE at < ?', nowMs - TOLD_MS)
    this.run('INSERT OR REPLACE INTO changes VALUES (?, ?)', keyHash ?? ALL, nowMs)
    this.#lastMs = nowMs
  }

  /** Of this key, in Unix ms; null where it is long ago. Costs nothing while nothing has changed. */
  last(keyHash: string, nowMs: number): number | null {
    if (nowMs - this.#lastMs > TOLD_MS) return null
    return this.one<{ at: number | null }>('SELECT max(at) AS at FROM changes WHERE key_hash IN (?, ?)', keyHash, ALL)
      .at
  }
}
