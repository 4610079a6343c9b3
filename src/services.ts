// Services of one gateway isolate: authentication, charging and everything behind the routes. Built on the first
// request, when the environment becomes available, and reused by all later requests. They hold no state of individual
// requests.

import { waitUntil as keepAlive } from 'cloudflare:workers'
import { AddressLimiter, callerAddress, KEY_LOOKUPS, WRONG_TOKENS } from './accounts/address-limiter.ts'
import { KeyResolver } from './accounts/key-resolver.store.ts'
import { RefusalLog } from './accounts/refusal-log.client.ts'
import { storeRefusals } from './accounts/refusals.store.ts'
import { orSession } from './accounts/sessions/session-auth.store.ts'
import { archiveOf } from './archive/archive/archive.store.ts'
import { filesOf } from './archive/files/files.store.ts'
import { rangeCache } from './archive/files/range-cache.client.ts'
import { countedStores } from './core/counted-stores.client.ts'
import { reporter } from './core/counter-reports.client.ts'
import { counters } from './core/counters.ts'
import type { Failure } from './core/failure.ts'
import type { AccountId } from './core/ids.ts'
import { logEvent } from './core/log.client.ts'
import { meterOf, Objects, payerOf } from './core/objects.client.ts'
import { err } from './core/result.ts'
import { after, sleep } from './core/timers.client.ts'
import type { WaitUntil } from './core/wait-until.ts'
import { type GatewaySettings, gatewaySettings } from './http/gateway-settings.ts'
import { logStatusReader } from './http/log-status.client.ts'
import type { Access } from './http/metered.route.ts'
import type { Platform } from './http/platform/platform-api.ts'
import { cacheStore } from './info/answer/answer-stores.store.ts'
import { infoService, infoUpstream } from './info/info.client.ts'
import { eventHistoryOf } from './info/sources/event-history.ts'
import { logHistory } from './info/sources/history.client.ts'
import { sharedFills } from './info/sources/shared-fills.ts'
import { type LeaseContext, LeasePool } from './metering/leases.client.ts'
import { counterSink, isReported, type MonitorEnv } from './monitor/counter-sink.client.ts'
import { RequestCounts } from './monitor/request-counts.ts'
import { newRequestId, pooled } from './protocol/request-id.ts'
import { type CallerLocation, regionOf } from './relay/sockets/region.ts'
import { rpcService } from './rpc/rpc.client.ts'

/** The operator pays for these tokens, and offers the live page only. */
const VISITORS_WITHOUT_GRAPHQL: Failure = {
  kind: 'not_entitled',
  why: 'Visitors without an account cannot use GraphQL. Sign in at /console.',
}

type Env = Cloudflare.Env

