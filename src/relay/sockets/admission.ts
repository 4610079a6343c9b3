// Limits how often a key may connect, and turns a relay's refusal of a socket into a message.

import * as z from 'zod'
import type { Identity } from '../../accounts/identity.ts'
import { LIMIT_FIELDS } from '../../accounts/limits.ts'
import { TOKEN_SOCKETS, visitorsBusy } from '../../accounts/stream-token.ts'
import { inGroups } from '../../core/digit-groups.ts'
import { type Failure, KEY_ENDED, type RequestLimit } from '../../core/failure.ts'
import { limitsOf } from '../../metering/plans/plan.ts'
import { CHEAPEST_MINUTE } from '../../metering/tariff.ts'

/**
 * `full`: try the next relay. `heavy`: too much unread data, try the heavy relays. `limit`: the account is at its
 * plan's connection limit or, with `retryAfterMs`, the key connects too often. `token`: the holder of a stream token is
 * at its connection limit. `busy`: no room for visitors who have no key. `unmetered`: the meter is unreachable. `left`:
 * the account's balance in micro-credits.
 */
export const Refusal = z.object({
  why: z.enum(['full', 'heavy', 'limit', 'token', 'busy', 'revoked', 'exhausted', 'unmetered']),
  left: z.number(),
  retryAfterMs: z.number().optional(),
})
export type Refusal = z.infer<typeof Refusal>

const TOO_MUCH_UNREAD =
  'Too much unread data on closed sockets of this account. Close them on your side, and ping with a nonce'

/** When a visitor leaves, there is room for another. */
const BUSY_RETRY_MS = 30_000

const TOO_MANY_TOKEN_SOCKETS = `A stream token allows ${TOKEN_SOCKETS} open connections per visitor. Close one (a tab), then reconnect.`

const WINDOW_S = 10
/** Margin over the plan's limit, so that a client with one connection too many still gets the limit error. */
const EXTRA_CONNECTS = 50

/** Connections per visitor with stream tokens. */
const TOKEN_CONNECTS = 20

/**
 * Each upgrade costs a relay call and a meter request. Invariant: an account at its connection limit may reconnect all
 * sockets at once, as after a deploy, and again 10 s later.
 */
export function connectLimit(identity: Identity): RequestLimit {
  return {
    name: 'connects',
    quota: identity.token ? TOKEN_CONNECTS : limitsOf(identity).streamConnections + EXTRA_CONNECTS,
    windowSeconds: WINDOW_S,
  }
}

/** Failure for a key that connects too often. */
export function tooManyConnects(identity: Identity, retryAfterMs: number): Failure {
  const limit = connectLimit(identity)
  const hint =
    `Too many connections. Each key may connect ${inGroups(limit.quota)} times in ${limit.windowSeconds} s. ` +
    `Retry after ${Math.ceil(retryAfterMs / 1000)} s with backoff.`
  return { kind: 'rate_limited', retryAfterMs, limit, hint }
}

/** Converts a refusal to the failure that the client gets. */
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
      return { kind: 'unavailable', what: 'Every relay in your region is full', retryAfterMs: 5000 }
    case 'heavy':
      return { kind: 'unavailable', what: TOO_MUCH_UNREAD, retryAfterMs: 5000 }
    case 'unmetered':
      return { kind: 'unavailable', what: 'The credit meter is unreachable', retryAfterMs: 1000 }
  }
}
