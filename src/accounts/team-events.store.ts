// The audit log of an account's members and sessions in D1. Invariants: an event is written in the transaction of its
// change, if and only if the change happened; the log is bounded, but has all invitations of the last day, because their
// number is limited.

import type { AccountId } from '../core/ids.ts'
import { DAY_MS } from '../core/time.ts'
import type { TeamAction, TeamActor, TeamEventRow } from './members.ts'

export interface TeamEvent {
  readonly account: AccountId
  readonly action: TeamAction
  readonly by: TeamActor
  /** Member concerned. */
  readonly target?: string | null
  /** Hash of the key whose session ended. */
  readonly targetKey?: string | null
  /** Role. */
  readonly detail?: string | null
}

const KEPT_MS = 365 * DAY_MS
const KEPT_MAX = 1_000
/** Actions that send a mail, as a list in SQL. */
export const MAILING = "('invite', 'invite_again')"

/** Statements that follow the statement of the change, in the same batch. */
export function teamEvent(db: D1Database, event: TeamEvent, nowMs: number): readonly D1PreparedStatement[] {
  const { account, action, by, target = null, targetKey = null, detail = null } = event
  const insert = `INSERT INTO team_events (account, at, action, member, key_hash, target, target_key, detail)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, iif(?3 = 'end_sessions', CAST(changes() AS TEXT), ?8) WHERE changes() > 0`
  const prune = `DELETE FROM team_events WHERE account = ?1 AND (at < ?2 OR (number <=
    (SELECT number FROM team_events WHERE account = ?1 ORDER BY number DESC LIMIT 1 OFFSET ${KEPT_MAX})
    AND NOT (action IN ${MAILING} AND at > ?3)))`
  const keyHash = by.member === null ? by.keyHash : null
  return [
    db.prepare(insert).bind(account, nowMs, action, by.member, keyHash, target, targetKey, detail),
    db.prepare(prune).bind(account, nowMs - KEPT_MS, nowMs - DAY_MS),
  ]
}

/** Newest first. `before`: a number. */
export async function teamEvents(
  db: D1Database,
  account: AccountId,
  before: number,
  limit: number,
): Promise<TeamEventRow[]> {
  const select = `SELECT number, at, action, member, key_hash AS keyHash, target, target_key AS targetKey, detail
    FROM team_events WHERE account = ? AND number < ? ORDER BY number DESC LIMIT ?`
  return (await db.prepare(select).bind(account, before, limit).all<TeamEventRow>()).results
}
