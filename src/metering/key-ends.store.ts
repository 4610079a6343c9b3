// When keys of an account end, and which key carries on for each, in the meter of the account. Invariants: a chain of rotations
// has ended only when its newest key has; what was told again, or in another order, changes nothing.

import { Tables } from '../core/tables.store.ts'

/** Each rotation moves those before it to the newest key, so a chain is one step; after a lost message a few. */
const STEPS_MOST = 16

/** Why a key is over, and since when. */
export interface KeyEnd {
  readonly why: 'revoked' | 'expired'
  readonly atMs: number
}

export class KeyEnds extends Tables {
  /** The key ends then; null: never. */
  put(keyHash: string, atMs: number | null): void {
    const insert = 'INSERT INTO key_ends VALUES (?, ?, NULL) ON CONFLICT DO UPDATE SET at = excluded.at'
    this.run(insert, keyHash, atMs)
  }

  /** The new key carries on for the old one, and for all that the old one carried on for. */
  replace(oldHash: string, newHash: string): void {
    this.run('UPDATE key_ends SET heir = ?2 WHERE heir = ?1', oldHash, newHash)
    const insert = 'INSERT INTO key_ends VALUES (?, NULL, ?) ON CONFLICT DO UPDATE SET heir = excluded.heir'
    this.run(insert, oldHash, newHash)
  }

  /** The newest key of the chain that a key began or belongs to. */
  newest(keyHash: string): string {
    let newest = keyHash
    for (let step = 0; step < STEPS_MOST; step++) {
      const select = 'SELECT heir FROM key_ends WHERE key_hash = ? AND heir IS NOT NULL'
      const row = this.first<{ heir: string }>(select, newest)
      if (row === undefined) break
      newest = row.heir
    }
    return newest
  }

  /** Null: the key works. */
  endOf(keyHash: string, nowMs: number): KeyEnd | null {
    const revoked = 'SELECT at FROM revoked WHERE key_hash = ?'
    const ended = 'SELECT at FROM key_ends WHERE key_hash = ? AND at <= ?'
    const [atRevoked] = this.all<{ at: number }>(revoked, keyHash)
    if (atRevoked !== undefined) return { why: 'revoked', atMs: atRevoked.at }
    const [atEnded] = this.all<{ at: number }>(ended, keyHash, nowMs)
    return atEnded === undefined ? null : { why: 'expired', atMs: atEnded.at }
  }
}
