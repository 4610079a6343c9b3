// Worker 1: the routes, and what an isolate keeps in memory for them. No state of its own.

import { waitUntil as keepAlive, WorkerEntrypoint } from 'cloudflare:workers'
import { Hono } from 'hono'
import graphqlSchema from '../schemas/graphql/schema.graphql'
import type { Failure } from './core/failure.ts'
import { meterOf, Objects } from './core/objects.client.ts'
import type { Result } from './core/result.ts'
import { after, sleep } from './core/timers.client.ts'
import type { WaitUntil } from './core/wait-until.ts'
import { MICRO_PER_CREDIT } from './credit/amount.ts'
import { CHEAPEST_MINUTE } from './credit/tariff.ts'
import type { UsageKeeper, UsageRow } from './credit/usage.ts'
import { docsRoutes } from './docs/docs.route.ts'
import { AddressGate, LOOK_UPS, REST_REQUESTS, WRONG_TOKENS } from './edge/address-gate.ts'
import { addressLimit } from './edge/address-limit.route.ts'
import { callerAddress } from './edge/caller-address.ts'
import type { Charging } from './edge/charging.ts'
import { everyReply, failureReply } from './edge/every-reply.route.ts'
import { graphqlRoutes } from './edge/graphql.route.ts'
import { KeyRing, type KeyRingEnv } from './edge/key-ring.store.ts'
import { LeasePool } from './edge/leases.client.ts'
import { isBrowser, isConsole, pageOf, withPolicy } from './edge/pages.client.ts'
import { newRequestId, pooled } from './edge/request-id.ts'
import { livePageRoutes } from './edge/session/live-page.route.ts'
import { sessionRoutes } from './edge/session/session.route.ts'
import { hasSession, orVisitor, visitingOperator } from './edge/session/visitor.store.ts'
import { streamRoutes } from './edge/stream.route.ts'
import { type GatewaySettings, gatewaySettings } from './env.ts'
import { feedRoutes } from './feed/feed.route.ts'
import { archiveOf } from './history/archive/archive.store.ts'
import { filesOf } from './history/files/files.store.ts'
import type { InfoDesk } from './info/answer/info-desk.ts'
import { infoStatus } from './info/answer/routes.ts'
import { infoDesk, infoUpstream } from './info/info.client.ts'
import { answerHttp, type InfoRouteDeps, infoRoutes } from './info/info.route.ts'
import { logHistory } from './info/sources/history.client.ts'
import { pastOf } from './info/sources/past.ts'
import { sharedHeld } from './info/sources/shared-held.ts'
import type { Identity, Product } from './key/identity.ts'
import { keyFromD1 } from './key/key-records.store.ts'
import { admit, forData } from './key/record.ts'
import { RefusalBook } from './key/refusal-book.client.ts'
import { keepRefusals } from './key/refusals.store.ts'
import type { NoteRefusal, RefusalBatch } from './key/refused-calls.ts'
import { type SecretDesk, seal, unseal } from './pipeline/sealing.client.ts'
import { adminRoutes } from './platform/admin.route.ts'
import { ENDPOINTS } from './platform/catalogue.ts'
import { downloadRoutes } from './platform/download.route.ts'
import { type KeyedDeps, keyedRoutes } from './platform/keyed.route.ts'
import { platformOf } from './platform/platform.client.ts'
import type { Platform } from './platform/platform-api.ts'
import { keepUsage } from './platform/usage-copy.store.ts'
import { rpcDesk } from './rpc/rpc.client.ts'
import { answerRpc, type RpcRouteDeps, rpcChainOf, rpcRoutes } from './rpc/rpc.route.ts'
import { sellingRoutes } from './signup/selling.route.ts'
import { policyWithTurnstile } from './signup/turnstile.ts'
import type { PastAnswer } from './stream/events/first-frames.ts'
import type { KeyDesk } from './stream/graphql/entry.ts'
import type { GatewayInternal } from './stream/post.client.ts'
import type { Caller, CallerBook } from './stream/sockets/callers.client.ts'

type Env = Cloudflare.Env

