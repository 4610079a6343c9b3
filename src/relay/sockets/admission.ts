// How often a key may connect, how a relay says that it does not take a socket, and what the client is told then.

import * as z from 'zod'
import type { Identity } from '../../accounts/identity.ts'
import { LIMIT_FIELDS } from '../../accounts/limits.ts'
import { TOKEN_SOCKETS, visitorsBusy } from '../../accounts/stream-token.ts'
import { type Failure, KEY_ENDED, type RequestLimit } from '../../core/failure.ts'
import { limitsOf } from '../../metering/plans/plan.ts'
import { CHEAPEST_MINUTE } from '../../metering/tariff.ts'

/**
 * `full`: try the next relay. `heavy`: try the heavy relays, or where this is one of them: too much is unread. `limit`: the account has as many sockets as its plan allows, or, with
 * `retryAfterMs`, the key connects too often. `token`: the holder of a stream token has as many sockets as one may. `busy`: visitors without a key have as many here. `unmetered`: its meter cannot be asked. `left`: what the account has left, in
 * micro-credits.
 */
export const Refusal = z.object({
  why: z.enum(['full', 'heavy', 'limit', 'token', 'busy', 'revoked', 'exhausted', 'unmetered']),
  left: z.number(),
  retryAfterMs: z.number().optional(),
})
export type Refusal = z.infer<typeof Refusal>

const TOO_MUCH_UNREAD =
  'Too much is unread on sockets of this account that we closed (end them on your side, and ping with a nonce)'

/** A visitor who leaves makes room for another one. */
const BUSY_RETRY_MS = 30_000

const TOO_MANY_TOKEN_SOCKETS = `Stream tokens: a visitor may have ${TOKEN_SOCKETS} sockets open: close one (a tab), and connect again.`

const WINDOW_S = 10
/** Beyond what the plan allows, so that whoever opens one socket too many hears that. */
const EXTRA_CONNECTS = 50

/** Of one visitor with stream tokens. */
const TOKEN_CONNECTS = 20

/**
 * How often a key may connect: an upgrade costs a call of a relay and a question to its meter, whatever comes of it.
 * Invariant: who has as many sockets as its plan allows may bring them all back at once, as after a deploy, and again 10 s
 * later.
 */
export function connectLimit(identity: Identity): RequestLimit {
  return {
    name: 'connects',
    quota: identity.token ? TOKEN_CONNECTS : limitsOf(identity).streamConnections + EXTRA_CONNECTS,
    windowSeconds: WINDOW_S,
  }
}

/** The refusal of a key that connects more often than its plan allows sockets. */
export function tooManyConnects(identity: Identity, retryAfterMs: number): Failure {
  const limit = connectLimit(identity)
  const hint =
    `Too many connections: each key may connect ${limit.quota} times in ${limit.windowSeconds} s: ` +
    `retry after ${Math.ceil(retryAfterMs / 1000)} s, with backoff.`
  return { kind: 'rate_limited', retryAfterMs, limit, hint }
}

/** A refusal as its client is told it. */
export function admissionFailure({ why, left, retryAfterMs }: Refusal, identity: Identity): Failure {
  if (retryAfterMs !== undefined) return tooManyConnects(identity, retryAfterMs)
  switch (why) {
    case 'revoked':
      return KEY_ENDED
    case 'exhausted':
      return {
        kind: 'credits_exhausted',
        neededMicro: CHEAPEST_MINUTE,
        remainingMicro: left,
        byToken: identity.token !== undefined,
      }
    case 'limit':
      return {
        kind: 'limit_reached',
        limit: LIMIT_FIELDS.streamConnections,
        most: limitsOf(identity).streamConnections,
      }
    case 'token':
      return { kind: 'limit_reached', limit: 'token connections', most: TOKEN_SOCKETS, hint: TOO_MANY_TOKEN_SOCKETS }
    case 'busy':
      return visitorsBusy(BUSY_RETRY_MS)
    case 'full':
      return { kind: 'unavailable', what: 'Every relay of your region is full', retryAfterMs: 5000 }
    case 'heavy':
      return { kind: 'unavailable', what: TOO_MUCH_UNREAD, retryAfterMs: 5000 }
    case 'unmetered':
      return { kind: 'unavailable', what: 'The credit meter cannot be reached', retryAfterMs: 1000 }
  }
}
