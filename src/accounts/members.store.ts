// Members in D1. Invariants: an account with an owner keeps one; an invitation is used once; limits are counted in the
// statement that adds a row, so that concurrent requests cannot exceed them; a removed member has no session; addresses
// are stored as HMACs and encrypted.

import { batchOf } from '../core/d1.store.ts'
import type { AccountId } from '../core/ids.ts'
import { DAY_MS, HOUR_MS } from '../core/time.ts'
import {
  INVITATION_LIFE_MS,
  INVITATIONS_PER_HOUR,
  MEMBERS_MAX,
  type MemberRole,
  type MemberRow,
  type Membership,
  PENDING_MAX,
  type TeamActor,
} from './members.ts'
import { MAILING, teamEvent } from './team-events.store.ts'

/** A new row. `address` and `base`: HMACs of the address and of its normalized form. */
export interface NewMember {
  readonly id: string
  readonly account: AccountId
  readonly address: string
  readonly base: string
  readonly sealed: string
  readonly role: MemberRole
}

interface Invitation extends Membership {
  readonly until: number
}

/** Why an invitation was not added. */
export type InvitationRefusal = 'member' | 'members' | 'pending' | 'hour'

const COLUMNS = 'id, account, sealed, role, invited, invited_until, joined, seen'
const REMOVED_KEPT_MS = 365 * DAY_MS
const REMOVED_KEPT_MAX = 500
/** Mails to all variants of an address per day, for all accounts together. */
const PER_ADDRESS_MAX = 5
/** The same invitation is sent again at most this often. */
const AGAIN_EVERY_MS = HOUR_MS

/** Counts of an account. ?1: account, ?2: an hour ago. */
const ACTIVE = '(SELECT count(*) FROM members WHERE account = ?1 AND removed IS NULL)'
const PENDING = '(SELECT count(*) FROM members WHERE account = ?1 AND removed IS NULL AND joined IS NULL)'
const OF_HOUR = `(SELECT count(*) FROM team_events WHERE account = ?1 AND at > ?2 AND action IN ${MAILING})`
const OTHER_OWNERS = `(SELECT count(*) FROM members WHERE account = ?1 AND role = 'owner' AND joined IS NOT NULL
  AND removed IS NULL AND id IS NOT ?2)`
/** The row ?2 of account ?1 may stop being an owner. */
const MAY_LEAVE = `(role IS NOT 'owner' OR joined IS NULL OR ${OTHER_OWNERS} > 0)`

