// Creates the demo account of `npx weir demo` and waits until a launch is ready: the gateway responds, the demo key works, and the
// feed has brought an order book. Accounts and keys are created through the admin API.
// Invariant: grants of a UTC day share one idempotency key, so that restarts grant nothing extra.

import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { formatCredits, MICRO_PER_CREDIT, parseCredits } from '../../core/amount.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { LIVE_ACCOUNT } from './args.ts'

/** The demo account is refilled to this balance each UTC day. */
export const DAILY_CREDITS = 1_000

/** The plan of a paying customer, so that newcomers see limits and a balance; `topUpDaily` refills it. */
const DEMO_ACCOUNT = { plan: 'professional', credits: DAILY_CREDITS }
/** The account that visitors to /live share. */
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
/** A coin that devnet always lists; its book shows that the feed works. */
const PROBE_COIN = 'BTC'

/** Polls until the launch is ready; `onWaiting` reports what is missing when that changes. Stops only with `signal`. */
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
        onWaiting('the account of /live, which could not be set up'),
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
    return 'the first order book'
  }
}

/**
 * Returns null if an order book is served, `key` if the key was rejected, and otherwise what is missing. The book is
 * requested only after the feed reports books, because earlier rejections would appear on the page of the account.
 */
async function probe(url: string, key: string, signal: AbortSignal): Promise<string | null> {
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(2_000)])
    const status = (await (await fetch(`${url}/status`, { signal: within })).json()) as { booksKnown?: boolean }
    if (status.booksKnown !== true) return 'the first order book'
    const answer = await fetch(`${url}/info`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'l2BookDiffSnapshot', coin: PROBE_COIN }),
      signal: within,
    })
    const text = await answer.text()
    if (answer.status === 401) return 'key'
    // A demo account without credits is not a failed start.
    if (answer.status === 402) return null
    return answer.status === 200 && text !== 'null' ? null : `the first order book (HTTP ${answer.status})`
  } catch {
    signal.throwIfAborted()
    return 'the gateway'
  }
}

/** Creates the account `demo` if needed, and new keys of it. The error says what did not respond. */
async function createDemoKeys(url: string, adminToken: string, signal: AbortSignal): Promise<Result<DemoKeys, string>> {
  const ask = adminClient(url, adminToken, signal)
  const issue = async (kind: 'api' | 'service') =>
    IssuedKeyResponse.parse(await ask('POST', '/keys', { account: 'demo', label: 'weir demo', kind })).key
  try {
    await ask('PUT', '/accounts/demo', DEMO_ACCOUNT)
    return ok({ key: await issue('api'), serviceKey: await issue('service') })
  } catch (error) {
    signal.throwIfAborted()
    // fetch throws a TypeError while nothing listens yet, as at the beginning of every start.
    return err(error instanceof TypeError ? 'the gateway' : `the demo keys (${(error as Error).message})`)
  }
}

/** Refills the demo account now and on every UTC day until `signal`. Never rejects; the next check retries. */
async function topUpDaily(url: string, adminToken: string, signal: AbortSignal): Promise<void> {
  const ask = adminClient(url, adminToken, signal)
  let doneDay = ''
  const check = async () => {
    const nowMs = Date.now()
    if (utcDay(nowMs) === doneDay) return
    const grant = dailyGrant(AccountResponse.parse(await ask('GET', '/accounts/demo')), nowMs)
    if (grant !== null) await ask('POST', '/accounts/demo/grants', grant, [409])
    doneDay = utcDay(nowMs)
  }
  const tryCheck = () => check().catch(() => undefined)
  await tryCheck()
  const timer = setInterval(tryCheck, DAY_CHECK_MS)
  signal.addEventListener('abort', () => clearInterval(timer))
}

/** Creates the account and key that pay for /live, if missing. */
async function fundLiveAccount(url: string, adminToken: string, signal: AbortSignal): Promise<void> {
  const ask = adminClient(url, adminToken, signal)
  await ask('PUT', `/accounts/${LIVE_ACCOUNT}`, LIVE_TERMS)
  const { keys } = KeyListResponse.parse(await ask('GET', `/keys?account=${LIVE_ACCOUNT}`))
  if (keys.every(({ revoked }) => revoked !== null))
    await ask('POST', '/keys', { account: LIVE_ACCOUNT, label: 'weir demo' })
}

function adminClient(url: string, adminToken: string, signal: AbortSignal) {
  /** `accepted`: error statuses that are not a failure. */
  return async (method: string, path: string, body?: object, accepted: readonly number[] = []): Promise<unknown> => {
    const answer = await fetch(`${url}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body) ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    if (!answer.ok && !accepted.includes(answer.status))
      throw new Error(`${path} responded with status ${answer.status}: ${(await answer.text()).slice(0, 200)}`)
    return answer.json()
  }
}

interface DemoBalance {
  /** Unix ms. */
  readonly created: number
  /** Exact decimal string. */
  readonly balance: string
}

/** Today's grant for the admin API; null if the account was created today or has its full balance. */
export function dailyGrant({ created, balance }: DemoBalance, nowMs: number) {
  const left = parseCredits(balance)
  const missing = left.ok ? DAILY_CREDITS * MICRO_PER_CREDIT - left.value : 0
  if (missing <= 0 || utcDay(created) === utcDay(nowMs)) return null
  return { idempotency_key: `npm-start-${utcDay(nowMs)}`, credits: formatCredits(missing) }
}

export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
