// Sessions in D1. Invariants: a session is only as valid as the token, key or member that it was created for, which is
// checked on each use; an expired session counts as missing; each token, key and member has a bounded number of
// sessions, of which the oldest are deleted.

import { randomBase58 } from '../../core/base58.ts'
import { batchOf } from '../../core/d1.store.ts'
import { sha256 } from '../digest.client.ts'
import type { MemberRole, TeamActor } from '../members.ts'
import { teamEvent } from '../team-events.store.ts'
import type { ListedSession, Session, SessionClient, SessionOrigin, SessionScope } from './session.ts'

const HOUR_MS = 3_600_000
/** An operator signs in once per working day, an owner once per day. */
const LIFE_MS = { admin: 12 * HOUR_MS, staff: 12 * HOUR_MS, key: 24 * HOUR_MS, member: 24 * HOUR_MS }
/** Maximum number of sessions per token, key or member. */
const SESSIONS_MAX = 50
/** Maximum length of a list. */
const LISTED_MAX = 500
/** A use is recorded at most this often. */
const SEEN_EVERY_MS = 60_000
const ID_LENGTH = 16

/** Creates a session. The token is stored only in the cookie. */
export async function createSession(
  db: D1Database,
  { kind, tokenHash, account, member, isInvited = false }: SessionOrigin,
  { browser, place }: SessionClient,
  nowMs: number,
): Promise<{ readonly token: string; readonly seconds: number; readonly expires: number }> {
  const random = crypto.getRandomValues(new Uint8Array(32))
  const token = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const id = `s-${randomBase58(ID_LENGTH, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))}`
  const expires = nowMs + LIFE_MS[kind]
  const insert = `INSERT INTO sessions (hash, id, kind, token_hash, account, member, created, expires, seen, browser, place, invited)
    VALUES (?, ?, ?, ?, ?, ?, ?7, ?, ?7, ?, ?, ?)`
  await db.batch([
    db.prepare('DELETE FROM sessions WHERE expires <= ?').bind(nowMs),
    db
      .prepare(insert)
      .bind(...[await sha256(token), id, kind, tokenHash, account, member, nowMs, expires, browser, place, +isInvited]),
    db
      .prepare(
        `DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE token_hash = ? AND member IS ?
         ORDER BY created DESC, hash LIMIT -1 OFFSET ?)`,
      )
      .bind(tokenHash, member, SESSIONS_MAX),
    db.prepare('UPDATE members SET seen = ? WHERE id = ?').bind(nowMs, member),
  ])
  return { token, seconds: LIFE_MS[kind] / 1000, expires }
}

/** Null: unknown, expired, ended, or of a member who was removed. */
export async function findSession(db: D1Database, token: string, nowMs: number): Promise<Session | null> {
  const select = `SELECT s.id, s.kind, s.token_hash AS tokenHash, s.account, s.expires, s.seen, s.invited, m.id AS member, m.role
    FROM sessions s LEFT JOIN members m ON m.id = s.member AND m.joined IS NOT NULL AND m.removed IS NULL
    WHERE s.hash = ? AND s.expires > ?`
  const row = await db
    .prepare(select)
    .bind(await sha256(token), nowMs)
    .first<
      Omit<Session, 'member' | 'isInvited'> & {
        seen: number
        invited: number
        member: string | null
        role: MemberRole | null
      }
    >()
  if (row === null) return null
  const { seen, invited, member: id, role, ...session } = row
  const member = id === null || role === null ? null : { id, role }
  if (session.kind === 'member' && member === null) return null
  // Only lists show it, so a lost write does not matter.
  if (nowMs - seen >= SEEN_EVERY_MS) await noteUse(db, session.id, id, nowMs).catch(() => {})
  return { ...session, isInvited: invited === 1, member }
}

async function noteUse(db: D1Database, id: string, member: string | null, nowMs: number): Promise<void> {
  await db.batch([
    db.prepare('UPDATE sessions SET seen = ? WHERE id = ?').bind(nowMs, id),
    db.prepare('UPDATE members SET seen = ? WHERE id = ?').bind(nowMs, member),
  ])
}

export async function endSession(db: D1Database, token: string): Promise<void> {
  await db
    .prepare('DELETE FROM sessions WHERE hash = ?')
    .bind(await sha256(token))
    .run()
}

const IN_SCOPE = `account = ?1 AND expires > ?2 AND (?3 IS NULL OR member = ?3)
  AND (?4 IS NULL OR (token_hash = ?4 AND member IS NULL))`
const scopeValues = ({ account, member, keyHash }: SessionScope, nowMs: number) => [
  account,
  nowMs,
  member ?? null,
  keyHash ?? null,
]

/** Last used first, without those whose key has ended. */
export async function listSessions(db: D1Database, scope: SessionScope, nowMs: number): Promise<ListedSession[]> {
  const select = `SELECT id, kind, token_hash AS tokenHash, account, member, created, expires, seen, browser, place
    FROM sessions WHERE ${IN_SCOPE} AND NOT EXISTS (SELECT 1 FROM keys
      WHERE keys.hash = token_hash AND (keys.revoked IS NOT NULL OR keys.expires <= ?2)) ORDER BY seen DESC, id LIMIT ${LISTED_MAX}`
  const found = await db
    .prepare(select)
    .bind(...scopeValues(scope, nowMs))
    .all<ListedSession>()
  return found.results
}

/** Ends one session of the scope and records who did it. False: there is none with this id. */
export async function endSessionById(
  db: D1Database,
  scope: SessionScope,
  id: string,
  by: TeamActor,
  nowMs: number,
): Promise<boolean> {
  const where = `${IN_SCOPE} AND id = ?5`
  const values = [...scopeValues(scope, nowMs), id]
  const select = `SELECT member, token_hash AS tokenHash FROM sessions WHERE ${where}`
  const session = await db
    .prepare(select)
    .bind(...values)
    .first<Pick<ListedSession, 'member' | 'tokenHash'>>()
  if (session === null) return false
  const { member, tokenHash } = session
  const target = { target: member, targetKey: member === null ? tokenHash : null }
  const [ended] = await batchOf<[unknown, ...unknown[]]>(db, [
    db.prepare(`DELETE FROM sessions WHERE ${where}`).bind(...values),
    ...teamEvent(db, { account: scope.account, action: 'end_session', by, ...target }, nowMs),
  ])
  return ended.meta.changes > 0
}

/** Ends all sessions of the scope except one, and returns their number. `except`: null for none. */
export async function endOtherSessions(
  db: D1Database,
  scope: SessionScope,
  except: string | null,
  by: TeamActor,
  nowMs: number,
): Promise<number> {
  const [ended] = await batchOf<[unknown, ...unknown[]]>(db, [
    db.prepare(`DELETE FROM sessions WHERE ${IN_SCOPE} AND id IS NOT ?5`).bind(...scopeValues(scope, nowMs), except),
    ...teamEvent(db, { account: scope.account, action: 'end_sessions', by }, nowMs),
  ])
  return ended.meta.changes
}
