// GET /graphql: hands a socket to a relay of the caller's region. Its key comes with its first message, so nothing is known
// of it here but its address.

import { Hono } from 'hono'
import { type Failure, type Issue, SEE_DOCS } from '../core/failure.ts'
import { Refusal } from '../stream/sockets/admission.ts'
import { GUEST_HEADER, Refusals, relayOrder } from '../stream/sockets/placement.ts'
import { type CallerPlace, regionOf } from '../stream/sockets/region.ts'
import { AddressGate, GUESTS } from './address-gate.ts'
import { callerAddress } from './caller-address.ts'
import { graphqlFailure } from './failure-wire.ts'
import type { StreamRouteDeps } from './stream.route.ts'

type Deps = Pick<StreamRouteDeps, 'relay' | 'requestId' | 'nowMs'> & { readonly isProxyTrusted: boolean }

const PROTOCOL = 'graphql-transport-ws'
const NO_UPGRADE: Issue = {
  path: 'upgrade',
  message: `connect with a WebSocket client and the subprotocol ${PROTOCOL}, such as the package graphql-ws. ${SEE_DOCS}`,
}

export function graphqlRoutes(deps: Deps, relaysPerRegion: number): Hono {
  const app = new Hono()
  const refusals = new Refusals()
  const gate = new AddressGate(GUESTS)
  app.get('/graphql', async (c) => {
    const { headers, cf } = c.req.raw
    const requestId = deps.requestId()
    const protocols = (headers.get('sec-websocket-protocol') ?? '').split(',').map((one) => one.trim())
    if (headers.get('upgrade')?.toLowerCase() !== 'websocket' || !protocols.includes(PROTOCOL))
      return refused({ kind: 'bad_field', issues: [NO_UPGRADE] }, requestId)
    const address = callerAddress(deps.isProxyTrusted, headers)
    const { waitMs, limit } = gate.take(address, deps.nowMs())
    if (waitMs > 0) return refused({ kind: 'rate_limited', retryAfterMs: waitMs, limit }, requestId)
    const region = regionOf(cf as CallerPlace | undefined)
    for (const index of relayOrder(address ?? requestId, 'light', relaysPerRegion)) {
      if (refusals.isFull(region, index, deps.nowMs())) continue
      const to = { upgrade: 'websocket', [GUEST_HEADER]: address ?? '' }
      const answer = await deps.relay(region, index).fetch('http://relay/graphql', { headers: to })
      if (answer.status === 101) return answer
      // Of others it may have room.
      if (Refusal.parse(await answer.json()).why === 'full') refusals.full(region, index, deps.nowMs())
    }
    return refused({ kind: 'unavailable', what: 'Every relay of your region is full', retryAfterMs: 5000 }, requestId)
  })
  return app
}

function refused(failure: Failure, requestId: string): Response {
  const { status, headers, body } = graphqlFailure(failure, requestId)
  return new Response(body, { status, headers })
}
