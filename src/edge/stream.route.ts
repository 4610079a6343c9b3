// GET /ws and /k/<key>/ws: checks the key before the upgrade, then hands the socket to a relay of the caller's
// region. The key ends here: a relay is told who is calling, in a header that no client can set.

import { Hono } from 'hono'
import { type Failure, type Issue, SEE_DOCS } from '../core/failure.ts'
import { Gate } from '../core/gate.ts'
import type { Result } from '../core/result.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { counted, IDENTITY_HEADER, type Identity } from '../key/identity.ts'
import type { KnownCaller, NoteRefusal } from '../key/refused-calls.ts'
import { admissionFailure, Refusal, tooOften } from '../stream/sockets/admission.ts'
import { connectLimit } from '../stream/sockets/connect-limit.ts'
import { POOL_HEADER, type Pool, Refusals, relayOrder } from '../stream/sockets/placement.ts'
import { type CallerPlace, regionOf } from '../stream/sockets/region.ts'
import { infoFailure } from './failure-wire.ts'

/** What the gateway lends. */
export interface StreamRouteDeps<Env> {
  readonly authenticate: (
    env: Env,
    request: Request,
    path: string | undefined,
    waitUntil: WaitUntil,
  ) => Result<Identity, Failure> | Promise<Result<Identity, Failure>>
  readonly relay: (region: DurableObjectLocationHint | 'local', index: number) => Pick<Fetcher, 'fetch'>
  readonly requestId: () => string
  readonly nowMs: () => number
  readonly refused?: NoteRefusal | undefined
}

const NO_UPGRADE: Issue = {
  path: 'upgrade',
  message:
    'connect with a WebSocket client ("Upgrade: websocket") to /ws?key=<key>, then send ' +
    `{"method":"subscribe","subscription":{"type":"l2BookDiff","coin":"BTC"}}. ${SEE_DOCS}`,
}

/** Routes of the WebSocket surface. */
export function streamRoutes<Env extends object>(
  deps: StreamRouteDeps<Env>,
  settings: { readonly pathKeys: boolean; readonly relaysPerRegion: number },
) {
  const app = new Hono<{ Bindings: Env }>()
  const refusals = new Refusals()
  const gate = new Gate()
  for (const path of settings.pathKeys ? ['/ws', '/k/:key/ws'] : ['/ws']) {
    app.get(path, async (c) => {
      const requestId = deps.requestId()
      const waitUntil: WaitUntil = (work) => c.executionCtx.waitUntil(work)
      const fail = (failure: Failure, caller: KnownCaller | undefined = failure.caller) => {
        if (caller !== undefined)
          deps.refused?.({ caller, requestId, product: 'stream', type: 'connect', failure }, waitUntil)
        const { status, headers, body } = infoFailure(failure, requestId)
        return new Response(body, { status, headers })
      }
      const request = c.req.raw
      if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
        return fail({ kind: 'bad_field', issues: [NO_UPGRADE] })
      const identity = await deps.authenticate(c.env, request, c.req.param('key'), waitUntil)
      if (!identity.ok) return fail(identity.error)
      const { waitMs } = gate.take(counted(identity.value), connectLimit(identity.value), deps.nowMs())
      if (waitMs > 0) return fail(tooOften(identity.value, waitMs), identity.value)
      const answer = await connect(deps, request, identity.value, settings.relaysPerRegion, refusals)
      return answer instanceof Response ? answer : fail(answer, identity.value)
    })
  }
  return app
}

/** Tries the region's relays in the account's order, and where they send it on, the heavy ones. */
async function connect<Env>(
  deps: StreamRouteDeps<Env>,
  request: Request,
  identity: Identity,
  relaysPerRegion: number,
  refusals: Refusals,
): Promise<Response | Failure> {
  const region = regionOf(request.cf as CallerPlace | undefined)
  const { account } = identity
  const ask = async (pool: Pool): Promise<Response | Refusal> => {
    const headers = { upgrade: 'websocket', [IDENTITY_HEADER]: JSON.stringify(identity), [POOL_HEADER]: pool }
    for (const index of relayOrder(account, pool, relaysPerRegion)) {
      if (refusals.isFull(region, index, deps.nowMs())) continue
      const answer = await deps.relay(region, index).fetch('http://relay/ws', { headers })
      if (answer.status === 101) return answer
      const refusal = Refusal.parse(await answer.json())
      if (refusal.why !== 'full') return refusal
      refusals.full(region, index, deps.nowMs())
    }
    return { why: 'full', left: 0 }
  }
  const pool = refusals.pool(account, deps.nowMs())
  let answer = await ask(pool)
  if (pool === 'light' && !(answer instanceof Response) && answer.why === 'heavy') {
    refusals.heavy(account, deps.nowMs())
    answer = await ask('heavy')
  }
  return answer instanceof Response ? answer : admissionFailure(answer, identity)
}