const keys = new KeyRing(undefined, (error) => report(error, 'key look-up'))
const leases = new LeasePool()
const restGate = new AddressGate(REST_REQUESTS)
const wrongTokens = new AddressGate(WRONG_TOKENS)
const visits = new AddressGate(LOOK_UPS)
const now = () => Date.now()
const refusals = new RefusalBook({ nowMs: now, sleep, report: (error) => report(error, 'refusals') })
const random = pooled((bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
const requestId = () => newRequestId(random)

/** Who reads for streams, where accounts take turns at sources. */
const STREAMS = { account: '' }

/** What an isolate builds on its first request, when it learns its variables. */
interface Gateway {
  readonly app: Hono<{ Bindings: Env }>
  readonly desk: InfoDesk
  readonly info: InfoRouteDeps<Env>
  readonly rpc: RpcRouteDeps<Env>
  readonly settings: GatewaySettings
}
let built: Gateway | null = null

function gateway(env: Env): Gateway {
  built ??= build(env)
  return built
}

function build(env: Env): Gateway {
  const settings = gatewaySettings(env)
  const { PATH_KEYS: pathKeys, TRUST_PROXY: isProxyTrusted } = settings
  const objects = new Objects(env, settings)
  const visited = ({ headers }: Request) => visits.take(callerAddress(isProxyTrusted, headers), now())
  const keyEnv = { ...env, ...settings, visited }
  // Breakers, budgets and clocks of sources outlive the request that happens to touch them.
  const upstream = infoUpstream(settings.UPSTREAMS, { objects, waitUntil: keepAlive })
  const archive = archiveOf(env, settings.CHAIN)
  const history = logHistory({ log: () => objects.log(), now, sleep })
  const past = pastOf({ history: sharedHeld(history, now), files: filesOf(env, settings.CHAIN), archive, after })
  const refused: NoteRefusal = (call, waitUntil) =>
    refusals.note(call, (batch) => keepRefusals(env.ACCOUNTS, batch, now()), waitUntil)
  const desk = infoDesk(env, settings, { objects, upstream, archive, history, past, report, refused })
  const app = new Hono<{ Bindings: Env }>()
  const hasChallenge = settings.SIGNUP !== 'off' && settings.SIGNUP_SETTINGS.turnstileSiteKey !== undefined
  const page = async (request: Request) => {
    const found = await pageOf(env, request)
    return found !== null && hasChallenge && isConsole(request) ? withPolicy(found, policyWithTurnstile) : found
  }
  everyReply(app, { requestId, report, page })
  const lent = (inner: Env, waitUntil: WaitUntil) => charging(inner, settings, waitUntil)
  const shared = { charging: lent, requestId, refused }
  const info: InfoRouteDeps<Env> = { ...shared, desk: () => desk, authenticate: authenticator(keyEnv, 'info') }
  app.route('/', infoRoutes<Env>(info, { pathKeys }))
  const chains = rpcDesk(settings.RPC_CHAINS, { report, refused, waitUntil: keepAlive })
  const rpc: RpcRouteDeps<Env> = { ...shared, desk: chains, authenticate: authenticator(keyEnv, 'rpc') }
  app.route('/', rpcRoutes<Env>(rpc))
  app.route('/', docsRoutes<Env>(ENDPOINTS, graphqlSchema))
  const relay = (...place: Parameters<Objects['relay']>) => objects.relay(...place)
  const streams = { requestId, authenticate: authenticator(keyEnv, 'stream'), relay, nowMs: now, refused }
  app.route('/', streamRoutes<Env>(streams, { pathKeys, relaysPerRegion: settings.RELAYS_PER_REGION }))
  app.route('/', graphqlRoutes<Env>({ ...streams, isProxyTrusted }, settings.RELAYS_PER_REGION))
  app.get('/status', async ({ req }, next) => (isBrowser(req.raw) ? await pageOf(env, req.raw) : null) ?? next())
  const wrongToken = ({ headers }: Request) => wrongTokens.take(callerAddress(isProxyTrusted, headers), now())
  app.route(
    '/',
    feedRoutes<Env>(
      () => objects.log(),
      now,
      async () => ({ ...(await infoStatus(upstream, now(), past.isDeep)), chains: chains.view() }),
      wrongToken,
    ),
  )
  for (const rest of ['/platform/*', '/v1/*']) app.use(rest, addressLimit(restGate, { isProxyTrusted, requestId, now }))
  const read: Platform['read'] = async (request, account) => {
    const asking = { identity: { account }, requestId: requestId(), waitUntil: keepAlive }
    return (await desk.read(JSON.stringify(request), asking))?.body ?? null
  }
  const platform = platformOf(env, settings, objects, { read, report, now })
  const { staff } = platform
  const addressOf = (request: Request) => callerAddress(isProxyTrusted, request.headers)
  const identify = (key: string, request: Request, waitUntil: WaitUntil) =>
    keys.identify(keyEnv, key, { product: 'platform', kind: 'any' }, waitUntil, addressOf(request))
  app.route('/', sessionRoutes({ env: keyEnv, staff, identify, wrongToken, addressOf, requestId, now }))
  app.route('/', sellingRoutes(env, settings, { platform, wrongToken, addressOf, report, requestId, now }))
  const { LIVE_ACCOUNT: account, LIVE_COINS: coins } = settings
  const visitors = { perHour: settings.LIVE_CREDITS_PER_HOUR * MICRO_PER_CREDIT, sockets: settings.LIVE_SOCKETS }
  const livePage = livePageRoutes({
    env,
    account,
    coins,
    visitors,
    busyMs: (of) => meterOf(env, of).visitorsWaitMs(visitors.perHour, CHEAPEST_MINUTE),
    read: (request) => read(request, ''),
    addressOf,
    requestId,
    now,
  })
  app.route('/', livePage)
  const keyed: KeyedDeps = {
    platform,
    authenticate: (request, entry, waitUntil) =>
      orVisitor(
        keyEnv,
        request,
        entry,
        keys.authenticate(keyEnv, request, { ...entry, places: placesOf(entry.product) }, waitUntil),
      ),
    charging: (waitUntil) => charging(env, settings, waitUntil),
    addressOf,
    requestId,
    refused,
  }
  app.route('/', keyedRoutes(ENDPOINTS, keyed))
  const { ARCHIVE: bucket }: Partial<Env> = env
  app.route('/', downloadRoutes<Env>({ chain: settings.CHAIN, bucket, keySecret: env.KEY_SECRET, requestId, now }))
  const secrets = { adminToken: env.ADMIN_TOKEN, keySecret: env.KEY_SECRET }
  const visitor = (asked: Request) => (hasSession(asked) ? visitingOperator(keyEnv, asked, staff, now()) : null)
  app.route('/admin', adminRoutes(ENDPOINTS, { ...secrets, platform, visitor, wrongToken, requestId }))
  app.get('/', (c) => {
    if (isBrowser(c.req.raw)) return c.redirect('/live')
    return c.json({
      name: 'Weir',
      docs: 'GET /docs',
      info: 'POST /info',
      stream: 'GET /ws?key=<key> (WebSocket)',
      graphql: 'GET /graphql (WebSocket, graphql-transport-ws)',
      status: 'GET /status',
      live: 'GET /live (in a browser)',
      console: 'GET /console (in a browser)',
    })
  })
  return { app, desk, info, rpc, settings }
}

/** The REST data API takes keys as basic credentials, too. */
const placesOf = (product: Product | null) =>
  product === 'data' ? (['basic', 'bearer'] as const) : (['bearer'] as const)

/** API keys may come as a bearer token, on sockets also as `?key=`, and in the path where that form exists: never on JSON-RPC. */
const KEY_PLACES = { info: ['path', 'bearer'], stream: ['path', 'query', 'bearer'], rpc: ['bearer'] } as const

function authenticator(keyEnv: KeyRingEnv & Parameters<typeof orVisitor>[0], product: keyof typeof KEY_PLACES) {
  const places = KEY_PLACES[product]
  return (_: Env, request: Request, path: string | undefined, waitUntil: WaitUntil) => {
    const takesTokens = product !== 'rpc'
    const entry = { product, kind: 'api', places, takesTokens, ...(path === undefined ? {} : { path }) } as const
    const entered = keys.authenticate(keyEnv, request, entry, waitUntil)
    return product === 'info' ? orVisitor(keyEnv, request, entry, entered) : entered
  }
}

function charging(env: Env, settings: GatewaySettings, waitUntil: WaitUntil): Charging {
  const onRevoked = (keyHash: string) => keys.revoked(env, keyHash, waitUntil)
  const onChanged = (keyHash: string, changedMs: number) => keys.changed(keyHash, changedMs)
  const meterFailure = settings.METER_FAILURE
  return leases.charging({ meterOf: (account) => meterOf(env, account), waitUntil, meterFailure, onRevoked, onChanged })
}

/** The message of a bug reaches the operator's log alone; it may quote a caller, so control characters are escaped. */
function report(error: unknown, id: string): void {
  console.error(
    JSON.stringify({ request_id: id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
}

function failed(error: unknown, path = '/info'): Response {
  const id = requestId()
  report(error, id)
  return failureReply(path, { kind: 'internal' }, id)
}

/** What Durable Objects ask of the gateway, over a service binding that nobody else has. */
export class Internal
  extends WorkerEntrypoint<Env>
  implements UsageKeeper, CallerBook, GatewayInternal, KeyDesk, SecretDesk
{
  /** Copies of a meter's usage rows: only this Worker has D1. */
  async keepUsage(rows: readonly UsageRow[]): Promise<void> {
    await keepUsage(this.env.ACCOUNTS, rows)
  }

  /** What relays refused. */
  async keepRefusals(batch: RefusalBatch): Promise<void> {
    await keepRefusals(this.env.ACCOUNTS, batch, now())
  }

  /** Who has a key, for sockets whose account or key has changed. */
  async caller(keyHash: string, product: 'stream' | 'graphql' = 'stream', isToken = false): Promise<Caller> {
    const found = await keyFromD1(this.env.ACCOUNTS, keyHash)
    const record = found && isToken ? forData(found) : found
    // The address was looked at when the socket was opened.
    const anywhere = record === null ? null : { ...record, ranges: null }
    const admitted = anywhere && admit(anywhere, { product, kind: 'api' }, now(), null)
    if (admitted?.ok) return { ok: true, identity: admitted.value }
    const kind = admitted?.error.kind
    if (kind === 'key_replaced') return { ok: false, why: 'revoked', replaced: true }
    return { ok: false, why: kind === 'key_expired' ? 'expired' : kind === 'not_entitled' ? 'not entitled' : 'revoked' }
  }

  /** Who a key belongs to that a socket of GraphQL brings. */
  async enter(key: string, address: string | null): Promise<Result<Identity, Failure>> {
    const keyEnv = { ...this.env, ...gateway(this.env).settings }
    return keys.identify(keyEnv, key, { product: 'graphql', kind: 'api' }, (work) => this.ctx.waitUntil(work), address)
  }

  /** The secret of a pipeline's destination, for the object that sends there. */
  async openSecret(id: string, sealed: string): Promise<string | null> {
    return unseal(sealed, id, this.env.KEY_SECRET ?? '')
  }

  async sealSecret(id: string, secret: string): Promise<string> {
    return seal(secret, id, this.env.KEY_SECRET ?? '')
  }

  /** An info request of an authenticated socket, at its normal price. */
  async info(identity: Identity, text: string) {
    const { desk, settings } = gateway(this.env)
    const waitUntil: WaitUntil = (work) => this.ctx.waitUntil(work)
    const { status, body, headers } = await desk.answer({
      identity,
      text,
      requestId: requestId(),
      charging: charging(this.env, settings, waitUntil),
      waitUntil,
    })
    return { status, body, ignored: headers['x-ignored-fields'] }
  }

  /** What a stream wants to know, uncharged: its minutes pay for it. */
  async read(type: string, request: Readonly<Record<string, unknown>>): Promise<PastAnswer | null> {
    const { desk } = gateway(this.env)
    const waitUntil: WaitUntil = (work) => this.ctx.waitUntil(work)
    return desk.read(JSON.stringify({ ...request, type }), { identity: STREAMS, requestId: requestId(), waitUntil })
  }
}

/** True for the path `/info`: a URL object would cost more than finding the key in memory does. */
function isInfo(url: string): boolean {
  const path = url.indexOf('/', 'https://'.length)
  return url.startsWith('/info', path) && (url.length === path + 5 || url[path + 5] === '?')
}

export default {
  fetch(request, env, ctx) {
    const { app, info, rpc } = gateway(env)
    const { method, url } = request
    // Two hot routes skip the router, which costs a tenth of a cached answer.
    if (method === 'POST' && isInfo(url))
      return answerHttp(info, env, request, undefined, (work) => ctx.waitUntil(work)).catch((error) => failed(error))
    const chain = method === 'POST' ? rpcChainOf(url) : null
    if (chain !== null)
      return answerRpc(rpc, env, request, chain, (work) => ctx.waitUntil(work)).catch((error) =>
        failed(error, `/v1/${chain}`),
      )
    return app.fetch(request, env, ctx)
  },
} satisfies ExportedHandler<Env>
