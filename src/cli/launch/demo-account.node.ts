// The demo account of `npm start`, and when a launch is ready: the gateway answers, the demo key opens it, and the feed has
// brought a book. Keys and accounts are ordinary ones, made through the admin API like any operator's.
// Invariant: the grants of a UTC day have one id, so that restarts give nothing more.

import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { formatCredits, MICRO_PER_CREDIT, parseCredits } from '../../core/amount.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { LIVE_ACCOUNT } from './args.ts'

/** The balance to which the demo account is filled up each UTC day. */
export const DAILY_CREDITS = 1_000

/** A paying customer's, so that a newcomer meets limits and a balance; `topUpDaily` fills it up. */
const DEMO_ACCOUNT = { plan: 'professional', credits: DAILY_CREDITS }
/** Visitors of /live share this one. */
const LIVE_TERMS = { plan: 'enterprise', credits: 100_000 }
const TIMEOUT_MS = 5_000
const DAY_CHECK_MS = 60_000

const IssuedKeyResponse = z.object({ key: z.string() })
const AccountResponse = z.object({ created: z.int(), balance: z.string() })
const KeyListResponse = z.object({ keys: z.array(z.object({ revoked: z.int().nullable() })) })

/** An API key, and a service key of the same account. */
export interface DemoKeys {
  readonly key: string
  readonly serviceKey: string
}

const POLL_MS = 100
/** Coin whose book stands for all; devnet always lists it. */
const PROBE_COIN = 'BTC'

/** Polls until everything stands; `waiting` hears what is missing when that changes. Ends only with `signal`. */
export async function waitUntilReady(
  url: string,
  adminToken: string,
  stored: DemoKeys | null,
  onWaiting: (what: string) => void,
  signal: AbortSignal,
): Promise<DemoKeys> {
  let keys = stored
  for (let last = ''; ; await sleep(POLL_MS, undefined, { signal })) {
    const missing = keys === null ? await makeKeys() : await probe(url, keys.key, signal)
    if (missing === null && keys !== null) {
      await topUpDaily(url, adminToken, signal)
      await fundLiveAccount(url, adminToken, signal).catch(() =>
        onWaiting('the account of /live, which is not paid for'),
      )
      return keys
    }
    if (missing === 'key') keys = null
    else if (missing !== null && missing !== last) onWaiting(missing)
    last = missing ?? last
  }

  async function makeKeys(): Promise<string | null> {
    const made = await createDemoKeys(url, adminToken, signal)
    if (!made.ok) return made.error
    keys = made.value
    return 'the first book'
  }
}

/**
 * Null: a book is served; `key`: the key is not accepted; else what is missing. Asked for once the feed says that it has
 * books: every refusal before would stand on the account's page.
 */
async function probe(url: string, key: string, signal: AbortSignal): Promise<string | null> {
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(2_000)])
    const status = (await (await fetch(`${url}/status`, { signal: within })).json()) as { booksKnown?: boolean }
    if (status.booksKnown !== true) return 'the first book'
    const answer = await fetch(`${url}/info`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'l2BookDiffSnapshot', coin: PROBE_COIN }),
      signal: within,
    })
    const text = await answer.text()
    if (answer.status === 401) return 'key'
    // A drained demo account is a state of its own, not a failed start.
    if (answer.status === 402) return null
    return answer.status === 200 && text !== 'null' ? null : `the first book (HTTP ${answer.status})`
  } catch {
    signal.throwIfAborted()
    return 'the gateway'
  }
}

/** Makes new keys of the account `demo`, and both accounts at the first call. The error says what did not answer. */
async function createDemoKeys(url: string, adminToken: string, signal: AbortSignal): Promise<Result<DemoKeys, string>> {
  const ask = adminClient(url, adminToken, signal)
  const issue = async (kind: 'api' | 'service') =>
    IssuedKeyResponse.parse(await ask('POST', '/keys', { account: 'demo', label: 'npm start', kind })).key
  try {
    await ask('PUT', '/accounts/demo', DEMO_ACCOUNT)
    return ok({ key: await issue('api'), serviceKey: await issue('service') })
  } catch (error) {
    signal.throwIfAborted()
    // fetch says only "fetch failed" where nothing listens yet, which is how every start begins.
    return err(error instanceof TypeError ? 'the gateway' : `the demo keys (${(error as Error).message})`)
  }
}

/** Fills the demo account up now, and on each further UTC day until `signal`. Never rejects: the next look tries again. */
async function topUpDaily(url: string, adminToken: string, signal: AbortSignal): Promise<void> {
  const ask = adminClient(url, adminToken, signal)
  let done = ''
  const look = async () => {
    const nowMs = Date.now()
    if (utcDay(nowMs) === done) return
    const grant = dailyGrant(AccountResponse.parse(await ask('GET', '/accounts/demo')), nowMs)
    if (grant !== null) await ask('POST', '/accounts/demo/grants', grant, [409])
    done = utcDay(nowMs)
  }
  const tryLook = () => look().catch(() => undefined)
  await tryLook()
  const timer = setInterval(tryLook, DAY_CHECK_MS)
  signal.addEventListener('abort', () => clearInterval(timer))
}

/** Sees to it that /live is paid for. */
async function fundLiveAccount(url: string, adminToken: string, signal: AbortSignal): Promise<void> {
  const ask = adminClient(url, adminToken, signal)
  await ask('PUT', `/accounts/${LIVE_ACCOUNT}`, LIVE_TERMS)
  const { keys } = KeyListResponse.parse(await ask('GET', `/keys?account=${LIVE_ACCOUNT}`))
  if (keys.every(({ revoked }) => revoked !== null))
    await ask('POST', '/keys', { account: LIVE_ACCOUNT, label: 'npm start' })
}

function adminClient(url: string, adminToken: string, signal: AbortSignal) {
  /** `passing`: refusals that are no failure. */
  return async (method: string, path: string, body?: object, passing: readonly number[] = []): Promise<unknown> => {
    const answer = await fetch(`${url}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body) ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    if (!answer.ok && !passing.includes(answer.status))
      throw new Error(`${path} answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`)
    return answer.json()
  }
}

interface DemoBalance {
  /** Unix ms. */
  readonly created: number
  /** Decimal text. */
  readonly balance: string
}

/** The grant of today as the admin API takes it; null where the account was made today or is full. */
export function dailyGrant({ created, balance }: DemoBalance, nowMs: number) {
  const left = parseCredits(balance)
  const missing = left.ok ? DAILY_CREDITS * MICRO_PER_CREDIT - left.value : 0
  if (missing <= 0 || utcDay(created) === utcDay(nowMs)) return null
  return { idempotency_key: `npm-start-${utcDay(nowMs)}`, credits: formatCredits(missing) }
}

export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
