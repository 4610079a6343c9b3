// POST /live/token: a stream token for a visitor of /live who is nobody's, at the cost of the account that the operator
// named. Laws: without such an account there is none; an address gets few, and all of them together open few sockets and
// ask few questions; pages of other sites get none.

import { Hono } from 'hono'
import type { Failure } from '../../core/failure.ts'
import { networkOf } from '../../core/network.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { visitorsKey } from '../../key/key-records.store.ts'
import { holderOf, sealStreamToken } from '../../key/stream-token.client.ts'
import { TOKEN_CHANNELS } from '../../key/stream-token.ts'
import { AddressGate, LIVE_TOKENS } from '../address-gate.ts'
import { restFailure } from '../failure-wire.ts'
import { NO_KEY_SECRET } from '../key-ring.store.ts'
import { REQUEST_ID_HEADER } from '../request-id.ts'
import { isOwnPage } from './session.ts'

export interface LiveTokenDeps {
  readonly env: { readonly ACCOUNTS: D1Database; readonly KEY_SECRET?: string }
  /** LIVE_ACCOUNT and LIVE_COINS. */
  readonly account: string | null
  readonly coins: readonly string[] | null
  /** Null where it is not known for sure. */
  readonly addressOf: (request: Request) => string | null
  readonly requestId: () => string
  readonly now: () => number
}

const MINUTES = 10
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

export function liveTokenRoutes({ env, account, coins, addressOf, requestId, now }: LiveTokenDeps): Hono {
  const app = new Hono()
  const gate = new AddressGate(LIVE_TOKENS)
  let known = { keyHash: '', untilMs: 0 }

  const payingKey = async (of: string): Promise<string | null> => {
    const nowMs = now()
    if (known.untilMs > nowMs) return known.keyHash
    // The oldest: one that is made for something else, and may soon be spent, takes no visitors over.
    const keyHash = await visitorsKey(env.ACCOUNTS, of, nowMs + MINUTES * 60_000)
    if (keyHash !== null) known = { keyHash, untilMs: nowMs + KEY_MS }
    return keyHash
  }

  const tokenFor = async (request: Request): Promise<Result<object, Failure>> => {
    if (!isOwnPage(request)) return err(FOREIGN)
    if (account === null) return err(CLOSED)
    const address = addressOf(request)
    const { waitMs, limit } = gate.take(address, now())
    if (waitMs > 0) return err({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
    if (!env.KEY_SECRET) return err(NO_KEY_SECRET)
    const keyHash = await payingKey(account)
    if (keyHash === null) return err(NO_KEY)
    const holder = address === null ? crypto.randomUUID() : await holderOf(networkOf(address), env.KEY_SECRET)
    const said = { coins: coins && [...coins], channels: [...TOKEN_CHANNELS], expires: now() + MINUTES * 60_000 }
    return ok({ token: await sealStreamToken({ keyHash, holder, ...said }, env.KEY_SECRET), ...said, time: now() })
  }

  app.post('/live/token', async (c) => {
    const id = requestId()
    const token = await tokenFor(c.req.raw)
    const headers = { 'cache-control': 'no-store', [REQUEST_ID_HEADER]: id }
    if (token.ok) return Response.json(token.value, { headers })
    const refused = restFailure(token.error, id)
    return new Response(refused.body, { status: refused.status, headers: { ...refused.headers, ...headers } })
  })
  return app
}