export class MemberStore {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  /** Current members and pending invitations, oldest first. */
  async list(account: AccountId): Promise<MemberRow[]> {
    const select = `SELECT ${COLUMNS} FROM members WHERE account = ? AND removed IS NULL ORDER BY coalesce(joined, invited), rowid`
    return (await this.#db.prepare(select).bind(account).all<MemberRow>()).results
  }

  /** The member or the pending invitation; null: unknown or removed. */
  async find(account: AccountId, id: string): Promise<MemberRow | null> {
    const select = `SELECT ${COLUMNS} FROM members WHERE account = ? AND id = ? AND removed IS NULL`
    return this.#db.prepare(select).bind(account, id).first()
  }

  /** Encrypted addresses by id, of removed members too. */
  async sealedAddresses(account: AccountId, ids: readonly string[]): Promise<{ id: string; sealed: string }[]> {
    const select = 'SELECT id, sealed FROM members WHERE account = ? AND id IN (SELECT value FROM json_each(?))'
    return (await this.#db.prepare(select).bind(account, JSON.stringify(ids)).all<{ id: string; sealed: string }>())
      .results
  }

  /** Adds a pending member within the limits. `hash`: of the token in the link. Null: added. */
  async invite(member: NewMember, hash: string, by: TeamActor, nowMs: number): Promise<InvitationRefusal | null> {
    const { id, account, address, base, sealed, role } = member
    const db = this.#db
    const counts = `SELECT ${ACTIVE} AS active, ${PENDING} AS pending, ${OF_HOUR} AS hour,
      EXISTS (SELECT 1 FROM members WHERE account = ?1 AND address = ?3 AND removed IS NULL) AS known`
    const insert = `INSERT INTO members (id, account, address, sealed, role, invited, invitation, invited_until, base)
      SELECT ?4, ?1, ?3, ?5, ?6, ?7, ?8, ?9, ?10 FROM (${counts})
      WHERE NOT known AND active < ${MEMBERS_MAX} AND pending < ${PENDING_MAX} AND hour < ${INVITATIONS_PER_HOUR}`
    const values = [account, nowMs - HOUR_MS, address]
    const [, , counted, added] = await batchOf<
      [unknown, unknown, { active: number; pending: number; known: number }, unknown, ...unknown[]]
    >(db, [
      ...this.#forget(account, nowMs),
      db.prepare(counts).bind(...values),
      db.prepare(insert).bind(...values, id, sealed, role, nowMs, hash, nowMs + INVITATION_LIFE_MS, base),
      ...teamEvent(db, { account, action: 'invite', by, target: id, detail: role }, nowMs),
    ])
    if (added.meta.changes > 0) return null
    const [{ active, pending, known } = { active: 0, pending: 0, known: 0 }] = counted.results
    if (known > 0) return 'member'
    if (active >= MEMBERS_MAX) return 'members'
    return pending >= PENDING_MAX ? 'pending' : 'hour'
  }

  /** Drops removed members after a year, or beyond a number. */
  #forget(account: AccountId, nowMs: number): readonly [D1PreparedStatement, D1PreparedStatement] {
    const db = this.#db
    const excess = `DELETE FROM members WHERE id IN (SELECT id FROM members WHERE account = ? AND removed IS NOT NULL
      ORDER BY removed DESC, id LIMIT -1 OFFSET ${REMOVED_KEPT_MAX})`
    return [
      db.prepare('DELETE FROM members WHERE account = ? AND removed < ?').bind(account, nowMs - REMOVED_KEPT_MS),
      db.prepare(excess).bind(account),
    ]
  }

  /** Replaces the link of a pending invitation. False: not pending, sent within the last hour, or too many an hour. */
  async inviteAgain(account: AccountId, id: string, hash: string, by: TeamActor, nowMs: number): Promise<boolean> {
    const db = this.#db
    const update = `UPDATE members SET invited = ?4, invitation = ?5, invited_until = ?6
      WHERE account = ?1 AND id = ?3 AND joined IS NULL AND removed IS NULL AND invited <= ?7
      AND ${OF_HOUR} < ${INVITATIONS_PER_HOUR}`
    const values = [account, nowMs - HOUR_MS, id, nowMs, hash, nowMs + INVITATION_LIFE_MS, nowMs - AGAIN_EVERY_MS]
    const [updated] = await batchOf<[unknown, ...unknown[]]>(db, [
      db.prepare(update).bind(...values),
      ...teamEvent(db, { account, action: 'invite_again', by, target: id }, nowMs),
    ])
    return updated.meta.changes > 0
  }

  /** Whether the mail of a member's last invitation may be sent: other accounts may have invited variants of the address. */
  async mayMail(id: string, nowMs: number): Promise<boolean> {
    const select = `SELECT count(*) AS mails FROM members m JOIN team_events e ON e.target = m.id
      WHERE m.base = (SELECT base FROM members WHERE id = ?) AND e.at > ? AND e.action IN ${MAILING}`
    const row = await this.#db
      .prepare(select)
      .bind(id, nowMs - DAY_MS)
      .first<{ mails: number }>()
    return (row?.mails ?? 0) <= PER_ADDRESS_MAX
  }

  /** Null: unknown, used, or revoked. */
  async invitation(hash: string): Promise<Invitation | null> {
    const select = `SELECT id AS member, account, role, invited_until AS until FROM members
      WHERE invitation = ? AND joined IS NULL AND removed IS NULL`
    return this.#db.prepare(select).bind(hash).first()
  }

  /** Uses an invitation. False: it was used, revoked, replaced or is over. */
  async join({ member, account }: Invitation, hash: string, nowMs: number): Promise<boolean> {
    const db = this.#db
    const update = `UPDATE members SET joined = ?1, invitation = NULL, invited_until = NULL
      WHERE invitation = ?2 AND invited_until > ?1 AND joined IS NULL AND removed IS NULL`
    const by = { member, keyHash: null }
    const [joined] = await batchOf<[unknown, ...unknown[]]>(db, [
      db.prepare(update).bind(nowMs, hash),
      ...teamEvent(db, { account, action: 'join', by, target: member }, nowMs),
    ])
    return joined.meta.changes > 0
  }

  /** Adds the member that signed up with the address, unless the address joined before: its role is for owners to decide. */
  async addFounder({ id, account, address, base, sealed, role }: NewMember, nowMs: number): Promise<void> {
    const db = this.#db
    const insert = `INSERT INTO members (id, account, address, sealed, role, invited, joined, base)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7 FROM signups WHERE address = ?3 AND member IS NULL
        AND NOT EXISTS (SELECT 1 FROM members WHERE account = ?2 AND address = ?3 AND joined IS NOT NULL)
      ON CONFLICT (account, address) WHERE removed IS NULL DO UPDATE SET role = excluded.role,
      joined = excluded.joined, invitation = NULL, invited_until = NULL`
    const mark = `UPDATE signups SET member = (SELECT id FROM members WHERE account = ?1 AND address = ?2
      ORDER BY removed IS NOT NULL, rowid DESC LIMIT 1)
      WHERE address = ?2 AND member IS NULL`
    await db.batch([
      db.prepare(insert).bind(id, account, address, sealed, role, nowMs, base),
      db.prepare(mark).bind(account, address),
    ])
  }

  /** Accounts of an address, the last used first. */
  async memberships(address: string): Promise<Membership[]> {
    const select = `SELECT id AS member, account, role FROM members
      WHERE address = ? AND joined IS NOT NULL AND removed IS NULL ORDER BY seen DESC, joined DESC, id LIMIT ${MEMBERS_MAX}`
    return (await this.#db.prepare(select).bind(address).all<Membership>()).results
  }

  /** Accounts of the address of a member, by name. */
  async accountsOf(member: string): Promise<Membership[]> {
    const select = `SELECT id AS member, account, role FROM members
      WHERE address = (SELECT address FROM members WHERE id = ?) AND joined IS NOT NULL AND removed IS NULL
      ORDER BY account LIMIT ${MEMBERS_MAX}`
    return (await this.#db.prepare(select).bind(member).all<Membership>()).results
  }

  /** False: unknown, pending, unchanged, or the last owner. */
  async changeRole(account: AccountId, id: string, role: MemberRole, by: TeamActor, nowMs: number): Promise<boolean> {
    const db = this.#db
    const update = `UPDATE members SET role = ?3
      WHERE account = ?1 AND id = ?2 AND removed IS NULL AND role <> ?3 AND ${MAY_LEAVE}`
    const [changed] = await batchOf<[unknown, ...unknown[]]>(db, [
      db.prepare(update).bind(account, id, role),
      ...teamEvent(db, { account, action: 'change_role', by, target: id, detail: role }, nowMs),
    ])
    return changed.meta.changes > 0
  }

  /** Removes a member and ends the sessions, or revokes an invitation. False: unknown, or the last owner. */
  async remove({ account, id, joined }: MemberRow, by: TeamActor, nowMs: number): Promise<boolean> {
    const db = this.#db
    const update = `UPDATE members SET removed = ?3, invitation = NULL
      WHERE account = ?1 AND id = ?2 AND removed IS NULL AND ${MAY_LEAVE}`
    const action = joined === null ? 'revoke_invitation' : 'remove'
    const [removed] = await batchOf<[unknown, ...unknown[]]>(db, [
      db.prepare(update).bind(account, id, nowMs),
      ...teamEvent(db, { account, action, by, target: id }, nowMs),
      db
        .prepare('DELETE FROM sessions WHERE member IN (SELECT id FROM members WHERE id = ? AND removed IS NOT NULL)')
        .bind(id),
    ])
    return removed.meta.changes > 0
  }
}
