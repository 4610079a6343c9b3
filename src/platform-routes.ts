// Routes of the REST API and of everything around it: documents, metrics, sessions, sign-up, the live page, /platform, /admin. Their
// schemas take most of the time that the gateway would need to start, so gateway.ts loads this file on demand.

import { type Context, Hono } from 'hono'
import graphqlSchema from '../schemas/graphql/schema.graphql'
import { AddressLimiter, WALLET_KEYS } from './accounts/address-limiter.ts'
import { hasSession, sessionOperator } from './accounts/sessions/session-auth.store.ts'
import type { Login } from './billing/x402/login.ts'
import { MICRO_PER_CREDIT } from './core/amount.ts'
import { logEvent } from './core/log.client.ts'
import { monitorOf, payerOf } from './core/objects.client.ts'
import { type App, dataRoutes, limitPerAddress, sourcesStatus } from './data-routes.ts'
import { addCommonReplies } from './http/common-replies.route.ts'
import { docsRoutes } from './http/docs/docs.route.ts'
import { type AlertLinkDeps, alertLinkRoutes } from './http/mail/alert-links.route.ts'
import { alertMailsOf } from './http/mail/alert-mails.client.ts'
import { mcpRoutes } from './http/mcp/mcp.route.ts'
import { metricsRoutes } from './http/metrics.route.ts'
import { isConsole, pageOf, withPolicy } from './http/pages.client.ts'
import { adminRoutes } from './http/platform/admin.route.ts'
import { ENDPOINTS } from './http/platform/catalogue.ts'
import { downloadRoutes } from './http/platform/download.route.ts'
import { keyedRoutes } from './http/platform/keyed.route.ts'
import { platformOf } from './http/platform/platform.client.ts'
import type { Platform } from './http/platform/platform-api.ts'
import { livePageRoutes } from './http/session/live-page.route.ts'
import { sessionRoutes } from './http/session/session.route.ts'
import { linkMailerOf } from './http/signup/link-mails.client.ts'
import { MemberService } from './http/signup/member-service.client.ts'
import { MemberSignIn } from './http/signup/member-sign-in.client.ts'
import { sellingRoutes } from './http/signup/selling.route.ts'
import { policyWithTurnstile } from './http/signup/turnstile.client.ts'
import { siteOf } from './http/site/site.route.ts'
import { statusHistoryRoutes } from './http/status-history.route.ts'
import { creditsRoutes } from './http/x402/credits.route.ts'
import { walletKeyRoutes } from './http/x402/key.route.ts'
import { offersRoutes } from './http/x402/offers.route.ts'
import { walletsOf } from './http/x402/wallet-accounts.client.ts'
import { CATALOGUE } from './info/queries/catalogue.ts'
import { PLANS } from './metering/plans/plan.ts'
import { CHEAPEST_MINUTE } from './metering/tariff.ts'
import { metricsToken } from './monitor/counter-sink.client.ts'
import { CHANNELS } from './relay/channels/catalogue.ts'
import { report, type Services } from './services.ts'

type Env = Cloudflare.Env

/** Its order book is on the page `/`, unless visitors may not see it. */
const SITE_COIN = 'BTC'

let built: App | null = null

