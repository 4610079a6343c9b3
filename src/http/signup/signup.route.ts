// GET and POST /signup, POST /signup/confirm. Laws: an answer is the same whoever has the address, and is given before
// anything depends on that; only the console of this host asks, and solves the challenge first where there is one; guesses of
// links are bounded as those of tokens are.

import { Hono } from 'hono'
import * as z from 'zod'
import type { AddressVerdict } from '../../accounts/address-gate.ts'
import type { Failure } from '../../core/failure.ts'
import { ownPageBody, ownPageReplies, sessionBegun, tooOften } from '../own-page.route.ts'
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
  return new Hono().get('/signup', () => ownPageReplies(requestId).answer({ by: null, turnstile: null }))
}

export function signUpRoutes(deps: SignUpDeps): Hono {
  const { db, signUp, by, turnstile, requestId, now } = deps
  const app = new Hono()
  const { answer, refuse } = ownPageReplies(requestId)
  app.get('/signup', () => answer({ by, turnstile: turnstile?.siteKey ?? null }))

  app.post('/signup', async (c) => {
    const request = c.req.raw
    const read = await ownPageBody(request, Ask, BODY_MAX_BYTES, FOREIGN)
    if (!read.ok) return refuse(read.error)
    const address = signUp.address(read.value.email)
    if (!address.ok) return refuse(address.error)
    const often = tooOften(deps.asked(request))
    if (often !== null) return refuse(often)
    const from = deps.addressOf(request)
    const { origin, hostname } = new URL(deps.publicUrl || request.url)
    const unsolved = await turnstile?.check(read.value.challenge, hostname, from)
    if (unsolved) return refuse(unsolved)
    const pageUrl = `${deps.publicUrl || origin}/console`
    const { refused, send } = await signUp.take(address.value, from, pageUrl)
    c.executionCtx.waitUntil(send().catch(deps.report))
    return refused === null ? answer(SENT, 202) : refuse(noLink(refused))
  })

  app.post('/signup/confirm', async (c) => {
    const request = c.req.raw
    const read = await ownPageBody(request, Confirm, BODY_MAX_BYTES, FOREIGN)
    if (!read.ok) return refuse(read.error)
    const joined = await signUp.confirm(read.value.token)
    if (!joined.ok) {
      const isWrong = joined.error.kind === 'not_found'
      return refuse((isWrong ? tooOften(deps.wrongToken(request)) : null) ?? joined.error)
    }
    const { account, keyHash, key } = joined.value
    const { expires, headers } = await sessionBegun(db, request, { kind: 'key', tokenHash: keyHash }, now())
    return answer({ account, key, expires }, 200, headers)
  })
  return app
}
