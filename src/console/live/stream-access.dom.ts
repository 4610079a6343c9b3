// The stream token of this page: the visitor's own account pays where they are signed in, otherwise, also where their
// session has ended meanwhile, the one that the operator named. Laws: it is in memory alone; it is fetched again before it
// ends, and where it did not do.

import { request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { refreshVisitor, visitor } from '../session.dom.ts'
import type { ServerClock } from './page-time.ts'
import { pageNow } from './runtime.dom.ts'
import type { StreamAccess } from './stream-connection.ts'

/** Of a token that ends sooner another one is fetched. */
const EXPIRY_MARGIN_MS = 30_000
const OWN_MINUTES = 60
/** Where too many ask, or visitors have spent what they may for now. */
const BUSY_MS = 15_000
const retryDelay = (status: number) => (status === 429 ? { waitMs: BUSY_MS } : {})

let cachedToken: { readonly token: string; readonly untilMs: number } | null = null

/** `tell`: the coins that the token is for, null for all. */
export async function fetchStreamAccess(
  isFresh: boolean,
  clock: ServerClock,
  onCoins: (coins: readonly string[] | null) => void,
): Promise<StreamAccess> {
  if (typeof WebSocket === 'undefined')
    return {
      ok: false,
      reason: 'This browser has no WebSocket, which live data needs: use a newer one.',
      isTransient: false,
    }
  if (!navigator.onLine) return { ok: false, reason: 'this device is offline', isTransient: true }
  if (isFresh || cachedToken === null || cachedToken.untilMs < pageNow()) {
    if (visitor.value === 'unknown') await refreshVisitor()
    const isOwner = visitor.value !== null && visitor.value !== 'unknown' && visitor.value.role === 'owner'
    const askedMs = pageNow()
    const own = isOwner
      ? await request<Responses['makeStreamToken']>('POST', '/platform/stream-tokens', { minutes: OWN_MINUTES })
      : null
    const hasEnded = own !== null && !own.ok && own.error.status === 401
    const answer =
      own === null || hasEnded ? await request<Responses['makeStreamToken']>('POST', '/live/token', {}) : own
    if (!answer.ok) {
      const { status, message } = answer.error
      return {
        ok: false,
        reason: message,
        isTransient: status === 0 || status === 429 || status >= 500,
        ...retryDelay(status),
      }
    }
    const { token, expires, time, coins } = answer.value
    const refused = isFresh ? await checkToken(token) : null
    if (refused !== null) return refused
    clock.sync(time, askedMs, pageNow())
    onCoins(coins)
    cachedToken = { token, untilMs: pageNow() + expires - time - EXPIRY_MARGIN_MS }
  }
  return { ok: true, endpoint: { url: location.origin, key: cachedToken.token } }
}

/** Why a socket does not open is told to no page; the same token gets the same refusal by HTTP. Null: it may open. */
async function checkToken(token: string): Promise<StreamAccess | null> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch('/info', { method: 'POST', headers, body: '{"type":"perpDexs"}' }).catch(() => null)
  if (answer === null || answer.ok || answer.status >= 500) return null
  const { msg } = await answer.json().catch(() => ({}))
  return {
    ok: false,
    reason: String(msg ?? `status ${answer.status}`),
    isTransient: answer.status !== 403,
    ...retryDelay(answer.status),
  }
}
