// Routes GET and POST /signup and POST /signup/confirm. Invariants: the response never depends on whether the address
// has an account; only the console of this host may call, after solving the challenge if there is one; guesses of links
// are rate limited like tokens.

import { Hono } from 'hono'
import * as z from 'zod'
import type { AddressVerdict } from '../../accounts/address-limiter.ts'
import type { Failure } from '../../core/failure.ts'
import { ownPageBody, ownPageReplies, rateLimitFailure, startSession } from '../own-page.route.ts'
import type { LinkRefusal } from './signup-bounds.ts'
import type { SignUp } from './signup-service.client.ts'
import type { Challenge } from './turnstile.client.ts'
import { TURNSTILE_TOKEN_MAX } from './turnstile.client.ts'

export interface SignUpDeps {
  readonly db: D1Database
  readonly signUp: SignUp
  /** How links are delivered; shown to the page as `by`. */
  readonly delivery: 'log' | 'mail'
  /** Public origin of the console; empty: the origin of the request. */
  readonly publicUrl: string
  /** Challenge before each link; null: none. */
  readonly turnstile: { readonly siteKey: string; readonly check: Challenge } | null
  /** Counts a request for a link. */
  readonly countRequest: (request: Request) => AddressVerdict
  /** Counts a request with an invalid link. */
  readonly wrongToken: (request: Request) => AddressVerdict
  readonly addressOf: (request: Request) => string | null
  readonly report: (error: unknown) => void
  readonly requestId: () => string
  readonly now: () => number
}

const BODY_MAX_BYTES = 4_096
const LinkRequest = z.strictObject({
  email: z.string('must be an e-mail address').max(300),
  challenge: z.string('must be the response token of the challenge').min(1).max(TURNSTILE_TOKEN_MAX).optional(),
})
const Confirmation = z.strictObject({ token: z.string('must be the token from the link').min(1).max(128) })
const FOREIGN: Failure = {
  kind: 'not_entitled',
  why: 'Sign-up works only from the console of this host. Open /console.',
}
const OWNER_NOTE = 'If this address already has an account, we sent a link anyway.'
const REFUSAL_TEXTS = {
  day: 'The daily limit of sign-ups is reached. Try again tomorrow.',
  reserve: 'Too many sign-ups from your network today. Try again tomorrow.',
  area: 'The daily limit of sign-ups for your network is reached. Try again tomorrow or from a different network.',
  domain: 'Too many sign-ups for this e-mail domain today. Try again tomorrow or use a different address.',
} as const satisfies Record<LinkRefusal, string>
const linkFailure = (why: LinkRefusal): Failure => ({
  kind: 'unavailable',
  what: 'Sign-up',
  retryAfterMs: 3_600_000,
  hint: `${REFUSAL_TEXTS[why]} ${OWNER_NOTE}`,
})
const LINK_SENT = {
  message: 'Check your inbox. The link works once and expires in 30 minutes.',
}

/** Route of a gateway without sign-up: tells the page that it is off. */
export function noSignUpRoutes(requestId: () => string): Hono {
  return new Hono().get('/signup', () => ownPageReplies(requestId).respond({ by: null, turnstile: null }))
}

export function signUpRoutes(deps: SignUpDeps): Hono {
  const { db, signUp, delivery, turnstile, requestId, now } = deps
  const app = new Hono()
  const { respond, reject } = ownPageReplies(requestId)
  app.get('/signup', () => respond({ by: delivery, turnstile: turnstile?.siteKey ?? null }))

  app.post('/signup', async (c) => {
    const request = c.req.raw
    const read = await ownPageBody(request, LinkRequest, BODY_MAX_BYTES, FOREIGN)
    if (!read.ok) return reject(read.error)
    const address = signUp.address(read.value.email)
    if (!address.ok) return reject(address.error)
    const often = rateLimitFailure(deps.countRequest(request))
    if (often !== null) return reject(often)
    const from = deps.addressOf(request)
    const { origin, hostname } = new URL(deps.publicUrl || request.url)
    const unsolved = await turnstile?.check(read.value.challenge, hostname, from)
    if (unsolved) return reject(unsolved)
    const pageUrl = `${deps.publicUrl || origin}/console`
    const { refused, send } = await signUp.requestLink(address.value, from, pageUrl)
    c.executionCtx.waitUntil(send().catch(deps.report))
    return refused === null ? respond(LINK_SENT, 202) : reject(linkFailure(refused))
  })

  app.post('/signup/confirm', async (c) => {
    const request = c.req.raw
    const read = await ownPageBody(request, Confirmation, BODY_MAX_BYTES, FOREIGN)
    if (!read.ok) return reject(read.error)
    const joined = await signUp.confirm(read.value.token)
    if (!joined.ok) {
      const isWrong = joined.error.kind === 'not_found'
      return reject((isWrong ? rateLimitFailure(deps.wrongToken(request)) : null) ?? joined.error)
    }
    const { account, origin, key } = joined.value
    const { expires, headers } = await startSession(db, request, origin, deps.addressOf(request), now())
    return respond({ account, key, expires }, 200, headers)
  })
  return app
}
