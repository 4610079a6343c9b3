// Worker 1: the routes. The two busiest routes are matched before the router runs, and are also mounted on it.

import { Hono } from 'hono'
import graphqlSchema from '../schemas/graphql/schema.graphql'
import { AddressLimiter, REST_REQUESTS } from './accounts/address-limiter.ts'
import { hasSession, sessionOperator } from './accounts/sessions/session-auth.store.ts'
import { MICRO_PER_CREDIT } from './core/amount.ts'
import { monitorOf } from './core/objects.client.ts'
import { addCommonReplies, addressLimit, failureReply } from './http/common-replies.route.ts'
import { docsRoutes } from './http/docs/docs.route.ts'
import { feedRoutes } from './http/feed.route.ts'
import { handleInfo, infoRoutes } from './http/info.route.ts'
import { metricsRoutes } from './http/metrics.route.ts'
import { isBrowser, isConsole, pageOf, withPolicy } from './http/pages.client.ts'
import { adminRoutes } from './http/platform/admin.route.ts'
import { ENDPOINTS } from './http/platform/catalogue.ts'
import { downloadRoutes } from './http/platform/download.route.ts'
import { keyedRoutes } from './http/platform/keyed.route.ts'
import { handleRpc, rpcChainOf, rpcRoutes } from './http/rpc.route.ts'
import { livePageRoutes } from './http/session/live-page.route.ts'
import { sessionRoutes } from './http/session/session.route.ts'
import { sellingRoutes } from './http/signup/selling.route.ts'
import { policyWithTurnstile } from './http/signup/turnstile.client.ts'
import { graphqlRoutes, streamRoutes } from './http/stream.route.ts'
import { infoStatus } from './info/answer/info-status.ts'
import { CHEAPEST_MINUTE } from './metering/tariff.ts'
import { metricsToken } from './monitor/counter-sink.client.ts'
import { SURFACES, surfaceOf } from './monitor/request-counts.ts'
import { report, type Services, servicesOf } from './services.ts'

export { Internal } from './internal.ts'

type Env = Cloudflare.Env
type App = Hono<{ Bindings: Env }>

/** Endpoints that `/` lists for API clients; browsers are redirected to /live. */
const ROOT = {
  name: 'Weir',
  docs: 'GET /docs',
  info: 'POST /info',
  stream: 'GET /ws?key=<key> (WebSocket)',
  graphql: 'GET /graphql (WebSocket, graphql-transport-ws)',
  status: 'GET /status',
  live: 'GET /live (in a browser)',
  console: 'GET /console (in a browser)',
}

let mounted: App | null = null

/** Routes in matching order. */
function appOf(services: Services): App {
  if (mounted !== null) return mounted
  const { env, settings, objects, access, info, rpc, platform, addressOf, wrongToken, requestId, now } = services
  const { PATH_KEYS: pathKeys, TRUST_PROXY: isProxyTrusted } = settings
  const relays = { relaysPerRegion: settings.RELAYS_PER_REGION, relayRegions: settings.RELAY_REGIONS }
  const app: App = new Hono()
  addCommonReplies(app, { requestId, report, page: (request) => pageAt(request, services) })
  app.route('/', infoRoutes(info, access, { pathKeys }))
  app.route('/', rpcRoutes(rpc, access))
  app.route('/', docsRoutes<Env>(ENDPOINTS, graphqlSchema))
  const relay: Services['objects']['relay'] = (...args) => objects.relay(...args)
  const streams = { ...access, relay, nowMs: now, isProxyTrusted }
  app.route('/', streamRoutes(streams, { pathKeys, ...relays }))
  app.route('/', graphqlRoutes(streams, relays))
  const gate = new AddressLimiter(REST_REQUESTS)
  for (const path of ['/status', '/platform/*', '/v1/*'])
    app.use(path, addressLimit(gate, { isProxyTrusted, requestId, now }))
  app.get('/status', async ({ req }, next) => (isBrowser(req.raw) ? await pageOf(env, req.raw) : null) ?? next())
  const sources = () => sourcesStatus(services)
  const feed = { log: () => objects.log(), sources, nowMs: now }
  app.route('/', feedRoutes<Env>({ ...feed, logStatus: services.logStatus, wrongToken }))
  app.route('/', metricsRoutes({ ...services, sources, token: metricsToken(env), monitor: () => monitorOf(env) }))
  app.route('/', sessionRoutes({ ...services, env: services.keyEnv, staff: platform.staff }))
  app.route('/', sellingRoutes(env, settings, services))
  app.route('/', livePage(services))
  app.route('/', keyedRoutes(ENDPOINTS, { ...access, platform, addressOf }))
  const { ARCHIVE: bucket }: Partial<Env> = env
  app.route('/', downloadRoutes<Env>({ chain: settings.CHAIN, bucket, keySecret: env.KEY_SECRET, requestId, now }))
  const visitor = (request: Request) =>
    hasSession(request) ? sessionOperator(services.keyEnv, request, platform.staff, now()) : null
  const secrets = { adminToken: env.ADMIN_TOKEN, keySecret: env.KEY_SECRET }
  app.route('/admin', adminRoutes(ENDPOINTS, { ...secrets, platform, visitor, wrongToken, requestId }))
  app.get('/', (c) => (isBrowser(c.req.raw) ? c.redirect('/live') : c.json(ROOT)))
  mounted = app
  return app
}

