// HTTP form of a console session. Invariants: the cookie goes only to this host, over TLS, and is hidden from scripts;
// a request from a page of a different origin never uses a session.

import type { AccountId } from '../../core/ids.ts'
import type { StaffRole } from '../staff.ts'

/** The signed-in user. */
export type SessionUser =
  | { readonly role: 'operator'; readonly name: string; readonly staff_role: StaffRole; readonly expires: number }
  | { readonly role: 'owner'; readonly account: AccountId; readonly expires: number }

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
