// Key data of an account's meter: spending caps, successors, expiry, and the last change of each key's record.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import { Tables } from '../core/tables.store.ts'

/** A rotation chain's first key (the root) and all its successors. */
const FAMILY = 'SELECT ?1 UNION ALL SELECT key_hash FROM heirs WHERE root = ?1'

/**
 * Spending caps. Invariants: spending plus leases of a capped key never exceed its cap, except for stream minutes that
 * were served before they were paid; a rotation chain shares one cap; if the account has no caps, no decision reads this
 * table.
 */
export class KeyCaps extends Tables {
  #hasAny: boolean

  constructor(sql: SqlStorage) {
    super(sql)
    this.#hasAny = sql.exec('SELECT 1 FROM caps LIMIT 1').toArray().length > 0
  }

  /** Caps a key's total spending, including what its chain has already spent; null removes the cap. */
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

  /** The key's chain has spent at least this much. */
  raiseSpent(keyHash: KeyHash, spent: MicroCredits): void {
    this.run('UPDATE caps SET spent = max(spent, ?) WHERE key_hash = ?', spent, this.#rootOf(keyHash))
  }

  /** The cap of the key's rotation chain; null: none. */
  capOf(keyHash: KeyHash): MicroCredits | null {
    const select = 'SELECT cap FROM caps WHERE key_hash = ?'
    return this.first<{ cap: number }>(select, this.#rootOf(keyHash))?.cap ?? null
  }

  /** The new key shares the old one's current or future cap. Idempotent. */
  inherit(oldHash: KeyHash, newHash: KeyHash): void {
    this.run('INSERT INTO heirs VALUES (?, ?) ON CONFLICT DO NOTHING', newHash, this.#rootOf(oldHash))
  }

  /** Amount that may still be granted under the cap, after spending and leases; infinite if there is no cap. */
  room(keyHash: KeyHash): number {
    if (!this.#hasAny) return Number.POSITIVE_INFINITY
    const row = this.first<{ room: number }>(
      `SELECT cap - spent - (SELECT coalesce(sum(granted - settled), 0) FROM leases
         WHERE open = 1 AND key_hash IN (${FAMILY})) AS room FROM caps WHERE key_hash = ?1`,
      this.#rootOf(keyHash),
    )
    return row === undefined ? Number.POSITIVE_INFINITY : Math.max(0, row.room)
  }

  /** Amount the key may still spend under its cap, including leases; infinite if there is no cap. */
  left(keyHash: KeyHash): number {
    if (!this.#hasAny) return Number.POSITIVE_INFINITY
    const select = 'SELECT cap - spent AS left FROM caps WHERE key_hash = ?'
    const row = this.first<{ left: number }>(select, this.#rootOf(keyHash))
    return row === undefined ? Number.POSITIVE_INFINITY : Math.max(0, row.left)
  }

  /** The key's cap if it is the limiting factor. Undefined if there is no cap, or if the account has less. */
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

/** A copy in KV lives one hour, and slightly longer in an isolate's cache. */
const CHANGE_TTL_MS = 2 * 3_600_000
/** Means all keys of the account, for example after a plan change. */
const ALL = ''

/**
 * Time when a key's record last changed, so that the edge can discard older copies. Invariant: the change is reported
 * for longer than any older copy can live.
 */
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

  /** Unix ms of the last change of this key; null if no change is recent. Reads nothing while nothing has changed. */
  last(keyHash: KeyHash, nowMs: number): number | null {
    if (nowMs - this.#lastMs > CHANGE_TTL_MS) return null
    return this.one<{ at: number | null }>('SELECT max(at) AS at FROM changes WHERE key_hash IN (?, ?)', keyHash, ALL)
      .at
  }
}

/** Each rotation points older keys at the newest one, so a chain has one step, or a few if a message was lost. */
const STEPS_MAX = 16

/** Reason and time of a key's end. */
export interface KeyEnd {
  readonly why: 'revoked' | 'expired'
  readonly atMs: number
}

/**
 * Revocation and expiry of keys. Invariants: a rotation chain ends with its newest key; repeated and late updates
 * change nothing.
 */
export class KeyEnds extends Tables {
  /** Sets the key's expiry; null: never. */
  put(keyHash: KeyHash, atMs: number | null): void {
    const insert = 'INSERT INTO key_ends VALUES (?, ?, NULL) ON CONFLICT DO UPDATE SET at = excluded.at'
    this.run(insert, keyHash, atMs)
  }

  /** Expiry and successor of the key; null: never, and none. */
  of(keyHash: KeyHash): { readonly at: number | null; readonly heir: KeyHash | null } {
    const row = this.first<{ at: number | null; heir: KeyHash | null }>(
      'SELECT at, heir FROM key_ends WHERE key_hash = ?',
      keyHash,
    )
    return row ?? { at: null, heir: null }
  }

  /** The new key succeeds the old one and all its predecessors. */
  replace(oldHash: KeyHash, newHash: KeyHash): void {
    this.run('UPDATE key_ends SET heir = ?2 WHERE heir = ?1', oldHash, newHash)
    const insert = 'INSERT INTO key_ends VALUES (?, NULL, ?) ON CONFLICT DO UPDATE SET heir = excluded.heir'
    this.run(insert, oldHash, newHash)
  }

  /** Newest key of the chain. */
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

  /** Null: the key is active. */
  endOf(keyHash: KeyHash, nowMs: number): KeyEnd | null {
    const revoked = 'SELECT at FROM revoked WHERE key_hash = ?'
    const ended = 'SELECT at FROM key_ends WHERE key_hash = ? AND at <= ?'
    const [atRevoked] = this.all<{ at: number }>(revoked, keyHash)
    if (atRevoked !== undefined) return { why: 'revoked', atMs: atRevoked.at }
    const [atEnded] = this.all<{ at: number }>(ended, keyHash, nowMs)
    return atEnded === undefined ? null : { why: 'expired', atMs: atEnded.at }
  }
}
