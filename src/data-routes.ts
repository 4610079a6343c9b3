// Routes that serve data of the exchange and the state of the gateway: info, JSON-RPC, streams, feed, status. They
// need few schemas, so every isolate loads them at its start.

import { Hono } from 'hono'
import { AddressLimiter, REST_REQUESTS } from './accounts/address-limiter.ts'
import { addressLimit } from './http/common-replies.route.ts'
import { feedRoutes } from './http/feed.route.ts'
import { infoRoutes } from './http/info.route.ts'
import { isBrowser, pageOf } from './http/pages.client.ts'
import { rpcRoutes } from './http/rpc.route.ts'
import { graphqlRoutes, streamRoutes } from './http/stream.route.ts'
import { infoStatus } from './info/answer/info-status.ts'
import type { Services } from './services.ts'

type Env = Cloudflare.Env
export type App = Hono<{ Bindings: Env }>

/** Endpoints that `/` lists for API clients; browsers get a page. */
const ROOT = {
  name: 'Weir',
  docs: 'GET /docs',
  info: 'POST /info',
  stream: 'GET /ws?key=<key> (WebSocket)',
  graphql: 'GET /graphql (WebSocket, graphql-transport-ws)',
  mcp: 'POST /mcp (Model Context Protocol)',
  status: 'GET /status',
  live: 'GET /live (in a browser)',
  console: 'GET /console (in a browser)',
}

const gate = new AddressLimiter(REST_REQUESTS)
let built: App | null = null

/** Limits requests to `path` per client address. All these paths share the limit. */
export function limitPerAddress(app: App, path: string, { settings, requestId, now }: Services): void {
  app.use(path, addressLimit(gate, { isProxyTrusted: settings.TRUST_PROXY, requestId, now }))
}

export function dataRoutes(services: Services): App {
  if (built !== null) return built
  const { env, settings, objects, access, info, rpc, wrongToken, now } = services
  const { PATH_KEYS: pathKeys, TRUST_PROXY: isProxyTrusted } = settings
  const relays = { relaysPerRegion: settings.RELAYS_PER_REGION, relayRegions: settings.RELAY_REGIONS }
  const app: App = new Hono()
  app.route('/', infoRoutes(info, access, { pathKeys }))
  app.route('/', rpcRoutes(rpc, access))
  const relay: Services['objects']['relay'] = (...args) => objects.relay(...args)
  const streams = { ...access, relay, nowMs: now, isProxyTrusted }
  app.route('/', streamRoutes(streams, { pathKeys, ...relays }))
  app.route('/', graphqlRoutes(streams, relays))
  for (const path of ['/status', '/status/live', '/status/ready']) limitPerAddress(app, path, services)
  app.get('/status', async ({ req }, next) => (isBrowser(req.raw) ? await pageOf(env, req.raw) : null) ?? next())
  const feed = { log: () => objects.log(), sources: () => sourcesStatus(services), nowMs: now }
  app.route('/', feedRoutes<Env>({ ...feed, logStatus: services.logStatus, wrongToken }))
  app.get('/', (c, next) => (isBrowser(c.req.raw) ? next() : c.json(ROOT, 200, { vary: 'accept' })))
  built = app
  return app
}

/** The part of `/status` that is about info sources and chains. */
export async function sourcesStatus({ upstream, events, rpc, now }: Services) {
  return { ...(await infoStatus(upstream, now(), events.isDeep)), chains: rpc.view() }
}
