// The operator's API, mounted under /admin: with ADMIN_TOKEN, or the session of an operator. Laws: it does not exist (404)
// while ADMIN_TOKEN is unset or short; wrong tokens are bounded and the right one never waits; it never gets CORS; a key
// appears in one answer only, the one that created it, and in no URL.

import { Hono } from 'hono'
import { type Failure, noEndpoint } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import { gateBySecret } from '../core/secret.ts'
import type { AddressVerdict } from '../edge/address-gate.ts'
import { NO_KEY_SECRET } from '../edge/key-ring.store.ts'
import type { Operator } from '../edge/session/visitor.store.ts'
import type { Endpoint } from './endpoint.ts'
import type { Platform } from './platform-api.ts'
import { answered, refuse, respond, route } from './serve.route.ts'

export interface AdminDeps {
  readonly platform: Platform
  readonly adminToken: string | undefined
  readonly keySecret: string | undefined
  /** Whose session the request has; null: it has none. */
  readonly visitor: (request: Request) => Promise<Result<Operator, Failure>> | null
  /** Counts a request with a wrong token. */
  readonly wrongToken: (request: Request) => AddressVerdict
  readonly requestId: () => string
}

const WRONG = 'The admin token is missing or wrong: send "Authorization: Bearer <ADMIN_TOKEN>".'

/** Also who is told to wait is told why: the right token does not have to. */
function refusedToken({ waitMs, limit }: AddressVerdict): Failure {
  if (waitMs === 0) return { kind: 'key_malformed', hint: WRONG }
  const wait = `Wrong ones are looked at again in ${Math.ceil(waitMs / 1000)} s.`
  return { kind: 'rate_limited', retryAfterMs: waitMs, limit, hint: `${WRONG} ${wait}` }
}

/** The sub-app with the operator's endpoints among these. */
export function adminRoutes(
  endpoints: readonly Endpoint[],
  { platform, adminToken, keySecret, visitor, wrongToken, requestId }: AdminDeps,
): Hono {
  const app = new Hono()
  app.use('*', async (c, next) => {
    const gate = gateBySecret(c.req.header('authorization'), adminToken)
    if (gate === 'closed') return refuse(noEndpoint(), requestId())
    const visiting = gate === 'refused' ? await visitor(c.req.raw) : null
    if (visiting !== null && !visiting.ok) return refuse(visiting.error, requestId())
    if (gate === 'refused' && visiting === null) return refuse(refusedToken(wrongToken(c.req.raw)), requestId())
    if (!keySecret) return refuse(NO_KEY_SECRET, requestId())
    return next()
  })
  for (const endpoint of endpoints.filter(({ door }) => door === 'admin')) {
    route(app, endpoint, '/admin', async (c) => respond(await answered(c, endpoint, null, platform), requestId()))
  }
  app.notFound(() => refuse(noEndpoint(), requestId()))
  app.onError((error) => {
    console.error('admin request failed', error.message)
    return refuse({ kind: 'internal' }, requestId())
  })
  return app
}
