// Handles a request that needs a key, the same way on every surface:
// ```
//   authenticate ─▶ limit ─▶ work (hold, handle, settle or release) ─▶ limit headers ─▶ reply
//        └───────────┴─────────┴─── rejected ─▶ refusal log ──────────────────────────▶ reply
// ```
// `work` holds the price and applies the plan's limits, because only the surface can read the price from the request.
// Where calls can be paid by x402, a caller without a key does the same work, and pays before the reply leaves.
// Invariants: nothing of a request is read, held or done before its key is accepted, or its address has not sent too
// many without a key; every rejection of a known caller is logged.

import type { Identity, Product } from '../accounts/identity.ts'
import type { KeyRequirement } from '../accounts/key-record.ts'
import type { KeyLocation } from '../accounts/presented-key.ts'
import { type RecordRefusal, refusalCode, shownType } from '../accounts/refused-calls.ts'
import { compressedResponse } from '../core/compression.client.ts'
import type { Failure } from '../core/failure.ts'
import { ok, type Result } from '../core/result.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { Charging, MeteredCall } from '../metering/charging.ts'
import type { Reply } from '../protocol/failure-wire.ts'
import { joinedLimits } from '../protocol/limit-headers.ts'
import { CORS_HEADERS } from './cors.ts'

interface KeyEntry extends KeyRequirement {
  readonly places: readonly KeyLocation[]
  /** The segment after `/k/`. */
  readonly path?: string
  /** A session cookie of an owner is accepted if there is no key. */
  readonly acceptsSessions?: boolean
}

type Authentication = Result<Identity, Failure>

/** A caller without a key, who pays for one call. */
export interface Visitor {
  readonly identity: Identity
  readonly charging: Charging
  /** Takes the payment if the call was answered. The reply then says what was paid, or how to pay. */
  complete(reply: Reply, refusal: (failure: Failure) => Reply): Promise<Reply>
}

export interface Access {
  readonly authenticate: (
    request: Request,
    entry: KeyEntry,
    waitUntil: WaitUntil,
  ) => Authentication | Promise<Authentication>
  /** Charging of one request; its usage reports may outlive the request. */
  readonly charging: (waitUntil: WaitUntil) => Charging
  readonly requestId: () => string
  readonly noteRefusal?: RecordRefusal | undefined
  /** Admits callers without a key. Absent: every call needs one. */
  readonly admitVisitor?: (request: Request, waitUntil: WaitUntil) => Promise<Result<Visitor, Failure>>
}

export interface Surface {
  readonly product: Product
  readonly entry: KeyEntry
  /** Type in the refusal log for requests rejected before their type was read. */
  readonly type?: string
  readonly refusal: (failure: Failure, requestId: string) => Reply
  /** Limit that applies before the price is held. */
  readonly limit?: (identity: Identity, request: Request) => Failure | null | Promise<Failure | null>
  /** Callers without a key can pay for a call, which has one price. */
  readonly acceptsPayment?: boolean
  /** Plan limits are announced in headers when at most this fraction of a limit remains; absent: never. */
  readonly announceLimitsBelow?: number
}

/** Requests that a paid call consists of. A caller cannot make one: it is this object, whatever it contains. */
const paidParts = new WeakMap<Request, Identity>()
const FREE: Charging = { hold: async () => ok({ settle: () => null, release: () => null }) }

/** Sends this request for `identity` free of charge, because its price is part of one that is held. */
export function markPaid(request: Request, identity: Identity): Request {
  paidParts.set(request, identity)
  return request
}

/** Call of an authenticated caller. The refusal log shows `type` if the call is rejected before its type was read. */
export function meteredCall(
  access: Access,
  product: Product,
  identity: Identity,
  waitUntil: WaitUntil,
  { requestId = access.requestId(), type = '', charging = access.charging(waitUntil) }: CallParts = {},
): MeteredCall {
  return {
    identity,
    requestId,
    charging,
    waitUntil,
    recordRefusal: (failure, status, typeOf = type) => {
      access.noteRefusal?.({ caller: identity, requestId, product, type: typeOf, failure }, waitUntil)
      const code = refusalCode(failure)
      charging.log?.(identity, { product, type: shownType(typeOf), status, code, micro: 0, requestId })
    },
  }
}

