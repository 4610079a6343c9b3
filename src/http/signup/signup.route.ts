// GET and POST /signup, POST /signup/confirm. Laws: an answer is the same whoever has the address, and is given before
// anything depends on that; only the console of this host asks, and solves the challenge first where there is one; guesses of
// links are bounded as those of tokens are.

import { Hono } from 'hono'
import * as z from 'zod'
import type { AddressVerdict } from '../../accounts/address-gate.ts'
import { beginSession, endSession } from '../../accounts/sessions/session.store.ts'
import { isOwnPage, sessionCookie, sessionToken } from '../../accounts/sessions/session.ts'
import { readJsonBody } from '../../core/body.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/schema-words.ts'
import { restFailure } from '../../protocol/failure-wire.ts'
import { REQUEST_ID_HEADER } from '../../protocol/request-id.ts'
import type { NoLink } from './signup-bounds.ts'
import type { SignUp } from './signup-service.client.ts'
import type { Challenge } from './turnstile.client.ts'
import { TURNSTILE_TOKEN_MAX } from './turnstile.client.ts'

export interface SignUpDeps {
  readonly db: D1Database
  readonly signUp: SignUp
  /** How links come: said to the page. */
  readonly by: 'log' | 'mail'
  /** Of the console as visitors see it; empty: where it is asked. */
  readonly publicUrl: string
  /** The challenge that whoever asks for a link solves first; null: there is none. */
  readonly turnstile: { readonly siteKey: string; readonly check: Challenge } | null
  /** Counts a request for a link. */
  readonly asked: (request: Request) => AddressVerdict
  /** Counts a link that is none. */
  readonly wrongToken: (request: Request) => AddressVerdict
  readonly addressOf: (request: Request) => string | null
  readonly report: (error: unknown) => void
  readonly requestId: () => string
  readonly now: () => number
}

const BODY_MAX_BYTES = 4_096
const Ask = z.strictObject({
  email: z.string('must be an e-mail address').max(300),
  challenge: z.string('must be the token of the challenge').min(1).max(TURNSTILE_TOKEN_MAX).optional(),
})
const Confirm = z.strictObject({ token: z.string('must be the end of the link').min(1).max(128) })
const FOREIGN: Failure = { kind: 'not_entitled', why: 'Only the console of this host signs up: open /console.' }
const OWNERS = 'If this address has an account here, a link to it is on its way all the same.'
const WHY = {
  day: 'As many people asked for links today as this gateway serves in a day: try again tomorrow.',
  reserve: 'The last links of today are for networks that asked for none yet: try again tomorrow.',
  area: 'Your network asked for as many links as it may in a day: try again tomorrow, or from another network.',
  domain:
    'The domain of this address got many links today, and your network one: try again tomorrow, or use another address.',
} as const satisfies Record<NoLink, string>
const noLink = (why: NoLink): Failure => ({
  kind: 'unavailable',
  what: 'Sign-up',
  retryAfterMs: 3_600_000,
  hint: `${WHY[why]} ${OWNERS}`,
})
const SENT = { message: 'If this address can sign up here, a link is on its way to it. It opens once, for 30 minutes.' }

/** Where sign-up is off, the page is told so, and nothing else exists. */
export function noSignUpRoutes(requestId: () => string): Hono {
  return new Hono().get('/signup', () => answer({ by: null, turnstile: null }, requestId()))
}

export function signUpRoutes(deps: SignUpDeps): Hono {
  const { db, signUp, by, turnstile, requestId, now } = deps
  const app = new Hono()
  const refuse = (failure: Failure) => {
    const { status, headers, body } = restFailure(failure, requestId())
    return new Response(body, { status, headers: { ...headers, 'cache-control': 'no-store' } })
  }
  app.get('/signup', () => answer({ by, turnstile: turnstile?.siteKey ?? null }, requestId()))

  app.post('/signup', async (c) => {
    const request = c.req.raw
    const read = await bodyOf(request, Ask)
    if (!read.ok) return refuse(read.error)
    const address = signUp.address(read.value.email)
    if (!address.ok) return refuse(address.error)
    const { waitMs, limit } = deps.asked(request)
    if (waitMs > 0) return refuse({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
    const from = deps.addressOf(request)
    const { origin, hostname } = new URL(deps.publicUrl || request.url)
    const unsolved = await turnstile?.check(read.value.challenge, hostname, from)
    if (unsolved) return refuse(unsolved)
    const pageUrl = `${deps.publicUrl || origin}/console`
    const { refused, send } = await signUp.take(address.value, from, pageUrl)
    c.executionCtx.waitUntil(send().catch(deps.report))
    return refused === null ? answer(SENT, requestId(), 202) : refuse(noLink(refused))
  })

  app.post('/signup/confirm', async (c) => {
    const request = c.req.raw
    const read = await bodyOf(request, Confirm)
    if (!read.ok) return refuse(read.error)
    const joined = await signUp.confirm(read.value.token)
    if (!joined.ok) {
      const { waitMs, limit } =
        joined.error.kind === 'not_found' ? deps.wrongToken(request) : { waitMs: 0, limit: null }
      return refuse(waitMs > 0 && limit ? { kind: 'rate_limited', retryAfterMs: waitMs, limit } : joined.error)
    }
    const before = sessionToken(request.headers.get('cookie'))
    if (before !== null) await endSession(db, before)
    const { account, keyHash, key } = joined.value
    const session = await beginSession(db, { kind: 'key', tokenHash: keyHash }, now())
    const cookie = { 'set-cookie': sessionCookie(session.token, session.seconds) }
    return answer({ account, key, expires: session.expires }, requestId(), 200, cookie)
  })
  return app
}

function answer(body: object, requestId: string, status = 200, more: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, {
    status,
    headers: { 'cache-control': 'no-store', [REQUEST_ID_HEADER]: requestId, ...more },
  })
}

async function bodyOf<T>(request: Request, schema: z.ZodType<T>): Promise<Result<T, Failure>> {
  if (!isOwnPage(request)) return err(FOREIGN)
  const source = { chunks: request.body, contentLength: request.headers.get('content-length') }
  const body = await readJsonBody(source, BODY_MAX_BYTES)
  if (!body.ok) return body
  const read = parseWith(schema, body.value)
  return read.ok ? ok(read.value) : err({ kind: 'bad_field', issues: read.error })
}