async function pageAt(request: Request, { env, settings }: Services): Promise<Response | null> {
  const page = await pageOf(env, request)
  const hasChallenge = settings.SIGNUP !== 'off' && settings.SIGNUP_SETTINGS.turnstileSiteKey !== undefined
  return page !== null && hasChallenge && isConsole(request) ? withPolicy(page, policyWithTurnstile) : page
}

async function sourcesStatus({ upstream, events, rpc, now }: Services) {
  return { ...(await infoStatus(upstream, now(), events.isDeep)), chains: rpc.view() }
}

function livePage({ env, settings, callersMeter, read, addressOf, requestId, now }: Services): Hono {
  const perHour = settings.LIVE_CREDITS_PER_HOUR * MICRO_PER_CREDIT
  return livePageRoutes({
    env,
    account: settings.LIVE_ACCOUNT,
    coins: settings.LIVE_COINS,
    visitors: { perHour, sockets: settings.LIVE_SOCKETS },
    busyMs: (account) => callersMeter(account).visitorsWaitMs(perHour, CHEAPEST_MINUTE),
    read: (request) => read(request, ''),
    addressOf,
    requestId,
    now,
  })
}

/** True for the path `/info`. Creating a URL object would take longer than looking up a key in memory. */
function isInfo(url: string): boolean {
  const path = url.indexOf('/', 'https://'.length)
  return url.startsWith('/info', path) && (url.length === path + 5 || url[path + 5] === '?')
}

const INFO = SURFACES.indexOf('info')
const RPC = SURFACES.indexOf('rpc')

interface CountedRequest {
  readonly services: Services
  readonly surface: number
  readonly begunMs: number
  readonly ctx: ExecutionContext
}

/** Counts the response. A bug becomes an error reply in the format of `path`. */
function counted(reply: Promise<Response>, counting: CountedRequest, path: string): Promise<Response> {
  const done = (response: Response) => {
    const { services, surface, begunMs, ctx } = counting
    services.countRequest(surface, response.status, begunMs, ctx)
    return response
  }
  return reply.then(done, (error) => {
    const id = counting.services.requestId()
    report(error, id)
    return done(failureReply(path, { kind: 'internal' }, id))
  })
}

export default {
  fetch(request, env, ctx) {
    const { method, url } = request
    const services = servicesOf(env, request)
    const { access, info, rpc } = services
    const begunMs = services.now()
    // The router would add a tenth to the time of a cached response.
    if (method === 'POST' && isInfo(url))
      return counted(
        handleInfo(info, access, request, (work) => ctx.waitUntil(work)),
        { services, surface: INFO, begunMs, ctx },
        '/info',
      )
    const chain = method === 'POST' ? rpcChainOf(url) : null
    if (chain !== null)
      return counted(
        handleRpc(rpc, access, request, (work) => ctx.waitUntil(work), chain),
        { services, surface: RPC, begunMs, ctx },
        `/v1/${chain}`,
      )
    const surface = SURFACES.indexOf(surfaceOf(url))
    const reply = Promise.resolve(appOf(services).fetch(request, env, ctx))
    return counted(reply, { services, surface, begunMs, ctx }, '/')
  },
} satisfies ExportedHandler<Env>
