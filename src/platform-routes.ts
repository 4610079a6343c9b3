// Routes of the REST API and of everything around it: documents, metrics, sessions, sign-up, the live page, /platform, /admin. Their
// schemas take most of the time that the gateway would need to start, so gateway.ts loads this file on demand.

import { type Context, Hono } from 'hono'
import graphqlSchema from '../schemas/graphql/schema.graphql'
import { hasSession, sessionOperator } from './accounts/sessions/session-auth.store.ts'
import { MICRO_PER_CREDIT } from './core/amount.ts'
import { monitorOf } from './core/objects.client.ts'
import { type App, dataRoutes, limitPerAddress, sourcesStatus } from './data-routes.ts'
import { addCommonReplies } from './http/common-replies.route.ts'
import { docsRoutes } from './http/docs/docs.route.ts'
import { mcpRoutes } from './http/mcp/mcp.route.ts'
import { metricsRoutes } from './http/metrics.route.ts'
import { isConsole, pageOf, withPolicy } from './http/pages.client.ts'
import { adminRoutes } from './http/platform/admin.route.ts'
import { ENDPOINTS } from './http/platform/catalogue.ts'
import { downloadRoutes } from './http/platform/download.route.ts'
import { keyedRoutes } from './http/platform/keyed.route.ts'
import { platformOf } from './http/platform/platform.client.ts'
import { livePageRoutes } from './http/session/live-page.route.ts'
import { sessionRoutes } from './http/session/session.route.ts'
import { sellingRoutes } from './http/signup/selling.route.ts'
import { policyWithTurnstile } from './http/signup/turnstile.client.ts'
import { CHEAPEST_MINUTE } from './metering/tariff.ts'
import { metricsToken } from './monitor/counter-sink.client.ts'
import { report, type Services } from './services.ts'

type Env = Cloudflare.Env

let built: App | null = null

/** All routes of the gateway in matching order. An unknown path or method gets hints from all of them. */
export function platformApp(services: Services): App {
  if (built !== null) return built
  const { env, settings, access, keyEnv, addressOf, wrongToken, requestId, read, now } = services
  const platform = platformOf(env, settings, services.objects, { read, now })
  const app: App = new Hono()
  addCommonReplies(app, { requestId, report, page: (request) => pageAt(request, services) })
  app.route('/', docsRoutes<Env>(ENDPOINTS, graphqlSchema))
  app.route('/', dataRoutes(services))
  for (const path of ['/platform/*', '/v1/*', '/mcp']) limitPerAddress(app, path, services)
  const metrics = { token: metricsToken(env), monitor: () => monitorOf(env), sources: () => sourcesStatus(services) }
  app.route('/', metricsRoutes({ ...services, ...metrics }))
  app.route('/', sessionRoutes({ ...services, env: keyEnv, staff: platform.staff }))
  app.route('/', sellingRoutes(env, settings, { ...services, platform }))
  app.route('/', livePage(services))
  app.route('/', keyedRoutes(ENDPOINTS, { ...access, platform, addressOf }))
  const surfaces = (request: Request, c: Context) => app.fetch(request, env, c.executionCtx)
  app.route('/', mcpRoutes({ ...access, chain: settings.CHAIN, surfaces, now }))
  const { ARCHIVE: bucket }: Partial<Env> = env
  app.route('/', downloadRoutes<Env>({ chain: settings.CHAIN, bucket, keySecret: env.KEY_SECRET, requestId, now }))
  const visitor = (request: Request) =>
    hasSession(request) ? sessionOperator(keyEnv, request, platform.staff, now()) : null
  const secrets = { adminToken: env.ADMIN_TOKEN, keySecret: env.KEY_SECRET }
  app.route('/admin', adminRoutes(ENDPOINTS, { ...secrets, platform, visitor, wrongToken, requestId }))
  built = app
  return app
}

async function pageAt(request: Request, { env, settings }: Services): Promise<Response | null> {
  const page = await pageOf(env, request)
  const hasChallenge = settings.SIGNUP !== 'off' && settings.SIGNUP_SETTINGS.turnstileSiteKey !== undefined
  return page !== null && hasChallenge && isConsole(request) ? withPolicy(page, policyWithTurnstile) : page
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
