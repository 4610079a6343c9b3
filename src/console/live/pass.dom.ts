// The stream token of this page: the visitor's own account pays where they are signed in, otherwise, also where their
// session has ended meanwhile, the one that the operator named. Laws: it is in memory alone; it is fetched again before it
// ends, and where it did not do.

import type { Answers } from '../answers.ts'
import { ask } from '../ask.dom.ts'
import { look, visitor } from '../visit.dom.ts'
import type { Pass } from './link.ts'
import type { ServerClock } from './page-time.ts'
import { pageNow } from './runtime.dom.ts'

/** Of a token that ends sooner another one is fetched. */
const LEFT_MS = 30_000
const OWN_MINUTES = 60
/** Where too many ask, or visitors have spent what they may for now. */
const BUSY_MS = 15_000
const waitOf = (status: number) => (status === 429 ? { waitMs: BUSY_MS } : {})

let held: { readonly token: string; readonly untilMs: number } | null = null

/** `tell`: the coins that the token is for, null for all. */
export async function fetchPass(
  isFresh: boolean,
  clock: ServerClock,
  tell: (coins: readonly string[] | null) => void,
): Promise<Pass> {
  if (typeof WebSocket === 'undefined')
    return {
      ok: false,
      reason: 'This browser has no WebSocket, which live data needs: use a newer one.',
      mayPass: false,
    }
  if (!navigator.onLine) return { ok: false, reason: 'this device is offline', mayPass: true }
  if (isFresh || held === null || held.untilMs < pageNow()) {
    if (visitor.value === 'unknown') await look()
    const isOwner = visitor.value !== null && visitor.value !== 'unknown' && visitor.value.role === 'owner'
    const askedMs = pageNow()
    const own = isOwner
      ? await ask<Answers['makeStreamToken']>('POST', '/platform/stream-tokens', { minutes: OWN_MINUTES })
      : null
    const hasEnded = own !== null && !own.ok && own.error.status === 401
    const answer = own === null || hasEnded ? await ask<Answers['makeStreamToken']>('POST', '/live/token', {}) : own
    if (!answer.ok) {
      const { status, message } = answer.error
      return { ok: false, reason: message, mayPass: status === 0 || status === 429 || status >= 500, ...waitOf(status) }
    }
    const { token, expires, time, coins } = answer.value
    const refused = isFresh ? await refusalOf(token) : null
    if (refused !== null) return refused
    clock.told(time, askedMs, pageNow())
    tell(coins)
    held = { token, untilMs: pageNow() + expires - time - LEFT_MS }
  }
  return { ok: true, endpoint: { url: location.origin, key: held.token } }
}

/** Why a socket does not open is told to no page; the same token gets the same refusal by HTTP. Null: it may open. */
async function refusalOf(token: string): Promise<Pass | null> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch('/info', { method: 'POST', headers, body: '{"type":"perpDexs"}' }).catch(() => null)
  if (answer === null || answer.ok || answer.status >= 500) return null
  const { msg } = await answer.json().catch(() => ({}))
  return {
    ok: false,
    reason: String(msg ?? `status ${answer.status}`),
    mayPass: answer.status !== 403,
    ...waitOf(answer.status),
  }
}
