// A request behind a key, the same on every surface:
//
//   authenticate ─▶ limit ─▶ work (hold, answer, settle or release) ─▶ limit headers ─▶ reply
//        └───────────┴─────────┴─── refused ─▶ refusal log ───────────────────────────▶ reply
//
// `metered` is this line. `work` holds the price and takes the plan's limits, because only the surface can read the price
// from the request.
// Invariants: nothing of a request is read, held or done before its key may enter; a refusal of a known caller is logged.

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
  /** The session of an owner's page counts where there is no key. */
  readonly acceptsSessions?: boolean
}

type Authentication = Result<Identity, Failure>

export interface Access {
  readonly authenticate: (
    request: Request,
    entry: KeyEntry,
    waitUntil: WaitUntil,
  ) => Authentication | Promise<Authentication>
  /** Of one request: reports of what was spent may outlive it. */
  readonly charging: (waitUntil: WaitUntil) => Charging
  readonly requestId: () => string
  readonly noteRefusal?: RecordRefusal | undefined
}

export interface Surface {
  readonly product: Product
  readonly entry: KeyEntry
  /** What the refusal log calls a request that came to nothing before its type was read. */
  readonly type?: string
  readonly refusal: (failure: Failure, requestId: string) => Reply
  /** A refusal that comes before the price is held. */
  readonly limit?: (identity: Identity, request: Request) => Failure | null | Promise<Failure | null>
  /** Limits of the plan are announced where this part of them or less is left; left out: never. */
  readonly announceLimitsBelow?: number
}

/** The call of a caller who is known already. `type`: of what is refused before its type was read. */
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

/** One HTTP request, from its key to the bytes. A `Response` of `work` is passed on as it is. */
export async function metered(
  access: Access,
  surface: Surface,
  request: Request,
  waitUntil: WaitUntil,
  work: (call: MeteredCall) => Promise<Reply | Response>,
): Promise<Response> {
  const { product, refusal, type } = surface
  const requestId = access.requestId()
  const entering = access.authenticate(request, surface.entry, waitUntil)
  const entered = entering instanceof Promise ? await entering : entering
  if (!entered.ok) {
    const { error: failure } = entered
    if (failure.caller !== undefined)
      access.noteRefusal?.({ caller: failure.caller, requestId, product, type: type ?? '', failure }, waitUntil)
    return respond(request, refusal(failure, requestId))
  }
  const call = meteredCall(access, product, entered.value, waitUntil, requestId, type)
  const limited = surface.limit === undefined ? null : await surface.limit(entered.value, request)
  if (limited !== null) {
    call.recordRefusal(limited)
    return respond(request, refusal(limited, requestId))
  }
  const reply = await work(call)
  if (reply instanceof Response) return reply
  const { announceLimitsBelow } = surface
  const limits =
    announceLimitsBelow === undefined ? null : call.charging.limitHeaders?.(entered.value, product, announceLimitsBelow)
  if (!limits) return respond(request, reply)
  // A refusal may tell of a limit of its own.
  const joined = reply.headers.ratelimit === undefined ? limits : joinedLimits(reply.headers, limits)
  return respond(request, { ...reply, headers: { ...reply.headers, ...joined } })
}

function respond(request: Request, { status, headers, body }: Reply): Response {
  const all = request.headers.has('origin') ? { ...headers, ...CORS_HEADERS } : headers
  if (body === null) return new Response(null, { status, headers: all })
  return compressedResponse(request, body, { status, headers: all })
}
