// Hands WebSocket upgrades to a relay of the caller's region. GET /ws and /k/<key>/ws check the key here and pass the
// identity to the relay in a header that clients cannot set. For GET /graphql see graphqlRoutes.

import { Hono } from 'hono'
import { AddressLimiter, callerAddress, KEYLESS_CONNECTS } from '../accounts/address-limiter.ts'
import { IDENTITY_HEADER, type Identity, limiterKey } from '../accounts/identity.ts'
import { type Failure, type Issue, SEE_DOCS } from '../core/failure.ts'
import { RateLimiter } from '../core/rate-limiter.ts'
import { graphqlFailure, infoFailure, type Reply } from '../protocol/failure-wire.ts'
import { admissionFailure, connectLimit, Refusal, tooManyConnects } from '../relay/sockets/admission.ts'
import { GUEST_HEADER, type Pool, RelayRefusals, relayOrder } from '../relay/sockets/placement.ts'
import { type CallerLocation, placeOf, type RelayRegion } from '../relay/sockets/region.ts'
import { type Access, metered, type Surface } from './metered.route.ts'

/** Dependencies from the gateway. */
export interface StreamRouteDeps extends Access {
  readonly relay: (region: DurableObjectLocationHint | 'local', index: number) => Pick<Fetcher, 'fetch'>
  readonly nowMs: () => number
}

const NO_UPGRADE: Issue = {
  path: 'upgrade',
  message:
    'needs a WebSocket client. Connect to /ws?key=<key>, then send ' +
    `{"method":"subscribe","subscription":{"type":"l2BookDiff","coin":"BTC"}}. ${SEE_DOCS}`,
}

interface RelaySettings {
  readonly relaysPerRegion: number
  /** Null: all regions. */
  readonly relayRegions: readonly RelayRegion[] | null
}

/** Routes of the WebSocket surface. */
export function streamRoutes(deps: StreamRouteDeps, settings: RelaySettings & { readonly pathKeys: boolean }): Hono {
  const app = new Hono()
  const refusals = new RelayRefusals()
  const gate = new RateLimiter()
  const stream: Surface = {
    product: 'stream',
    type: 'connect',
    entry: { product: 'stream', kind: 'api', places: ['path', 'query', 'bearer'], acceptsTokens: true },
    refusal: infoFailure,
    limit: (identity) => {
      const { waitMs } = gate.take(limiterKey(identity), connectLimit(identity), deps.nowMs())
      return waitMs > 0 ? tooManyConnects(identity, waitMs) : null
    },
  }
  for (const path of settings.pathKeys ? ['/ws', '/k/:key/ws'] : ['/ws']) {
    app.get(path, async (c) => {
      const request = c.req.raw
      if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') {
        return toResponse(infoFailure({ kind: 'bad_field', issues: [NO_UPGRADE] }, deps.requestId()))
      }
      const key = c.req.param('key')
      const surface = key === undefined ? stream : { ...stream, entry: { ...stream.entry, path: key } }
      return metered(
        deps,
        surface,
        request,
        (work) => c.executionCtx.waitUntil(work),
        async (call) => {
          const socket = await connect(deps, request, call.identity, settings, refusals)
          if (socket instanceof Response) return socket
          const reply = infoFailure(socket, call.requestId)
          call.recordRefusal(socket, reply.status)
          return reply
        },
      )
    })
  }
  return app
}

/** Tries the relays of the region in the account's order, then the pool for heavy accounts if a relay asks for it. */
async function connect(
  deps: StreamRouteDeps,
  request: Request,
  identity: Identity,
  { relaysPerRegion, relayRegions }: RelaySettings,
  refusals: RelayRefusals,
): Promise<Response | Failure> {
  const region = placeOf(request.cf as CallerLocation | undefined, relayRegions)
  const { account } = identity
  const tryPool = async (pool: Pool): Promise<Response | Refusal> => {
    const headers = { upgrade: 'websocket', [IDENTITY_HEADER]: JSON.stringify(identity) }
    for (const index of relayOrder(account, pool, relaysPerRegion)) {
      if (refusals.isFull(region, index, deps.nowMs())) continue
      const answer = await deps.relay(region, index).fetch('http://relay/ws', { headers })
      if (answer.status === 101) return answer
      const refusal = Refusal.parse(await answer.json())
      if (refusal.why !== 'full') return refusal
      refusals.markFull(region, index, deps.nowMs())
    }
    return { why: 'full', left: 0 }
  }
  const pool = refusals.pool(account, deps.nowMs())
  let result = await tryPool(pool)
  if (pool === 'light' && !(result instanceof Response) && result.why === 'heavy') {
    refusals.markHeavy(account, deps.nowMs())
    result = await tryPool('heavy')
  }
  return result instanceof Response ? result : admissionFailure(result, identity)
}

type GraphqlRouteDeps = Pick<StreamRouteDeps, 'relay' | 'requestId' | 'nowMs'> & { readonly isProxyTrusted: boolean }

const PROTOCOL = 'graphql-transport-ws'
const NO_GRAPHQL: Issue = {
  path: 'upgrade',
  message: `needs a WebSocket client with the subprotocol ${PROTOCOL}, for example the package graphql-ws. ${SEE_DOCS}`,
}

/** GET /graphql: the key arrives in the first message, so only the address is known here. */
export function graphqlRoutes(deps: GraphqlRouteDeps, { relaysPerRegion, relayRegions }: RelaySettings): Hono {
  const app = new Hono()
  const refusals = new RelayRefusals()
  const gate = new AddressLimiter(KEYLESS_CONNECTS)
  app.get('/graphql', async (c) => {
    const { headers, cf } = c.req.raw
    const requestId = deps.requestId()
    const protocols = (headers.get('sec-websocket-protocol') ?? '').split(',').map((one) => one.trim())
    if (headers.get('upgrade')?.toLowerCase() !== 'websocket' || !protocols.includes(PROTOCOL))
      return toResponse(graphqlFailure({ kind: 'bad_field', issues: [NO_GRAPHQL] }, requestId))
    const address = callerAddress(deps.isProxyTrusted, headers)
    const { waitMs, limit } = gate.take(address, deps.nowMs())
    if (waitMs > 0) return toResponse(graphqlFailure({ kind: 'rate_limited', retryAfterMs: waitMs, limit }, requestId))
    const region = placeOf(cf as CallerLocation | undefined, relayRegions)
    for (const index of relayOrder(address ?? requestId, 'light', relaysPerRegion)) {
      if (refusals.isFull(region, index, deps.nowMs())) continue
      const to = { upgrade: 'websocket', [GUEST_HEADER]: address ?? '' }
      const answer = await deps.relay(region, index).fetch('http://relay/graphql', { headers: to })
      if (answer.status === 101) return answer
      // Only the reason `full` applies to every caller; other reasons apply to this address.
      if (Refusal.parse(await answer.json()).why === 'full') refusals.markFull(region, index, deps.nowMs())
    }
    return toResponse(
      graphqlFailure(
        { kind: 'unavailable', what: 'Every relay in your region is full', retryAfterMs: 5000 },
        requestId,
      ),
    )
  })
  return app
}

const toResponse = ({ status, headers, body }: Reply) => new Response(body, { status, headers })
