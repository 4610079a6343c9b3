// Fetches the stream tokens of the live page. A signed-in owner pays for the stream. If there is no session or it has
// ended, the operator's live account pays. Invariants: tokens stay in memory; a token is replaced before it expires,
// and after the gateway has rejected it.

import { request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { refreshVisitor, visitor } from '../session.dom.ts'
import type { ServerClock } from './page-time.ts'
import { pageNow } from './runtime.dom.ts'
import type { StreamAccess } from './stream-connection.ts'
import { CONNECTION } from './strings.ts'

/** Tokens that expire sooner are replaced. */
const EXPIRY_MARGIN_MS = 30_000
const OWN_MINUTES = 60
/** Wait after a 429: too many requests, or the visitor budget is used up for now. */
const BUSY_MS = 15_000
const retryDelay = (status: number) => (status === 429 ? { waitMs: BUSY_MS } : {})

let cachedToken: { readonly token: string; readonly untilMs: number } | null = null

/** `onCoins` receives the coins that the token allows, null for all. */
export async function fetchStreamAccess(
  isFresh: boolean,
  clock: ServerClock,
  onCoins: (coins: readonly string[] | null) => void,
): Promise<StreamAccess> {
  if (typeof WebSocket === 'undefined')
    return {
      ok: false,
      reason: CONNECTION.noWebSocket,
      isTransient: false,
    }
  if (!navigator.onLine) return { ok: false, reason: CONNECTION.offline, isTransient: true }
  if (isFresh || cachedToken === null || cachedToken.untilMs < pageNow()) {
    if (visitor.value === 'unknown') await refreshVisitor()
    const user = visitor.value === 'unknown' ? null : visitor.value
    // Other members watch the page as visitors do.
    const isOwner = user?.role === 'owner' && user.member_role !== 'billing'
    const sentMs = pageNow()
    const own = isOwner
      ? await request<Responses['makeStreamToken']>('POST', '/platform/stream-tokens', { minutes: OWN_MINUTES })
      : null
    const isExpired = own !== null && !own.ok && own.error.status === 401
    const result =
      own === null || isExpired ? await request<Responses['makeStreamToken']>('POST', '/live/token', {}) : own
    if (!result.ok) {
      const { status, message } = result.error
      return {
        ok: false,
        reason: message,
        isTransient: status === 0 || status === 429 || status >= 500,
        ...retryDelay(status),
      }
    }
    const { token, expires, time, coins } = result.value
    const rejection = isFresh ? await checkToken(token) : null
    if (rejection !== null) return rejection
    clock.sync(time, sentMs, pageNow())
    onCoins(coins)
    cachedToken = { token, untilMs: pageNow() + expires - time - EXPIRY_MARGIN_MS }
  }
  return { ok: true, endpoint: { url: location.origin, key: cachedToken.token } }
}

/** Browsers hide why a socket did not open, so this sends the same request over HTTP. Null if the token works. */
async function checkToken(token: string): Promise<StreamAccess | null> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const result = await fetch('/info', { method: 'POST', headers, body: '{"type":"perpDexs"}' }).catch(() => null)
  if (result === null || result.ok || result.status >= 500) return null
  const { msg } = await result.json().catch(() => ({}))
  return {
    ok: false,
    reason: String(msg ?? CONNECTION.status(result.status)),
    isTransient: result.status !== 403,
    ...retryDelay(result.status),
  }
}
