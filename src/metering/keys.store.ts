// What the meter of an account knows of its keys: caps of credits, which key carries on for one that was rotated, when keys end
// and when what the edge knows of them was last changed.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import { Tables } from '../core/tables.store.ts'

/** The root and all its heirs. */
const FAMILY = 'SELECT ?1 UNION ALL SELECT key_hash FROM heirs WHERE root = ?1'

/**
 * Caps of credits. Invariants: what a capped key has spent and holds in leases never grows beyond its cap; keys that replaced one
 * another share one cap; an account without caps pays nothing for them.
 */
export class KeyCaps extends Tables {
  #hasAny: boolean

  constructor(sql: SqlStorage) {
    super(sql)
    this.#hasAny = sql.exec('SELECT 1 FROM caps LIMIT 1').toArray().length > 0
  }

  /** Caps a key, what it and its predecessors spent before included; null takes the cap away. */
  put(keyHash: KeyHash, cap: MicroCredits | null): void {
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
  inherit(oldHash: KeyHash, newHash: KeyHash): void {
    this.run('INSERT INTO heirs VALUES (?, ?) ON CONFLICT DO NOTHING', newHash, this.#rootOf(oldHash))
  }

  /** What the key may still be given beyond what was spent and is held under its cap; infinite without one. */
  room(keyHash: KeyHash): number {
    if (!this.#hasAny) return Number.POSITIVE_INFINITY
    const row = this.first<{ room: number }>(
      `SELECT cap - spent - (SELECT coalesce(sum(granted - settled), 0) FROM leases
         WHERE open = 1 AND key_hash IN (${FAMILY})) AS room FROM caps WHERE key_hash = ?1`,
      this.#rootOf(keyHash),
    )
    return row === undefined ? Number.POSITIVE_INFINITY : Math.max(0, row.room)
  }

  /** What its cap lets the key still spend, what it holds included; infinite without one. */
  left(keyHash: KeyHash): number {
    if (!this.#hasAny) return Number.POSITIVE_INFINITY
    const select = 'SELECT cap - spent AS left FROM caps WHERE key_hash = ?'
    const row = this.first<{ left: number }>(select, this.#rootOf(keyHash))
    return row === undefined ? Number.POSITIVE_INFINITY : Math.max(0, row.left)
  }

  /** The key's cap, undefined without one or where the account has less than the cap leaves: its cap is not in the way. */
  limitingCap(keyHash: KeyHash, available: MicroCredits): MicroCredits | undefined {
    if (this.room(keyHash) >= available) return undefined
    const select = 'SELECT cap FROM caps WHERE key_hash = ?'
    return this.first<{ cap: number }>(select, this.#rootOf(keyHash))?.cap
  }

  add(keyHash: KeyHash, amount: MicroCredits): void {
    if (!this.#hasAny) return
    this.run('UPDATE caps SET spent = spent + ? WHERE key_hash = ?', amount, this.#rootOf(keyHash))
  }

  #rootOf(keyHash: KeyHash): string {
    const row = this.first<{ root: string }>('SELECT root FROM heirs WHERE key_hash = ?', keyHash)
    return row?.root ?? keyHash
  }
}

/** A copy in KV lives an hour, and a little longer in the memory of who read it last. */
const CHANGE_TTL_MS = 2 * 3_600_000
/** Stands for all keys of the account: a change of its plan. */
const ALL = ''

/** When the edge's copy of a key was last changed. Invariant: it is told for longer than any older copy can live. */
export class KeyChanges extends Tables {
  #lastMs: number

  constructor(sql: SqlStorage) {
    super(sql)
    this.#lastMs = sql.exec<{ at: number | null }>('SELECT max(at) AS at FROM changes').one().at ?? 0
  }

  /** Null: all keys of the account. */
  note(keyHash: KeyHash | null, nowMs: number): void {
    this.run('DELETE FROM changes WHERE at < ?', nowMs - CHANGE_TTL_MS)
    this.run('INSERT OR REPLACE INTO changes VALUES (?, ?)', keyHash ?? ALL, nowMs)
    this.#lastMs = nowMs
  }

  /** Of this key, in Unix ms; null where it is long ago. Costs nothing while nothing has changed. */
  last(keyHash: KeyHash, nowMs: number): number | null {
    if (nowMs - this.#lastMs > CHANGE_TTL_MS) return null
    return this.one<{ at: number | null }>('SELECT max(at) AS at FROM changes WHERE key_hash IN (?, ?)', keyHash, ALL)
      .at
  }
}

/** Each rotation moves those before it to the newest key, so a chain is one step; after a lost message a few. */
const STEPS_MAX = 16

/** Why a key is over, and since when. */
export interface KeyEnd {
  readonly why: 'revoked' | 'expired'
  readonly atMs: number
}

/** Invariants: a chain of rotations ends with its newest key alone; what is told again, or late, changes nothing. */
export class KeyEnds extends Tables {
  /** The key ends then; null: never. */
  put(keyHash: KeyHash, atMs: number | null): void {
    const insert = 'INSERT INTO key_ends VALUES (?, ?, NULL) ON CONFLICT DO UPDATE SET at = excluded.at'
    this.run(insert, keyHash, atMs)
  }

  /** The new key carries on for the old one, and for all that the old one carried on for. */
  replace(oldHash: KeyHash, newHash: KeyHash): void {
    this.run('UPDATE key_ends SET heir = ?2 WHERE heir = ?1', oldHash, newHash)
    const insert = 'INSERT INTO key_ends VALUES (?, NULL, ?) ON CONFLICT DO UPDATE SET heir = excluded.heir'
    this.run(insert, oldHash, newHash)
  }

  /** The newest key of the chain that a key began or belongs to. */
  newest(keyHash: KeyHash): KeyHash {
    let newest = keyHash
    for (let step = 0; step < STEPS_MAX; step++) {
      const select = 'SELECT heir FROM key_ends WHERE key_hash = ? AND heir IS NOT NULL'
      const row = this.first<{ heir: KeyHash }>(select, newest)
      if (row === undefined) break
      newest = row.heir
    }
    return newest
  }

  /** Null: the key works. */
  endOf(keyHash: KeyHash, nowMs: number): KeyEnd | null {
    const revoked = 'SELECT at FROM revoked WHERE key_hash = ?'
    const ended = 'SELECT at FROM key_ends WHERE key_hash = ? AND at <= ?'
    const [atRevoked] = this.all<{ at: number }>(revoked, keyHash)
    if (atRevoked !== undefined) return { why: 'revoked', atMs: atRevoked.at }
    const [atEnded] = this.all<{ at: number }>(ended, keyHash, nowMs)
    return atEnded === undefined ? null : { why: 'expired', atMs: atEnded.at }
  }
}
