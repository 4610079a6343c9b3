// Endpoints behind a key: authenticate → hold the price → read and answer → settle or release → reply. Laws: a 2xx is
// charged and nothing else; a hold is settled or released exactly once; who does more than read has a key that works by the
// table, at that moment: what isolates remember of it, and leased to it, may outlive its end by seconds, and what it made in
// them, such as a key, would stay. A free call holds a lease for a moment all the same: that proves the key and counts against
// its requests a second. What was spent here is reported first, so that what is answered of credits is of this moment.

import { type Context, Hono } from 'hono'
import { type Failure, KEY_ENDED } from '../core/failure.ts'
import { Gate } from '../core/gate.ts'
import { networkOf } from '../core/network.ts'
import { ok, type Result } from '../core/result.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { MicroCredits } from '../credit/amount.ts'
import { formatCredits } from '../credit/amount.ts'
import { limitsOf } from '../credit/plans/plan.ts'

import type { Charging } from '../edge/charging.ts'
import type { Identity, Product } from '../key/identity.ts'
import type { Entry } from '../key/record.ts'
import { type NoteRefusal, noteEntry } from '../key/refused-calls.ts'
import type { Endpoint } from './endpoint.ts'
import type { Platform } from './platform-api.ts'
import type { Refusal } from './refusal.ts'
import { type Answered, answered, refuse, respond, route } from './serve.route.ts'

/** What the gateway lends. */
export interface KeyedDeps {
  readonly platform: Platform
  readonly authenticate: (
    request: Request,
    entry: Entry,
    waitUntil: WaitUntil,
  ) => Result<Identity, Failure> | Promise<Result<Identity, Failure>>
  readonly charging: (waitUntil: WaitUntil) => Charging
  /** Of a caller; null where it is not known for sure. */
  readonly addressOf: (request: Request) => string | null
  readonly requestId: () => string
  readonly refused?: NoteRefusal | undefined
}

/** Routes of the endpoints among these that take a key. */
export function keyedRoutes(endpoints: readonly Endpoint[], deps: KeyedDeps): Hono {
  const app = new Hono()
  const gate = new Gate()
  for (const endpoint of endpoints.filter(({ door }) => door !== 'admin')) {
    route(app, endpoint, '', (c) => enter(c, endpoint, deps, gate))
  }
  return app
}

/** The refusal of an address that has come too often for the plan of its key, whichever keys it came with: of data alone. */
function tooOften(request: Request, identity: Identity, deps: KeyedDeps, gate: Gate): Failure | null {
  const quota = limitsOf(identity).requestsPerSecond
  const address = deps.addressOf(request)
  if (quota === null || address === null) return null
  const limit = { name: 'rest-address', quota, windowSeconds: 1 }
  const { waitMs } = gate.take(`${quota} ${networkOf(address)}`, limit, deps.platform.now())
  return waitMs > 0 ? { kind: 'rate_limited', retryAfterMs: waitMs, limit } : null
}

/** The refusal of a key that has ended, null where it works: by the table of keys. */
async function endOf({ keyHash }: Identity, { keys, now }: Pick<Platform, 'keys' | 'now'>): Promise<Failure | null> {
  const key = await keys.hashed(keyHash)
  if (key === null || key.revoked !== null) return KEY_ENDED
  return key.expires !== null && key.expires <= now() ? { kind: 'key_expired' } : null
}

/** Data takes keys as basic credentials, too: clients that know both begin with the first that is offered. */
function challenged(refusal: Response, product: Product): Response {
  if (refusal.status === 401 && product === 'data')
    refusal.headers.set('www-authenticate', 'Basic realm="weir", Bearer')
  return refusal
}

async function enter(c: Context, endpoint: Endpoint, deps: KeyedDeps, gate: Gate): Promise<Response> {
  const { id: type, door, product = 'platform', everyKey = false, price: amount = 0 } = endpoint
  const requestId = deps.requestId()
  const waitUntil: WaitUntil = (work) => c.executionCtx.waitUntil(work)
  const kind = door === 'service' ? 'service' : 'any'
  const identity = await deps.authenticate(c.req.raw, { product: everyKey ? null : product, kind }, waitUntil)
  if (!identity.ok) {
    noteEntry(deps.refused, identity.error, { requestId, product, type }, waitUntil)
    return challenged(refuse(identity.error, requestId), product)
  }
  const told = (failure: Refusal) =>
    deps.refused?.({ caller: identity.value, requestId, product, type, failure }, waitUntil)
  const no = (failure: Refusal, more: Readonly<Record<string, string>> = {}): Response => {
    told(failure)
    return refuse(failure, requestId, more)
  }
  const refused = product === 'data' ? tooOften(c.req.raw, identity.value, deps, gate) : null
  if (refused !== null) return no(refused)
  const ended = endpoint.method === 'get' ? null : await endOf(identity.value, deps.platform)
  if (ended !== null) return no(ended)
  const charging = deps.charging(waitUntil)
  const hold = await charging.hold(identity.value, { product, type, amount })
  const limits = charging.limitHeaders?.(identity.value, product) ?? {}
  if (!hold.ok) return no(hold.error, limits)
  const { value: held } = hold
  /** Takes what the answer costs, which may be more than was held before there was one. */
  const take = async (price: MicroCredits): Promise<Result<MicroCredits | null, Failure>> => {
    if (price === amount && price > 0) return ok(held.settle())
    const left = held.release()
    if (price === 0) return ok(left)
    const due = await charging.hold(identity.value, { product, type, amount: price, isCounted: true })
    return due.ok ? ok(due.value.settle()) : due
  }
  const finish = async (): Promise<Response> => {
    await charging.report?.(identity.value)
    const result: Answered | null = await answered(c, endpoint, identity.value, deps.platform).catch((error) => {
      held.release()
      throw error
    })
    // Who asks with HEAD is shown nothing.
    const isShown = result.ok && c.req.method !== 'HEAD'
    const { price = amount, left: balance } = isShown ? result.value : { price: 0 }
    const paid = await take(price)
    if (!paid.ok) return no(paid.error, limits)
    if (!result.ok) told(result.error)
    const left = balance ?? paid.value
    const cost = { 'x-credits-cost': formatCredits(paid.value === null ? 0 : price) }
    const credits = left === null ? cost : { ...cost, 'x-credits-remaining': formatCredits(left) }
    return respond(result, requestId, { ...limits, ...credits })
  }
  const work = finish()
  // A call cancelled after its work was begun is charged all the same.
  waitUntil(work.catch(() => undefined))
  return work
}
