// Routes of endpoints that need a key. Invariants: only 2xx responses are charged; a call that changes something needs
// a key that is valid in the key table at that moment. Isolates and leases may cache a revoked key for seconds, and
// changes made with it would persist. A free call also takes a lease. The lease proves that the key is valid, and the
// call counts against the key's rate limit. The isolate reports its spending first, so that a balance in the response
// is current. A member of the account needs a role that allows the operation.

import { type Context, Hono } from 'hono'
import type { Identity } from '../../accounts/identity.ts'
import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import { type Failure, KEY_ENDED } from '../../core/failure.ts'
import { networkOf } from '../../core/network.ts'
import { RateLimiter } from '../../core/rate-limiter.ts'
import { ok, type Result } from '../../core/result.ts'
import { type MeteredCall, recordAnswer } from '../../metering/charging.ts'
import { limitsOf } from '../../metering/plans/plan.ts'
import { type Reply, restFailure } from '../../protocol/failure-wire.ts'
import { type Access, metered, type Surface } from '../metered.route.ts'
import type { Endpoint } from './endpoint.ts'
import { operationRefusal } from './operation-roles.ts'
import type { Platform } from './platform-api.ts'
import type { Refusal } from './refusal.ts'
import { addRoute, type HandlerResult, handleCall, readCall, refusalReply, replyTo } from './serve.route.ts'

export interface KeyedDeps extends Access {
  readonly platform: Platform
  /** Client address; null if it cannot be trusted. */
  readonly addressOf: (request: Request) => string | null
}

/** Routes of all endpoints that need a key. */
export function keyedRoutes(endpoints: readonly Endpoint[], deps: KeyedDeps): Hono {
  const app = new Hono()
  const gate = new RateLimiter()
  for (const endpoint of endpoints.filter(({ auth }) => auth !== 'admin')) {
    const surface = surfaceOf(endpoint, deps, gate)
    addRoute(app, endpoint, '', (c) =>
      metered(
        deps,
        surface,
        c.req.raw,
        (work) => c.executionCtx.waitUntil(work),
        (call) => chargedReply(c, endpoint, call, deps.platform),
      ),
    )
  }
  return app
}

function surfaceOf(
  { id: type, auth, product = 'platform', acceptsAnyKey, method, price }: Endpoint,
  { platform, addressOf }: KeyedDeps,
  gate: RateLimiter,
): Surface {
  const isData = product === 'data'
  return {
    product,
    type,
    entry: {
      product: acceptsAnyKey ? null : product,
      kind: auth === 'service' ? 'service' : 'any',
      places: isData ? ['basic', 'bearer'] : ['bearer'],
      acceptsSessions: true,
    },
    refusal: isData ? dataFailure : restFailure,
    limit: (identity, request) => {
      const beyondRole = operationRefusal(type, identity)
      if (beyondRole !== null) return beyondRole
      const tooMany = isData ? addressLimitFailure(addressOf(request), identity, gate, platform.now()) : null
      return tooMany ?? (method === 'get' ? null : endedKeyFailure(identity, platform))
    },
    announceLimitsBelow: 1,
    // The price of another endpoint is unknown before the work, or it changes the account.
    acceptsPayment: isData && method === 'get' && price !== undefined,
  }
}

/** The data API also accepts basic authentication; clients that support both use the first scheme offered. */
function dataFailure(failure: Failure, requestId: string): Reply {
  const reply = restFailure(failure, requestId)
  if (reply.status !== 401) return reply
  return { ...reply, headers: { ...reply.headers, 'www-authenticate': 'Basic realm="weir", Bearer' } }
}

/** Failure if an address exceeds the plan's request rate, counted over all its keys. */
function addressLimitFailure(
  address: string | null,
  identity: Identity,
  gate: RateLimiter,
  nowMs: number,
): Failure | null {
  const quota = limitsOf(identity).requestsPerSecond
  if (quota === null || address === null) return null
  const limit = { name: 'rest-address', quota, windowSeconds: 1 }
  const { waitMs } = gate.take(`${quota} ${networkOf(address)}`, limit, nowMs)
  return waitMs > 0 ? { kind: 'rate_limited', retryAfterMs: waitMs, limit } : null
}

/** Failure if the key table says that the key has ended, else null. */
async function endedKeyFailure(
  { keyHash }: Identity,
  { keys, now }: Pick<Platform, 'keys' | 'now'>,
): Promise<Failure | null> {
  const key = await keys.findByHash(keyHash)
  if (key === null || key.revoked !== null) return KEY_ENDED
  return key.expires !== null && key.expires <= now() ? { kind: 'key_expired' } : null
}

/** Holds the price, handles the call, then settles the actual price or releases the hold. */
async function chargedReply(c: Context, endpoint: Endpoint, call: MeteredCall, platform: Platform): Promise<Reply> {
  const { id: type, product = 'platform', price: amount = 0 } = endpoint
  const { identity, requestId, charging } = call
  const refused = (failure: Refusal): Reply => {
    const reply = refusalReply(failure, requestId)
    call.recordRefusal(failure, reply.status)
    return reply
  }
  const read = call.isVisit ? (await readCall(c, endpoint)).call : null
  if (read?.ok === false) return refused(read.error)
  const hold = await charging.hold(identity, { product, type, amount })
  if (!hold.ok) return refused(hold.error)
  /** Charges the actual price, which may exceed the held amount. */
  const take = async (price: MicroCredits): Promise<Result<MicroCredits | null, Failure>> => {
    if (price === amount && price > 0) return ok(hold.value.settle())
    const left = hold.value.release()
    if (price === 0) return ok(left)
    const due = await charging.hold(identity, { product, type, amount: price, isCounted: true })
    return due.ok ? ok(due.value.settle()) : due
  }
  const finish = async (): Promise<Reply> => {
    await charging.report?.(identity)
    const result: HandlerResult | null = await handleCall(c, endpoint, identity, platform).catch((error) => {
      hold.value.release()
      throw error
    })
    // HEAD requests get no body and are free.
    const isShown = result.ok && c.req.method !== 'HEAD'
    const { price = amount, remaining: balance } = isShown ? result.value : { price: 0 }
    const paid = await take(price)
    if (!paid.ok) return refused(paid.error)
    const left = balance ?? paid.value
    const cost = paid.value === null ? 0 : price
    const reply = replyTo(result, requestId, {
      'x-credits-cost': formatCredits(cost),
      ...(left === null ? {} : { 'x-credits-remaining': formatCredits(left) }),
    })
    if (result.ok) recordAnswer(call, { product, type }, cost, { status: reply.status })
    else call.recordRefusal(result.error, reply.status)
    return reply
  }
  const work = finish()
  // A call that the client cancels after work started is still charged.
  call.waitUntil(work.catch(() => undefined))
  return work
}
