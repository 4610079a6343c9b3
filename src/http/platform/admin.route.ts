// The operator's API below /admin, with ADMIN_TOKEN, a staff token or a session of either. Invariants: it does not
// exist (404) while ADMIN_TOKEN is unset or short; wrong tokens are rate limited, the right one never waits; it never
// gets CORS headers; a key appears only in the response that created it and never in a URL; each call needs the
// operation's role; every change is written to the audit log first; if that fails, the change is not made.

import { type Context, Hono } from 'hono'
import type { AddressVerdict } from '../../accounts/address-limiter.ts'
import { NO_KEY_SECRET } from '../../accounts/key-resolver.store.ts'
import { ADMIN_OPERATOR, hasRole, type Operator } from '../../accounts/staff.ts'
import { endpointNotFound, type Failure } from '../../core/failure.ts'
import { logEvent } from '../../core/log.client.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { bearerToken, checkBearerSecret } from '../../core/secret.ts'
import { roleFor } from '../operation.ts'
import { accountIn, auditRow } from './audit.ts'
import type { Endpoint } from './endpoint.ts'
import type { Platform } from './platform-api.ts'
import { addRoute, type HandlerResult, handleCall, readCall, refuse, respond } from './serve.route.ts'

export interface AdminDeps {
  readonly platform: Platform
  readonly adminToken: string | undefined
  readonly keySecret: string | undefined
  /** Operator of the request's session; null: no session. */
  readonly visitor: (request: Request) => Promise<Result<Operator, Failure>> | null
  readonly wrongToken: (request: Request) => AddressVerdict
  readonly requestId: () => string
}

const WRONG_TOKEN_TEXT = 'The admin token is missing or wrong. Send "Authorization: Bearer <ADMIN_TOKEN>".'
const NO_AUDIT: Failure = {
  kind: 'unavailable',
  what: 'Nothing was changed, because the audit log could not be written',
}

/** Even rate-limited callers see that the token is wrong, because the right token never waits. */
function wrongTokenFailure({ waitMs, limit }: AddressVerdict): Failure {
  if (waitMs === 0) return { kind: 'key_malformed', hint: WRONG_TOKEN_TEXT }
  const wait = `Too many wrong tokens from your address. Retry in ${Math.ceil(waitMs / 1000)} s.`
  return { kind: 'rate_limited', retryAfterMs: waitMs, limit, hint: `${WRONG_TOKEN_TEXT} ${wait}` }
}

const roleFailure = ({ name, role }: Operator, needed: string): Failure => ({
  kind: 'not_entitled',
  why: `This call needs the role "${needed}"; ${name} has "${role}". Ask an owner of this gateway.`,
})

/** Sub-app with the operator's endpoints. */
export function adminRoutes(endpoints: readonly Endpoint[], deps: AdminDeps) {
  const { platform, keySecret, requestId } = deps
  const app = new Hono<{ Variables: { operator: Operator } }>()
  app.use('*', async (c, next) => {
    const operator = await callerOf(c.req.raw, deps)
    if (!operator.ok) return refuse(operator.error, requestId())
    if (!keySecret) return refuse(NO_KEY_SECRET, requestId())
    c.set('operator', operator.value)
    return next()
  })
  for (const endpoint of endpoints.filter(({ auth }) => auth === 'admin')) {
    addRoute(app, endpoint, '/admin', async (c) => {
      const id = requestId()
      const operator: Operator = c.get('operator')
      const needed = roleFor(endpoint)
      const refused = hasRole(operator.role, needed) ? null : roleFailure(operator, needed)
      if (endpoint.method !== 'get') return audited(c, { endpoint, operator, refused, id }, platform)
      return respond(refused === null ? await handleCall(c, endpoint, null, platform) : err(refused), id)
    })
  }
  app.notFound(() => refuse(endpointNotFound(), requestId()))
  app.onError((error) => {
    const id = requestId()
    logEvent('admin_request_failed', { request_id: id, error })
    return refuse({ kind: 'internal' }, id)
  })
  return app
}

async function callerOf(
  request: Request,
  { adminToken, platform, visitor, wrongToken }: AdminDeps,
): Promise<Result<Operator, Failure>> {
  const authorization = request.headers.get('authorization')
  const gate = checkBearerSecret(authorization, adminToken)
  if (gate === 'closed') return err(endpointNotFound())
  if (gate === 'granted') return ok(ADMIN_OPERATOR)
  const visiting = await visitor(request)
  if (visiting !== null) return visiting
  const staff = await platform.staff.byToken(bearerToken(authorization) ?? '')
  return staff === null ? err(wrongTokenFailure(wrongToken(request))) : ok(staff)
}

interface AuditedAction {
  readonly endpoint: Endpoint
  readonly operator: Operator
  readonly refused: Failure | null
  readonly id: string
}

/**
 * Writes the attempt to the audit log, handles the call, then writes the outcome. If the outcome is missing, the
 * gateway stopped before it could write the outcome.
 */
async function audited(
  c: Context,
  { endpoint, operator, refused, id }: AuditedAction,
  platform: Platform,
): Promise<Response> {
  const { audit, now } = platform
  const { call: read, sent } = await readCall(c, endpoint)
  const call = refused === null ? read : err(refused)
  const { id: action, path } = endpoint
  const row = auditRow({ operator, action, path, params: c.req.param(), ...sent, requestId: id })
  const number = await audit.start(row, now()).catch(() => null)
  if (number === null) return refuse(NO_AUDIT, id)
  const answer = await handleSafely(endpoint, call, platform, id)
  const response = respond(answer, id)
  const account = answer.ok ? accountIn(answer.value.body) : null
  await audit.finish(number, response.status, account, now()).catch((error: unknown) => {
    logEvent('audit_outcome_lost', { request_id: id, error })
  })
  return response
}

async function handleSafely(
  endpoint: Endpoint,
  call: Awaited<ReturnType<typeof readCall>>['call'],
  platform: Platform,
  id: string,
): Promise<HandlerResult> {
  if (!call.ok) return call
  try {
    return await endpoint.handle({ ...call.value, identity: null }, platform)
  } catch (error) {
    logEvent('admin_request_failed', { request_id: id, error })
    return err({ kind: 'internal' })
  }
}
