// A console session, and its HTTP form. Invariants: the cookie goes only to this host, over TLS, and is hidden from scripts;
// a request from a page of a different origin never uses a session.

import type { AccountId } from '../../core/ids.ts'
import type { KeyKind } from '../format.ts'
import type { MemberRole, SessionMember } from '../members.ts'
import type { StaffRole } from '../staff.ts'

export interface SessionOrigin {
  readonly kind: 'admin' | 'staff' | 'key' | 'member'
  /** Of a member's session: the key with which it acts. */
  readonly tokenHash: string
  /** Null: an operator. */
  readonly account: AccountId | null
  /** Id of the member; null: not a member. */
  readonly member: string | null
  /** True if an invitation began it: it opens no other account of the member. Default: false. */
  readonly isInvited?: boolean
}

/** Browser and place at sign-in; empty if unknown. */
export interface SessionClient {
  readonly browser: string
  readonly place: string
}

export interface Session extends Required<Omit<SessionOrigin, 'member'>> {
  readonly id: string
  /** Unix ms. */
  readonly expires: number
  readonly member: SessionMember | null
}

export interface ListedSession extends Omit<SessionOrigin, 'isInvited'>, SessionClient {
  readonly id: string
  readonly created: number
  readonly expires: number
  readonly seen: number
}

/** Sessions of an account: all, those of a member, or those of a key without a member. */
export interface SessionScope {
  readonly account: AccountId
  readonly member?: string
  readonly keyHash?: string
}

/** The signed-in user. */
export type SessionUser =
  | { readonly role: 'operator'; readonly name: string; readonly staff_role: StaffRole; readonly expires: number }
  | {
      readonly role: 'owner'
      readonly account: AccountId
      readonly kind: KeyKind
      readonly expires: number
      /** Null: signed in with a key. */
      readonly member_role: MemberRole | null
      /** Number of accounts that the member can switch between. */
      readonly accounts: number
    }

/** `__Host-` cookies require Secure, Path=/ and no domain. Browsers also accept them from localhost. */
const COOKIE = '__Host-weir'
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'

/** 256 random bits in hex. */
const TOKEN = /^[0-9a-f]{64}$/

/** Token of a Cookie header; null if missing, malformed or ambiguous. */
export function sessionToken(cookies: string | null): string | null {
  const [token = '', ...others] = (cookies ?? '').split(';').flatMap((cookie) => {
    const [name, value = ''] = cookie.trim().split('=', 2)
    return name === COOKIE ? [value] : []
  })
  return others.length === 0 && TOKEN.test(token) ? token : null
}

export const sessionCookie = (token: string, seconds: number) => `${COOKIE}=${token}; Max-Age=${seconds}; ${ATTRIBUTES}`
export const noSessionCookie = () => sessionCookie('', 0)

interface PageRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
}

/**
 * True for a request from a page of this host or from the address bar. Browsers send `Origin` with every method except
 * GET and HEAD, and `Sec-Fetch-Site` always. The scheme is not compared, because a proxy may terminate TLS. The cookie
 * itself requires TLS.
 */
export function isSameOrigin({ method, url, headers }: PageRequest): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') return false
  const origin = headers.get('origin')
  if (origin === null) return method === 'GET' || method === 'HEAD'
  return hostOf(origin) !== null && hostOf(origin) === hostOf(url)
}

const hostOf = (url: string) => /^https?:\/\/([^/?#]+)/i.exec(url)?.[1]?.toLowerCase() ?? null
