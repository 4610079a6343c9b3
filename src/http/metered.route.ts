// Handles a request that needs a key, the same way on every surface:
// ```
//   authenticate ─▶ limit ─▶ work (hold, handle, settle or release) ─▶ limit headers ─▶ reply
//        └───────────┴─────────┴─── rejected ─▶ refusal log ──────────────────────────▶ reply
// ```
// `work` holds the price and applies the plan's limits, because only the surface can read the price from the request.
// Invariants: nothing of a request is read, held or done before its key is accepted; every rejection of a known caller
// is logged.

import type { Identity, Product } from '../accounts/identity.ts'
import type { KeyRequirement } from '../accounts/key-record.ts'
import type { KeyLocation } from '../accounts/presented-key.ts'
import type { RecordRefusal } from '../accounts/refused-calls.ts'
import { compressedResponse } from '../core/compression.client.ts'
import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
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
}

export interface Surface {
  readonly product: Product
  readonly entry: KeyEntry
  /** Type in the refusal log for requests rejected before their type was read. */
  readonly type?: string
  readonly refusal: (failure: Failure, requestId: string) => Reply
  /** Limit that applies before the price is held. */
  readonly limit?: (identity: Identity, request: Request) => Failure | null | Promise<Failure | null>
  /** Plan limits are announced in headers when at most this fraction of a limit remains; absent: never. */
  readonly announceLimitsBelow?: number
}

/** Call of an authenticated caller. The refusal log shows `type` if the call is rejected before its type was read. */
export function meteredCall(
  access: Access,
  product: Product,
  identity: Identity,
  waitUntil: WaitUntil,
  requestId = access.requestId(),
  type = '',
): MeteredCall {
  return {
    identity,
    requestId,
    charging: access.charging(waitUntil),
    waitUntil,
    recordRefusal: (failure, typeOf = type) =>
      access.noteRefusal?.({ caller: identity, requestId, product, type: typeOf, failure }, waitUntil),
  }
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
  const pending = access.authenticate(request, surface.entry, waitUntil)
  const authenticated = pending instanceof Promise ? await pending : pending
  if (!authenticated.ok) {
    const { error: failure } = authenticated
    if (failure.caller !== undefined)
      access.noteRefusal?.({ caller: failure.caller, requestId, product, type: type ?? '', failure }, waitUntil)
    return respond(request, refusal(failure, requestId))
  }
  const call = meteredCall(access, product, authenticated.value, waitUntil, requestId, type)
  const limited = surface.limit === undefined ? null : await surface.limit(authenticated.value, request)
  if (limited !== null) {
    call.recordRefusal(limited)
    return respond(request, refusal(limited, requestId))
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

function respond(request: Request, { status, headers, body }: Reply): Response {
  const all = request.headers.has('origin') ? { ...headers, ...CORS_HEADERS } : headers
  if (body === null) return new Response(null, { status, headers: all })
  return compressedResponse(request, body, { status, headers: all })
}
