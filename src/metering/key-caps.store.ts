// Caps of credits per key, in the meter of its account. Laws: what a capped key has spent and holds in leases never
// grows beyond its cap; keys that replaced one another share one cap; an account without caps pays nothing for them.

import type { MicroCredits } from '../core/amount.ts'
import { Tables } from '../core/tables.store.ts'

/** The root and all its heirs. */
const FAMILY = 'SELECT ?1 UNION ALL SELECT key_hash FROM heirs WHERE root = ?1'

export class KeyCaps extends Tables {
  #hasAny: boolean

  constructor(sql: SqlStorage) {
    super(sql)
    this.#hasAny = sql.exec('SELECT 1 FROM caps LIMIT 1').toArray().length > 0
  }

  /** Caps a key, what it and its predecessors spent before included; null takes the cap away. */
  put(keyHash: string, cap: MicroCredits | null): void {
    const root = this.#rootOf(keyHash)
    if (cap === null) {
      this.run('DELETE FROM caps WHERE key_hash = ?', root)
      return
    }
    this.run(
      `INSERT INTO caps SELECT ?1, ?2, coalesce(sum(amount), 0) FROM usage WHERE key_hash IN (${FAMILY})
       ON CONFLICT DO UPDATE SET cap = excluded.cap`,
      root,
      cap,
    )
    this.#hasAny = true
  }

  /** From now on the new key shares the cap of the old one, now or later; again is the same. */
  inherit(oldHash: string, newHash: string): void {
    this.run('INSERT INTO heirs VALUES (?, ?) ON CONFLICT DO NOTHING', newHash, this.#rootOf(oldHash))
  }

  /** What the key may still be given beyond what was spent and is held under its cap; infinite without one. */
  room(keyHash: string): number {
    if (!this.#hasAny) return Number.POSITIVE_INFINITY
    const row = this.first<{ room: number }>(
      `SELECT cap - spent - (SELECT coalesce(sum(granted - settled), 0) FROM leases
         WHERE open = 1 AND key_hash IN (${FAMILY})) AS room FROM caps WHERE key_hash = ?1`,
      this.#rootOf(keyHash),
    )
    return row === undefined ? Number.POSITIVE_INFINITY : Math.max(0, row.room)
  }

  /** What its cap lets the key still spend, what it holds included; infinite without one. */
  left(keyHash: string): number {
    if (!this.#hasAny) return Number.POSITIVE_INFINITY
    const select = 'SELECT cap - spent AS left FROM caps WHERE key_hash = ?'
    const row = this.first<{ left: number }>(select, this.#rootOf(keyHash))
    return row === undefined ? Number.POSITIVE_INFINITY : Math.max(0, row.left)
  }

  /** The key's cap, undefined without one or where the account has less than the cap leaves: its cap is not in the way. */
  inTheWay(keyHash: string, available: MicroCredits): MicroCredits | undefined {
    if (this.room(keyHash) >= available) return undefined
    const select = 'SELECT cap FROM caps WHERE key_hash = ?'
    return this.first<{ cap: number }>(select, this.#rootOf(keyHash))?.cap
  }

  /** The key spent so much more. */
  add(keyHash: string, amount: MicroCredits): void {
    if (!this.#hasAny) return
    this.run('UPDATE caps SET spent = spent + ? WHERE key_hash = ?', amount, this.#rootOf(keyHash))
  }

  #rootOf(keyHash: string): string {
    const row = this.first<{ root: string }>('SELECT root FROM heirs WHERE key_hash = ?', keyHash)
    return row?.root ?? keyHash
  }
}