const now = () => Date.now()
const random = pooled((bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
const requestId = () => newRequestId(random)
const keys = new KeyResolver(undefined, (error) => logEvent('key_lookup_failed', { error }))
const leases = new LeasePool()
const refusals = new RefusalLog({ nowMs: now, sleep, report: (error) => logEvent('refusals_lost', { error }) })
const wrongTokens = new AddressLimiter(WRONG_TOKENS)
const requests = new RequestCounts()
counters.addSource(() => requests.take())
const visits = new AddressLimiter(KEY_LOOKUPS)

/** Logs a bug in the handling of a request. */
export function report(error: unknown, requestId: string): void {
  logEvent('request_failed', { request_id: requestId, error })
}

export type Services = ReturnType<typeof build>
let built: Services | null = null
/** The gateway's own origin for cache keys, from PUBLIC_URL or the first request that has one. */
let ownOrigin: string | null = null
const origin = () => ownOrigin

/** The region of this data center, from the first request with a known location. Its callers' meters are created there. */
let ownRegion: string | null = null

/** `request`: null if an object calls. */
export function servicesOf(env: Env, request: Pick<Request, 'url' | 'cf'> | null): Services {
  built ??= build(countedStores(env))
  if (ownOrigin === null) ownOrigin = cacheOrigin(built.settings.PUBLIC_URL || request?.url)
  if (ownRegion === null && request?.cf) ownRegion = knownRegion(request.cf as CallerLocation)
  return built
}

/** The Cache API does nothing on workers.dev. Port and scheme would only split the cache. */
function cacheOrigin(url: string | undefined): string | null {
  const host = url !== undefined && URL.canParse(url) ? new URL(url).hostname : ''
  return host === '' || host.endsWith('.workers.dev') ? null : `https://${host}`
}

function knownRegion(location: CallerLocation): string | null {
  const region = regionOf(location)
  return region === 'local' ? null : region
}

function chargingOf(
  env: Env,
  meterFailure: LeaseContext['meterFailure'],
  callersMeter: LeaseContext['meterOf'],
): Access['charging'] {
  return (waitUntil) =>
    leases.charging({
      meterOf: callersMeter,
      waitUntil,
      meterFailure,
      onRevoked: (keyHash) => keys.markRevoked(env, keyHash, waitUntil),
      onChanged: (keyHash, changedMs) => keys.markChanged(keyHash, changedMs),
    })
}

/** Loaded on demand, because most gateways do not sell by x402. */
function visitorsOf(env: Env, networks: GatewaySettings['X402'], addressOf: (request: Request) => string | null) {
  const payer = (network: string, address: string) => payerOf(env, network, address)
  const admit: Access['admitVisitor'] = async (request, waitUntil) => {
    const { admitVisitor } = await import('./billing/x402/paying-visitor.client.ts')
    return admitVisitor(request, waitUntil, { networks, payer, addressOf, nowMs: now })
  }
  return networks.length === 0 ? {} : { admitVisitor: admit }
}

function requestCounter(env: Env & MonitorEnv) {
  const sink = isReported(env) ? counterSink(env) : null
  /** `surface`: index in SURFACES. */
  return (surface: number, status: number, begunMs: number, ctx: { waitUntil: WaitUntil }): void => {
    const nowMs = now()
    requests.count(surface, status, nowMs - begunMs)
    if (sink !== null) reporter.schedule(sink, ctx, nowMs)
  }
}

function build(env: Env & MonitorEnv) {
  const settings = gatewaySettings(env)
  const objects = new Objects(env, settings)
  const addressOf = ({ headers }: Request) => callerAddress(settings.TRUST_PROXY, headers)
  const countLookup = (request: Request) => visits.take(addressOf(request), now())
  const wrongToken = (request: Request) => wrongTokens.take(addressOf(request), now())
  const callersMeter = (account: AccountId) => meterOf(env, account, ownRegion ?? settings.FEED_REGION)
  const keyEnv = { ...env, ...settings, countLookup }
  const access: Access = {
    authenticate: (request, entry, waitUntil) => {
      const byKey = keys.authenticate(keyEnv, request, entry, waitUntil)
      return entry.acceptsSessions ? orSession(keyEnv, request, entry, byKey) : byKey
    },
    charging: chargingOf(env, settings.METER_FAILURE, callersMeter),
    requestId,
    noteRefusal: (call, waitUntil) =>
      refusals.record(call, (batch) => storeRefusals(env.USAGE, batch, now()), waitUntil),
    ...visitorsOf(env, settings.X402, addressOf),
  }
  // Breakers, budgets and source clocks outlive the request that first uses them.
  const upstream = infoUpstream(settings.UPSTREAMS, { objects, waitUntil: keepAlive, secrets: env })
  const archive = archiveOf(env, settings.CHAIN)
  const history = logHistory({ log: () => objects.log(), now, sleep })
  const events = eventHistoryOf({
    history: sharedFills(history, now),
    files: filesOf(env, settings.CHAIN, rangeCache(caches.default, origin, keepAlive)),
    archive,
    after,
    hasFlatCandles: settings.EMPTY_CANDLES === 'flat',
  })
  const info = infoService(env, settings, { objects, upstream, archive, history, events, report, origin })
  const logStatus = logStatusReader(cacheStore(caches.default, settings.CHAIN, origin), () => objects.statusCache())
  /** Reads info data without charge; null if it is unavailable. */
  const read: Platform['read'] = async (request, account) => {
    const context = { identity: { account }, requestId: requestId(), waitUntil: keepAlive }
    return (await info.read(JSON.stringify(request), context))?.body ?? null
  }
  return {
    env,
    settings,
    objects,
    access,
    keyEnv,
    upstream,
    events,
    info,
    logStatus,
    rpc: rpcService(settings.RPC_CHAINS, { report, waitUntil: keepAlive, secrets: env }),
    read,
    /** Identifies a key that may use `/platform`. */
    identify: (key: string, request: Request, waitUntil: WaitUntil) =>
      keys.identify(keyEnv, key, { product: 'platform', kind: 'any' }, waitUntil, addressOf(request)),
    /** Identifies a key sent over a GraphQL socket. */
    enterGraphql: async (key: string, address: string | null, waitUntil: WaitUntil) => {
      const entry = { product: 'graphql', kind: 'api', acceptsTokens: true } as const
      const found = await keys.identify(keyEnv, key, entry, waitUntil, address)
      return found.ok && found.value.token?.visitors ? err(VISITORS_WITHOUT_GRAPHQL) : found
    },
    callersMeter,
    visitorsRegion: () => ownRegion,
    addressOf,
    wrongToken,
    countRequest: requestCounter(env),
    report,
    requestId,
    now,
  }
}