interface CallParts extends Partial<Pick<MeteredCall, 'requestId' | 'charging'>> {
  readonly type?: string | undefined
}

/** Handles one HTTP request from its key to its response. A `Response` from `work` is returned unchanged. */
export async function metered(
  access: Access,
  surface: Surface,
  request: Request,
  waitUntil: WaitUntil,
  work: (call: MeteredCall) => Promise<Reply | Response>,
): Promise<Response> {
  const { product, refusal, type } = surface
  const requestId = access.requestId()
  const payer = paidParts.get(request)
  if (payer !== undefined) {
    const visitor: Visitor = { identity: payer, charging: FREE, complete: async (reply) => reply }
    return servePayer(visitor, surface, { request, requestId, waitUntil }, work)
  }
  // Durations count from here.
  const charging = access.charging(waitUntil)
  const pending = access.authenticate(request, surface.entry, waitUntil)
  const authenticated = pending instanceof Promise ? await pending : pending
  if (!authenticated.ok) {
    const { error: failure } = authenticated
    const hasNoKey = failure.kind === 'key_missing' && !failure.isMisplaced
    if (access.admitVisitor && surface.acceptsPayment && hasNoKey) {
      const visitor = await access.admitVisitor(request, waitUntil)
      if (visitor.ok) return servePayer(visitor.value, surface, { request, requestId, waitUntil }, work)
      return respond(request, refusal(visitor.error, requestId))
    }
    if (failure.caller !== undefined)
      access.noteRefusal?.({ caller: failure.caller, requestId, product, type: type ?? '', failure }, waitUntil)
    return respond(request, refusal(failure, requestId))
  }
  const call = meteredCall(access, product, authenticated.value, waitUntil, { requestId, type, charging })
  const limited = surface.limit === undefined ? null : await surface.limit(authenticated.value, request)
  if (limited !== null) {
    const reply = refusal(limited, requestId)
    call.recordRefusal(limited, reply.status)
    return respond(request, reply)
  }
  const reply = await work(call)
  if (reply instanceof Response) return reply
  const { announceLimitsBelow } = surface
  const limits =
    announceLimitsBelow === undefined
      ? null
      : call.charging.limitHeaders?.(authenticated.value, product, announceLimitsBelow)
  if (!limits) return respond(request, reply)
  // A rejection may already have limit headers of its own.
  const joined = reply.headers.ratelimit === undefined ? limits : joinedLimits(reply.headers, limits)
  return respond(request, { ...reply, headers: { ...reply.headers, ...joined } })
}

/** Handles the request of a caller without a key. A `Response` from `work` is free. */
async function servePayer(
  visitor: Visitor,
  { limit, refusal }: Surface,
  { request, requestId, waitUntil }: { readonly request: Request } & Pick<MeteredCall, 'requestId' | 'waitUntil'>,
  work: (call: MeteredCall) => Promise<Reply | Response>,
): Promise<Response> {
  const { identity, charging } = visitor
  const refuse = (failure: Failure) => refusal(failure, requestId)
  const limited = limit === undefined ? null : await limit(identity, request)
  if (limited !== null) return respond(request, refuse(limited))
  const serve = async () => {
    const reply = await work({ identity, requestId, charging, waitUntil, recordRefusal: () => {}, isVisit: true })
    return reply instanceof Response ? reply : respond(request, await visitor.complete(reply, refuse))
  }
  const served = serve()
  // A caller who has left pays for an answer that is ready, and gets it for the same payment later.
  waitUntil(served.catch(() => undefined))
  return served
}

function respond(request: Request, { status, headers, body }: Reply): Response {
  const all = request.headers.has('origin') ? { ...headers, ...CORS_HEADERS } : headers
  if (body === null) return new Response(null, { status, headers: all })
  return compressedResponse(request, body, { status, headers: all })
}
