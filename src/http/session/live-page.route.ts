// POST /live/token: a stream token for a visitor of /live without a key, paid for by the account that the operator named.
// GET /live/glance: a book and the middles, a few seconds old and free, for a page that gets no token or no frames.
// Invariants: without such an account there is neither; visitors together spend a budget of credits an hour, and where
// that is spent they are told to come back; an address gets few tokens and glances; pages of other sites get none.

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
  /** LIVE_ACCOUNT, LIVE_COINS, and what all visitors together may have. */
  readonly account: AccountId | null
  readonly coins: readonly string[] | null
  readonly visitors: NonNullable<StreamToken['visitors']>
  /** Milliseconds until visitors may spend again, as the meter of the account knows it; 0: now. */
  readonly busyMs: (account: AccountId) => Promise<number>
  /** An answer of info, which nobody pays for; null where it cannot be had. */
  readonly read: (request: { readonly type: string; readonly coin?: Coin }) => Promise<string | null>
  /** Null where it is not known for sure. */
  readonly addressOf: (request: Request) => string | null
  readonly requestId: () => string
  readonly now: () => number
}

const MINUTES = 10
/** So old a glance may be, and so many are remembered. */
const GLANCE_MS = 5_000
const GLANCES_MAX = 256
const NO_GLANCE = '{"time":null,"book":null,"mids":null}'
const COIN = /^[\x21-\x7e]{1,64}$/
/** So long a key is paid with before it is looked for again; its end is heard of at once by whoever uses a token of it. */
const KEY_MS = 30_000

const CLOSED: Failure = {
  kind: 'not_entitled',
  why: 'This live page is for those who have a key: sign in at /console.',
}
const FOREIGN: Failure = { kind: 'not_entitled', why: 'Only the live page of this host gets such tokens: open /live.' }
const NO_KEY: Failure = {
  kind: 'unavailable',
  what: 'The account of LIVE_ACCOUNT has no API key for info and streams that is free of address ranges',
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: each of its steps is a function of its own.
export function livePageRoutes(deps: LivePageDeps): Hono {
  const { env, account, coins, visitors, busyMs, read, addressOf, requestId, now } = deps
  const app = new Hono()
  const glanceGate = new AddressLimiter(LIVE_POLLS)
  const glances = new BoundedMap<string, { readonly atMs: number; readonly text: string }>(GLANCES_MAX)
  const glancesUnderWay = new SingleFlights<string>(GLANCE_MS, GLANCES_MAX)
  const gate = new AddressLimiter(LIVE_TOKENS)
  let known: { keyHash: KeyHash | null; untilMs: number } = { keyHash: null, untilMs: 0 }

  const payingKey = async (of: string): Promise<KeyHash | null> => {
    const nowMs = now()
    if (known.untilMs > nowMs) return known.keyHash
    // The oldest: one that is made for something else, and may soon be spent, takes no visitors over.
    const keyHash = await visitorsKey(env.ACCOUNTS, of, nowMs + MINUTES * 60_000)
    if (keyHash !== null) known = { keyHash, untilMs: nowMs + KEY_MS }
    return keyHash
  }

  /** The account that pays for a visitor; refused off our own pages, and over the rate of an address. */
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
    const untilMs = await busyMs(payer.value).catch(() => 0)
    if (untilMs > 0) return err(visitorsBusy(untilMs))
    const address = addressOf(request)
    const holder = address === null ? crypto.randomUUID() : await holderOf(networkOf(address), env.KEY_SECRET)
    const said = { coins: coins && [...coins], channels: [...TOKEN_CHANNELS], expires: now() + MINUTES * 60_000 }
    const token = await sealStreamToken({ keyHash, holder, visitors, ...said }, env.KEY_SECRET)
    return ok(JSON.stringify({ token, ...said, time: now() }))
  }

  /** One text for all who look at a coin within a few seconds. */
  const glanceOf = async (coin: Coin): Promise<string> => {
    const known = glances.get(coin)
    if (known && now() - known.atMs < GLANCE_MS) return known.text
    const making = glancesUnderWay.join(coin, () => newGlance(coin), now())
    return glancesUnderWay.result(making, NO_GLANCE, after)
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
    if (!isShown) return err({ kind: 'bad_field', issues: [{ path: 'coin', message: 'is not shown on this page' }] })
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

/** Of the coins that the page shows. */
function visibleMids(text: string | null, coins: readonly string[] | null): string | null {
  if (text === null || coins === null) return text
  const mids = JSON.parse(text) as Readonly<Record<string, string>>
  return JSON.stringify(Object.fromEntries(Object.entries(mids).filter(([coin]) => coins.includes(coin))))
}
