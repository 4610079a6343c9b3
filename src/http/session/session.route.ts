// POST, GET and DELETE /session, and the accounts of a member: exchanges a token or key for a session cookie. Invariants: the token never appears in
// a URL, log or response; guesses are rate limited as on other endpoints; only a page of this host may sign in or out,
// so that other sites cannot sign a visitor in as somebody else; an invitation opens no account but its own.

import { Hono } from 'hono'
import * as z from 'zod'
import type { AddressVerdict } from '../../accounts/address-limiter.ts'
import { sha256 } from '../../accounts/digest.client.ts'
import type { Identity } from '../../accounts/identity.ts'
import type { Membership } from '../../accounts/members.ts'
import { endSession } from '../../accounts/sessions/session.store.ts'
import {
  isSameOrigin,
  noSessionCookie,
  type Session,
  type SessionOrigin,
  type SessionUser,
  sessionToken,
} from '../../accounts/sessions/session.ts'
import {
  hasSession,
  isOwners,
  operatorOf,
  type SessionEnv,
  sessionOf,
  sessionOwner,
} from '../../accounts/sessions/session-auth.store.ts'
import type { StaffLookup } from '../../accounts/staff.ts'
import type { Failure } from '../../core/failure.ts'
import { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { checkBearerSecret } from '../../core/secret.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import { ownPageBody, ownPageReplies, rateLimitFailure, startSession } from '../own-page.route.ts'

export interface SessionDeps {
  readonly env: SessionEnv
  readonly staff: StaffLookup
  /** Identity of a key that may call `/platform`. */
  readonly identify: (key: string, request: Request, waitUntil: WaitUntil) => Promise<Result<Identity, Failure>>
  readonly members: {
    /** Accounts of the person, the current one included. */
    accountsOf(member: string): Promise<readonly Membership[]>
    /** Origin of a session of the same person in another account. */
    switchTo(member: string, account: AccountId): Promise<Result<SessionOrigin, Failure>>
  }
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
const Switch = z.strictObject({ account: AccountId })
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
    const { expires, headers } = await startSession(env.ACCOUNTS, request, origin.value, deps.addressOf(request), now())
    return respond({ expires }, 200, headers)
  })

  app.get('/session', async (c) => {
    // A visitor who never signed in is not an error.
    if (!hasSession(c.req.raw)) return respond(null)
    const visitor = await visitorOf(deps, c.req.raw)
    // Cloudflare sets the header by itself. The page corrects the clock of its device by it.
    const date = new Date(now()).toUTCString()
    return visitor.ok ? respond(visitor.value, 200, { date }) : reject(visitor.error)
  })

  app.delete('/session', async (c) => {
    const refused = refusalOf(c.req.raw)
    if (refused !== null) return reject(refused)
    const token = sessionToken(c.req.raw.headers.get('cookie'))
    if (token !== null) await endSession(env.ACCOUNTS, token)
    return respond({}, 200, { 'set-cookie': noSessionCookie() })
  })

  app.get('/session/accounts', async (c) => {
    const session = await memberSession(deps, c.req.raw)
    if (!session.ok) return reject(session.error)
    const accounts = await accountsOf(deps, session.value)
    return respond({ accounts: accounts.map(({ account, role }) => ({ account, role })) })
  })

  app.post('/session/account', async (c) => {
    const request = c.req.raw
    const read = await ownPageBody(request, Switch, BODY_MAX_BYTES, FOREIGN)
    if (!read.ok) return reject(read.error)
    const session = await memberSession(deps, request)
    if (!session.ok) return reject(session.error)
    const { member, account, isInvited } = session.value
    if (isInvited && read.value.account !== account) return reject({ kind: 'not_entitled', why: INVITED })
    const found = await deps.members.switchTo(member.id, read.value.account)
    if (!found.ok) return reject(found.error)
    const origin = { ...found.value, isInvited }
    const { expires, headers } = await startSession(env.ACCOUNTS, request, origin, deps.addressOf(request), now())
    return respond({ expires }, 200, headers)
  })
  return app
}

type MemberSession = Session & { readonly member: NonNullable<Session['member']> }

/** The request's session, if it is a member's. */
async function memberSession({ env, now }: SessionDeps, request: Request): Promise<Result<MemberSession, Failure>> {
  const session = await sessionOf(env, request, now())
  if (!session.ok) return session
  const { member } = session.value
  return member === null ? err({ kind: 'not_entitled', why: NOT_A_MEMBER }) : ok({ ...session.value, member })
}

/** Accounts that the session can open. Invitations are forwarded, so that one opens its account only. */
async function accountsOf(
  { members }: SessionDeps,
  { member, account: own, isInvited }: MemberSession,
): Promise<readonly Membership[]> {
  const accounts = await members.accountsOf(member.id)
  return isInvited ? accounts.filter(({ account }) => account === own) : accounts
}

const INVITED = 'An invitation opens its account only. Sign in with a link by e-mail to use your other accounts.'
const NOT_A_MEMBER = 'You are signed in with a key, which belongs to one account. Sign in by e-mail to use several.'

/** Origin of a session: an account key or an operator token, distinguished by prefix. */
async function originOf(
  { env, staff, identify, wrongToken }: SessionDeps,
  token: string,
  request: Request,
  waitUntil: WaitUntil,
): Promise<Result<SessionOrigin, Failure>> {
  if (/^cq[ts]_/.test(token)) {
    const identity = await identify(token, request, waitUntil)
    if (!identity.ok) return identity
    const { keyHash: tokenHash, account } = identity.value
    return ok({ kind: 'key', tokenHash, account, member: null })
  }
  const gate = checkBearerSecret(`Bearer ${token}`, env.ADMIN_TOKEN)
  const tokenHash = await sha256(token)
  const operator = { tokenHash, account: null, member: null }
  if (gate === 'granted') return ok({ kind: 'admin', ...operator })
  if (gate === 'refused' && (await staff.byToken(token)) !== null) return ok({ kind: 'staff', ...operator })
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
  const { expires, member } = session.value
  if (isOwners(session.value)) {
    const owner = await sessionOwner(env, request, { product: 'platform', kind: 'any' }, addressOf(request), now())
    if (!owner.ok) return owner
    const { account, kind } = owner.value
    const accounts = member === null ? 1 : (await accountsOf(deps, { ...session.value, member })).length
    return ok({ role: 'owner', account, kind, expires, member_role: member?.role ?? null, accounts })
  }
  const operator = await operatorOf(env, session.value, staff)
  return operator === null
    ? err({ kind: 'key_missing', hint: 'The token of this session was revoked. Sign in again.' })
    : ok({ role: 'operator', name: operator.name, staff_role: operator.role, expires })
}
