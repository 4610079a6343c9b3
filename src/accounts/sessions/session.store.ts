// Sessions in D1. Invariants: a session is only as valid as the token or key it was created with, which is checked on
// each use; an expired session counts as missing; each token and key has a bounded number of sessions, of which the
// oldest are deleted.

import { sha256 } from '../digest.client.ts'

export interface SessionOrigin {
  readonly kind: 'admin' | 'staff' | 'key'
  readonly tokenHash: string
}

interface Session extends SessionOrigin {
  /** Unix ms. */
  readonly expires: number
}

/** An operator signs in once per working day, an owner once per day. */
const LIFE_MS = { admin: 12 * 3_600_000, staff: 12 * 3_600_000, key: 24 * 3_600_000 }
/** Maximum number of sessions per token or key. */
const SESSIONS_MAX = 50

/** Creates a session. The token is stored only in the cookie. */
export async function createSession(
  db: D1Database,
  { kind, tokenHash }: SessionOrigin,
  nowMs: number,
): Promise<{ readonly token: string; readonly seconds: number; readonly expires: number }> {
  const random = crypto.getRandomValues(new Uint8Array(32))
  const token = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const expires = nowMs + LIFE_MS[kind]
  await db.batch([
    db.prepare('DELETE FROM sessions WHERE expires <= ?').bind(nowMs),
    db
      .prepare('INSERT INTO sessions (hash, kind, token_hash, created, expires) VALUES (?, ?, ?, ?, ?)')
      .bind(await sha256(token), kind, tokenHash, nowMs, expires),
    db
      .prepare(
        `DELETE FROM sessions WHERE hash IN
         (SELECT hash FROM sessions WHERE token_hash = ? ORDER BY created DESC, hash LIMIT -1 OFFSET ?)`,
      )
      .bind(tokenHash, SESSIONS_MAX),
  ])
  return { token, seconds: LIFE_MS[kind] / 1000, expires }
}

/** Null: unknown, expired or signed out. */
export async function findSession(db: D1Database, token: string, nowMs: number): Promise<Session | null> {
  const select = 'SELECT kind, token_hash AS tokenHash, expires FROM sessions WHERE hash = ? AND expires > ?'
  return db
    .prepare(select)
    .bind(await sha256(token), nowMs)
    .first<Session>()
}

export async function endSession(db: D1Database, token: string): Promise<void> {
  await db
    .prepare('DELETE FROM sessions WHERE hash = ?')
    .bind(await sha256(token))
    .run()
}
