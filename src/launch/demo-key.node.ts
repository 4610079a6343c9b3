// The demo keys, and the account that pays for /live: ordinary keys of ordinary accounts, made through the admin API like any
// operator's.

import * as z from 'zod'
import { err, ok, type Result } from '../core/result.ts'
import { DAILY_CREDITS, dailyGrant, utcDay } from './daily-credits.ts'
import { LIVE_ACCOUNT } from './gateway-variables.ts'

/** A paying customer's, so that a newcomer meets limits and a balance; `topUpDaily` fills it up. */
const DEMO_ACCOUNT = { plan: 'professional', credits: DAILY_CREDITS }
/** Visitors of /live share this one. */
const LIVE_TERMS = { plan: 'enterprise', credits: 100_000 }
const TIMEOUT_MS = 5_000
const DAY_LOOK_MS = 60_000

const Issued = z.object({ key: z.string() })
const Demo = z.object({ created: z.int(), balance: z.string() })
const Listed = z.object({ keys: z.array(z.object({ revoked: z.int().nullable() })) })

/** An API key, and a service key of the same account. */
export interface DemoKeys {
  readonly key: string
  readonly serviceKey: string
}

/** Makes new keys of the account `demo`, and both accounts at the first call. The error says what did not answer. */
export async function makeDemoKeys(
  url: string,
  adminToken: string,
  signal: AbortSignal,
): Promise<Result<DemoKeys, string>> {
  const ask = adminOf(url, adminToken, signal)
  const issue = async (kind: 'api' | 'service') =>
    Issued.parse(await ask('POST', '/keys', { account: 'demo', label: 'npm start', kind })).key
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
export async function topUpDaily(url: string, adminToken: string, signal: AbortSignal): Promise<void> {
  const ask = adminOf(url, adminToken, signal)
  let done = ''
  const look = async () => {
    const nowMs = Date.now()
    if (utcDay(nowMs) === done) return
    const grant = dailyGrant(Demo.parse(await ask('GET', '/accounts/demo')), nowMs)
    if (grant !== null) await ask('POST', '/accounts/demo/grants', grant, [409])
    done = utcDay(nowMs)
  }
  const tryLook = () => look().catch(() => undefined)
  await tryLook()
  const timer = setInterval(tryLook, DAY_LOOK_MS)
  signal.addEventListener('abort', () => clearInterval(timer))
}

/** Sees to it that /live is paid for. */
export async function payForLive(url: string, adminToken: string, signal: AbortSignal): Promise<void> {
  const ask = adminOf(url, adminToken, signal)
  await ask('PUT', `/accounts/${LIVE_ACCOUNT}`, LIVE_TERMS)
  const { keys } = Listed.parse(await ask('GET', `/keys?account=${LIVE_ACCOUNT}`))
  if (keys.every(({ revoked }) => revoked !== null))
    await ask('POST', '/keys', { account: LIVE_ACCOUNT, label: 'npm start' })
}

function adminOf(url: string, adminToken: string, signal: AbortSignal) {
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