/** All routes of the gateway in matching order. An unknown path or method gets hints from all of them. */
export function platformApp(services: Services): App {
  if (built !== null) return built
  const { env, settings, access, keyEnv, addressOf, wrongToken, requestId, read, now } = services
  const sources = () => sourcesStatus(services)
  const members = memberService(services)
  const platform = platformOf(env, settings, services.objects, { read, sources, members, now })
  const signIn = new MemberSignIn({ keys: platform.keys, members })
  const app: App = new Hono()
  // A plan that the operator made is for those to whom it was offered.
  const plans = () => platform.plans.existing(Object.keys(PLANS))
  const site = siteOf({ ...siteSettings(services), env, plans, now })
  const page = async (request: Request) => (await pageAt(request, services)) ?? site.notFound(request)
  addCommonReplies(app, { requestId, report, page })
  app.route('/', docsRoutes<Env>(ENDPOINTS, graphqlSchema))
  app.route('/', dataRoutes(services))
  app.route('/', site.routes)
  for (const path of ['/platform/*', '/v1/*', '/mcp', '/status/*', '/alerts/*']) limitPerAddress(app, path, services)
  const metrics = { token: metricsToken(env), monitor: () => monitorOf(env), sources }
  app.route('/', metricsRoutes({ ...services, ...metrics }))
  const history = { monitor: () => monitorOf(env), incidents: platform.incidents, publicUrl: settings.PUBLIC_URL }
  app.route('/', statusHistoryRoutes({ ...history, requestId, now }))
  app.route('/', sessionRoutes({ ...services, env: keyEnv, staff: platform.staff, members: signIn }))
  app.route('/', sellingRoutes(env, settings, { ...services, platform, members, signIn }))
  app.route('/', livePage(services))
  app.route('/', alertLinks(services, platform, site.page))
  app.route('/', paymentRoutes(services, platform))
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

function alertLinks(
  { env, settings, wrongToken }: Services,
  { accounts, meterOf }: Platform,
  page: AlertLinkDeps['page'],
): Hono {
  const { missingFailure } = accounts
  return alertLinkRoutes({ mails: alertMailsOf(env, settings), meterOf, missingFailure, wrongToken, page })
}

function memberService({ env, settings, now }: Services): MemberService {
  const { SIGNUP, SIGNUP_SETTINGS: terms, PUBLIC_URL: publicUrl } = settings
  const { KEY_SECRET: keySecret = '' } = env
  return new MemberService({
    db: env.ACCOUNTS,
    keySecret,
    mailer: linkMailerOf(env, settings),
    delivery: SIGNUP === 'log' ? 'log' : 'mail',
    refusedDomains: terms.refusedDomains,
    publicUrl,
    nowMs: now,
    report: (error) => logEvent('invitation_failed', { error }),
  })
}

/** Without networks, only the list of prices answers, and says so. */
function paymentRoutes(services: Services, platform: Platform): Hono {
  const { env, settings, requestId, now, addressOf } = services
  const { X402: networks, RPC_CHAINS: chains } = settings
  const app = offersRoutes({ networks, queries: CATALOGUE, operations: ENDPOINTS, chains, requestId })
  if (networks.length === 0) return app
  const payer = (network: string, address: string) => payerOf(env, network, address)
  const { issueKey } = walletsOf(services)
  app.route('/', creditsRoutes({ networks, payer, issueKey, addressOf, requestId, report, nowMs: now }))
  const login = {
    networks: networks.map(({ network }) => network),
    publicUrl: settings.PUBLIC_URL,
    accounts: platform.accounts,
    gate: new AddressLimiter(WALLET_KEYS),
    useNonce: ({ network, address, nonce, untilMs }: Login) => payer(network, address).useNonce(nonce, untilMs),
  }
  return app.route('/', walletKeyRoutes({ ...login, issueKey, addressOf, requestId, now }))
}

function siteSettings({ settings, requestId }: Services) {
  const { LIVE_ACCOUNT: liveAccount, LIVE_COINS: coins, CHECKOUT, CHECKOUT_PRICES: prices } = settings
  const isShown = coins === null || coins.includes(SITE_COIN)
  return {
    publicUrl: settings.PUBLIC_URL,
    links: settings.SITE_LINKS,
    offer: {
      prices: CHECKOUT === 'off' ? null : prices,
      hasSignUp: settings.SIGNUP !== 'off',
      takesWallets: settings.X402.length > 0,
      liveCoin: liveAccount === null ? null : isShown ? SITE_COIN : (coins[0] ?? null),
      types: CATALOGUE.length,
      channels: CHANNELS.length,
    },
    report: (error: unknown) => report(error, requestId()),
  }
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
