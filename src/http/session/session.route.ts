// POST, GET and DELETE /session: exchanges a token or key for a session cookie. Invariants: the token never appears in
// a URL, log or response; guesses are rate limited as on other endpoints; only a page of this host may sign in or out,
// so that
// other sites cannot sign a visitor in as somebody else.

import { Hono } from 'hono'
import * as z from 'zod'
import type { AddressVerdict } from '../../accounts/address-limiter.ts'
import { sha256 } from '../../accounts/digest.client.ts'
import type { Identity } from '../../accounts/identity.ts'
import { endSession, type SessionOrigin } from '../../accounts/sessions/session.store.ts'
import { isSameOrigin, noSessionCookie, type SessionUser, sessionToken } from '../../accounts/sessions/session.ts'
import {
  hasSession,
  operatorOf,
  type SessionEnv,
  sessionOf,
  sessionOwner,
} from '../../accounts/sessions/session-auth.store.ts'
import type { StaffLookup } from '../../accounts/staff.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { checkBearerSecret } from '../../core/secret.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import { ownPageBody, ownPageReplies, rateLimitFailure, startSession } from '../own-page.route.ts'

export interface SessionDeps {
  readonly env: SessionEnv
  readonly staff: StaffLookup
  /** Identity of a key that may call `/platform`. */
  readonly identify: (key: string, request: Request, waitUntil: WaitUntil) => Promise<Result<Identity, Failure>>
  /** Counts a request with an unknown token. */
  readonly wrongToken: (request: Request) => AddressVerdict
  readonly addressOf: (request: Request) => string | null
  readonly requestId: () => string
  readonly now: () => number
}

const SignIn = z.strictObject({
  token: z
    .string('must be an API key, service key or operator token')
    .min(1, 'is empty. Paste an API key, service key or operator token')
    .max(256),
})
const BODY_MAX_BYTES = 1_024
const FOREIGN: Failure = {
  kind: 'not_entitled',
  why: 'Only the console of this host can sign in and out. Open /console.',
}

export function sessionRoutes(deps: SessionDeps): Hono {
  const { env, requestId, now } = deps
  const app = new Hono()
  const { respond, reject } = ownPageReplies(requestId)

  /** Failure if the request may not sign in or out, else null. */
  const refusalOf = (request: Request): Failure | null => {
    return isSameOrigin(request) ? rateLimitFailure(env.countLookup(request)) : FOREIGN
  }

  app.post('/session', async (c) => {
    const request = c.req.raw
    const refused = refusalOf(request)
    if (refused !== null) return reject(refused)
    const read = await ownPageBody(request, SignIn, BODY_MAX_BYTES, FOREIGN)
    if (!read.ok) return reject(read.error)
    const token = read.value.token.trim()
    const origin = await originOf(deps, token, request, (work) => c.executionCtx.waitUntil(work))
    if (!origin.ok) return reject(origin.error)
    const { expires, headers } = await startSession(env.ACCOUNTS, request, origin.value, now())
    return respond({ expires }, 200, headers)
  })

  app.get('/session', async (c) => {
    // A visitor who never signed in is not an error.
    if (!hasSession(c.req.raw)) return respond(null)
    const visitor = await visitorOf(deps, c.req.raw)
    return visitor.ok ? respond(visitor.value) : reject(visitor.error)
  })

  app.delete('/session', async (c) => {
    const refused = refusalOf(c.req.raw)
    if (refused !== null) return reject(refused)
    const token = sessionToken(c.req.raw.headers.get('cookie'))
    if (token !== null) await endSession(env.ACCOUNTS, token)
    return respond({}, 200, { 'set-cookie': noSessionCookie() })
  })
  return app
}

/** Origin of a session: an account key or an operator token, distinguished by prefix. */
async function originOf(
  { env, staff, identify, wrongToken }: SessionDeps,
  token: string,
  request: Request,
  waitUntil: WaitUntil,
): Promise<Result<SessionOrigin, Failure>> {
  if (/^cq[ts]_/.test(token)) {
    const identity = await identify(token, request, waitUntil)
    return identity.ok ? ok({ kind: 'key', tokenHash: identity.value.keyHash }) : identity
  }
  const gate = checkBearerSecret(`Bearer ${token}`, env.ADMIN_TOKEN)
  const tokenHash = await sha256(token)
  if (gate === 'granted') return ok({ kind: 'admin', tokenHash })
  if (gate === 'refused' && (await staff.byToken(token)) !== null) return ok({ kind: 'staff', tokenHash })
  const { waitMs, limit } = wrongToken(request)
  const hint = 'Not a valid key or operator token. Paste it completely.'
  return err(
    waitMs === 0 ? { kind: 'key_malformed', hint } : { kind: 'rate_limited', retryAfterMs: waitMs, limit, hint },
  )
}

async function visitorOf(deps: SessionDeps, request: Request): Promise<Result<SessionUser, Failure>> {
  const { env, staff, addressOf, now } = deps
  const session = await sessionOf(env, request, now())
  if (!session.ok) return session
  const { expires, kind } = session.value
  if (kind === 'key') {
    const owner = await sessionOwner(env, request, { product: 'platform', kind: 'any' }, addressOf(request), now())
    return owner.ok ? ok({ role: 'owner', account: owner.value.account, expires }) : owner
  }
  const operator = await operatorOf(env, session.value, staff)
  return operator === null
    ? err({ kind: 'key_missing', hint: 'The token of this session was revoked. Sign in again.' })
    : ok({ role: 'operator', name: operator.name, staff_role: operator.role, expires })
}
