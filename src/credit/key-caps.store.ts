// Caps of credits per key, in the meter of its account. Law: what a capped key has spent and holds in leases never
// grows beyond its cap; an account without caps pays nothing for them.

import type { MicroCredits } from './meter-api.ts'

const TABLES = `
  CREATE TABLE IF NOT EXISTS caps (
    key_hash TEXT PRIMARY KEY, cap INTEGER NOT NULL CHECK (cap >= 0), spent INTEGER NOT NULL) STRICT;`

export class KeyCaps {
  readonly #sql: SqlStorage
  #hasAny: boolean

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(TABLES)
    this.#hasAny = sql.exec('SELECT 1 FROM caps LIMIT 1').toArray().length > 0
  }

  /** Caps a key, what it spent before included; null takes the cap away. */
  put(keyHash: string, cap: MicroCredits | null): void {
    if (cap === null) {
      this.#sql.exec('DELETE FROM caps WHERE key_hash = ?', keyHash)
      return
    }
    this.#sql.exec(
      `INSERT INTO caps SELECT ?1, ?2, coalesce(sum(amount), 0) FROM usage WHERE key_hash = ?1
       ON CONFLICT DO UPDATE SET cap = excluded.cap`,
      keyHash,
      cap,
    )
    this.#hasAny = true
  }

  /** What the key may still be given beyond what it has spent and holds; infinite without a cap. */
  room(keyHash: string): number {
    if (!this.#hasAny) return Number.POSITIVE_INFINITY
    const row = this.#sql
      .exec<{ room: number }>(
        `SELECT cap - spent - (SELECT coalesce(sum(granted - settled), 0) FROM leases WHERE open = 1 AND key_hash = ?1)
         AS room FROM caps WHERE key_hash = ?1`,
        keyHash,
      )
      .toArray()[0]
    return row === undefined ? Number.POSITIVE_INFINITY : Math.max(0, row.room)
  }

  /** The key spent so much more. */
  add(keyHash: string, amount: MicroCredits): void {
    if (this.#hasAny) this.#sql.exec('UPDATE caps SET spent = spent + ? WHERE key_hash = ?', amount, keyHash)
  }
}
