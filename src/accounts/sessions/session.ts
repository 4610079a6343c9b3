// A session of the console as HTTP carries it. Laws: its cookie goes to this host alone, over a connection that nobody
// reads, and to no script; a request that a page of another site or port made is no request of a session.

import type { AccountId } from '../../core/ids.ts'
import type { StaffRole } from '../staff.ts'

/** Who is signed in. */
export type SessionUser =
  | { readonly role: 'operator'; readonly name: string; readonly staff_role: StaffRole; readonly expires: number }
  | { readonly role: 'owner'; readonly account: AccountId; readonly expires: number }

/** `__Host-`: browsers take it with Secure and Path=/ alone, and without a domain. They take it from localhost, too. */
const COOKIE = '__Host-weir'
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'

/** 256 random bits in hex. */
const TOKEN = /^[0-9a-f]{64}$/

/** The token of a Cookie header; null where there is none of its form, or more than one. */
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
 * Whether a page of this host asks, or a person who opens the address. Browsers send `Origin` with everything but GET and
 * HEAD, and say of all requests where they come from; the scheme is left to the cookie, since a proxy may end TLS.
 */
export function isSameOrigin({ method, url, headers }: PageRequest): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') return false
  const origin = headers.get('origin')
  if (origin === null) return method === 'GET' || method === 'HEAD'
  return hostOf(origin) !== null && hostOf(origin) === hostOf(url)
}

const hostOf = (url: string) => /^https?:\/\/([^/?#]+)/i.exec(url)?.[1]?.toLowerCase() ?? null
