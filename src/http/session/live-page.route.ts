// POST /live/token issues a stream token to visitors to /live who have no key; an account named by the operator pays.
// GET /live/glance returns an order book and mid prices for pages that have no token or no data yet; they are free and
// a few seconds old.
// Invariants: both routes exist only if the operator named an account; all visitors share an hourly credit budget;
// tokens and glances are
// rate limited per address; other sites get neither.

import { Hono } from 'hono'
import { AddressLimiter, LIVE_POLLS, LIVE_TOKENS } from '../../accounts/address-limiter.ts'
import type { StreamToken } from '../../accounts/identity.ts'
import { visitorsKey } from '../../accounts/key-records.store.ts'
import { NO_KEY_SECRET } from '../../accounts/key-resolver.store.ts'
import { isSameOrigin } from '../../accounts/sessions/session.ts'
import { holderOf, sealStreamToken } from '../../accounts/stream-token.client.ts'
import { TOKEN_CHANNELS, visitorsBusy } from '../../accounts/stream-token.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import type { Coin } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId, KeyHash } from '../../core/ids.ts'
import { networkOf } from '../../core/network.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { SingleFlights } from '../../core/single-flight.ts'
import { after } from '../../core/timers.client.ts'
import { ownPageReplies, rateLimitFailure } from '../own-page.route.ts'

export interface LivePageDeps {
  readonly env: { readonly ACCOUNTS: D1Database; readonly KEY_SECRET?: string }
  /** LIVE_ACCOUNT, LIVE_COINS and the shared budget of all visitors. */
  readonly account: AccountId | null
  readonly coins: readonly string[] | null
  readonly visitors: NonNullable<StreamToken['visitors']>
  /** Milliseconds until visitors may spend again, according to the account's meter; 0: now. */
  readonly busyMs: (account: AccountId) => Promise<number>
  /** An uncharged info response; null if unavailable. */
  readonly read: (request: { readonly type: string; readonly coin?: Coin }) => Promise<string | null>
  /** Null if the address cannot be trusted. */
  readonly addressOf: (request: Request) => string | null
  readonly requestId: () => string
  readonly now: () => number
}

const MINUTES = 10
/** Maximum age and number of cached glances. */
const GLANCE_MS = 5_000
const GLANCES_MAX = 256
const NO_GLANCE = '{"time":null,"book":null,"mids":null}'
const COIN = /^[\x21-\x7e]{1,64}$/
/** How long the paying key is cached. If it ends earlier, its tokens are rejected immediately. */
const KEY_MS = 30_000

const CLOSED: Failure = {
  kind: 'not_entitled',
  why: 'This live page needs a key. Sign in at /console.',
}
const FOREIGN: Failure = {
  kind: 'not_entitled',
  why: 'Only the live page of this host can request these tokens. Open /live.',
}
const NO_KEY: Failure = {
  kind: 'unavailable',
  what: 'The live page',
  hint: 'The account in LIVE_ACCOUNT has no suitable API key. Its operator must create one for info and streams, without IP ranges.',
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: each step is a separate function.
export function livePageRoutes(deps: LivePageDeps): Hono {
  const { env, account, coins, visitors, busyMs, read, addressOf, requestId, now } = deps
  const app = new Hono()
  const glanceGate = new AddressLimiter(LIVE_POLLS)
  const glances = new BoundedMap<string, { readonly atMs: number; readonly text: string }>(GLANCES_MAX)
  const glancesUnderWay = new SingleFlights<string>(GLANCE_MS, GLANCES_MAX)
  const gate = new AddressLimiter(LIVE_TOKENS)
  let cachedKey: { keyHash: KeyHash | null; untilMs: number } = { keyHash: null, untilMs: 0 }

  const payingKey = async (of: string): Promise<KeyHash | null> => {
    const nowMs = now()
    if (cachedKey.untilMs > nowMs) return cachedKey.keyHash
    // The oldest key, so that a newer key for another purpose does not start paying for visitors.
    const keyHash = await visitorsKey(env.ACCOUNTS, of, nowMs + MINUTES * 60_000)
    if (keyHash !== null) cachedKey = { keyHash, untilMs: nowMs + KEY_MS }
    return keyHash
  }

  /** The account that pays for a visitor. Rejects other origins and addresses over their rate limit. */
  const payingAccount = (request: Request, counting: AddressLimiter): Result<string, Failure> => {
    if (!isSameOrigin(request)) return err(FOREIGN)
    if (account === null) return err(CLOSED)
    const often = rateLimitFailure(counting.take(addressOf(request), now()))
    return often === null ? ok(account) : err(often)
  }

  const tokenFor = async (request: Request): Promise<Result<string, Failure>> => {
    const payer = payingAccount(request, gate)
    if (!payer.ok) return payer
    if (!env.KEY_SECRET) return err(NO_KEY_SECRET)
    const keyHash = await payingKey(payer.value)
    if (keyHash === null) return err(NO_KEY)
    const waitMs = await busyMs(payer.value).catch(() => 0)
    if (waitMs > 0) return err(visitorsBusy(waitMs))
    const address = addressOf(request)
    const holder = address === null ? crypto.randomUUID() : await holderOf(networkOf(address), env.KEY_SECRET)
    const claims = { coins: coins && [...coins], channels: [...TOKEN_CHANNELS], expires: now() + MINUTES * 60_000 }
    const token = await sealStreamToken({ keyHash, holder, visitors, ...claims }, env.KEY_SECRET)
    return ok(JSON.stringify({ token, ...claims, time: now() }))
  }

  /** Cached glance of a coin, shared by all visitors for a few seconds. */
  const glanceOf = async (coin: Coin): Promise<string> => {
    const cached = glances.get(coin)
    if (cached && now() - cached.atMs < GLANCE_MS) return cached.text
    const flight = glancesUnderWay.join(coin, () => newGlance(coin), now())
    return glancesUnderWay.result(flight, NO_GLANCE, after)
  }

  const newGlance = async (coin: Coin): Promise<string> => {
    const atMs = now()
    const [book, mids] = await Promise.all([coin && read({ type: 'l2Book', coin }), read({ type: 'allMids' })])
    const text = `{"time":${atMs},"book":${book || 'null'},"mids":${visibleMids(mids, coins) ?? 'null'}}`
    glances.set(coin, { atMs, text })
    return text
  }

  const glanceFor = async (request: Request): Promise<Result<string, Failure>> => {
    const payer = payingAccount(request, glanceGate)
    if (!payer.ok) return payer
    const coin = new URL(request.url).searchParams.get('coin') ?? ''
    const isShown = coin === '' || (COIN.test(coin) && (coins === null || coins.includes(coin)))
    if (!isShown)
      return err({ kind: 'bad_field', issues: [{ path: 'coin', message: 'is not available on this page' }] })
    return ok(await glanceOf(coin))
  }

  const replies = ownPageReplies(requestId)
  const respond = async (pending: Promise<Result<string, Failure>>) => {
    const result = await pending
    return result.ok ? replies.respond(result.value) : replies.reject(result.error)
  }

  app.post('/live/token', (c) => respond(tokenFor(c.req.raw)))
  app.get('/live/glance', (c) => respond(glanceFor(c.req.raw)))
  return app
}

/** Mid prices of the coins on the page. */
function visibleMids(text: string | null, coins: readonly string[] | null): string | null {
  if (text === null || coins === null) return text
  const mids = JSON.parse(text) as Readonly<Record<string, string>>
  return JSON.stringify(Object.fromEntries(Object.entries(mids).filter(([coin]) => coins.includes(coin))))
}
