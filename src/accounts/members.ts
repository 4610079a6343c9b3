// Members of an account and their roles. Invariant: a role only restricts a member; keys of the account have none.

import type { Failure } from '../core/failure.ts'
import type { AccountId } from '../core/ids.ts'

/** `owner` does everything, `developer` runs the data side, `billing` pays. */
export const MEMBER_ROLES = ['owner', 'developer', 'billing'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

/** The member behind a session. */
export interface SessionMember {
  readonly id: string
  readonly role: MemberRole
}

/** A member as stored. Times are Unix ms. */
export interface MemberRow extends SessionMember {
  readonly account: AccountId
  /** Encrypted address. */
  readonly sealed: string
  readonly invited: number
  /** End of the invitation; null: it was used, or there was none. */
  readonly invited_until: number | null
  /** Null: the invitation is pending. */
  readonly joined: number | null
  readonly seen: number | null
}

/** An account that an address is a member of. */
export interface Membership {
  readonly member: string
  readonly account: AccountId
  readonly role: MemberRole
}

/** Pending invitations included. */
export const MEMBERS_MAX = 100
export const PENDING_MAX = 50
/** Invitations per account and hour, repeated ones included. */
export const INVITATIONS_PER_HOUR = 20
export const INVITATION_LIFE_MS = 7 * 86_400_000

export const TEAM_ACTIONS = [
  'invite',
  'invite_again',
  'revoke_invitation',
  'join',
  'change_role',
  'remove',
  'end_session',
  'end_sessions',
] as const
export type TeamAction = (typeof TEAM_ACTIONS)[number]

/** Who acted: a member, or a key without a member. */
export interface TeamActor {
  readonly member: string | null
  readonly keyHash: string | null
}

/** Who changed something of an account: first key in the rotation chain of the calling key, and the member, if there is one. */
export interface ChangeAuthor {
  readonly root: string
  readonly member: string | null
}

/** `detail`: a role, or a number of sessions. */
export interface TeamEventRow {
  readonly number: number
  readonly at: number
  readonly action: TeamAction
  readonly member: string | null
  readonly keyHash: string | null
  readonly target: string | null
  readonly targetKey: string | null
  readonly detail: string | null
}

const quoted = (roles: readonly MemberRole[]) => roles.map((role) => `"${role}"`).join(' or ')

/** Failure of a member whose role is not one of `needed`, else null. Callers without a member have no role. */
export function roleRefusal(
  member: SessionMember | null | undefined,
  needed: readonly MemberRole[],
  what = 'This call',
): Failure | null {
  if (!member || member.role === 'owner' || needed.includes(member.role)) return null
  const why = `${what} needs the role ${quoted([...needed, 'owner'])}; yours is "${member.role}". Ask an owner of the account.`
  return { kind: 'not_entitled', why }
}
