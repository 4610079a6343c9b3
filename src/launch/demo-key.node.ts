// The demo keys, and the account that pays for /live: ordinary keys of ordinary accounts, made through the admin API like any
// operator's.

import * as z from 'zod'
import { err, ok, type Result } from '../core/result.ts'
import { LIVE_ACCOUNT } from './gateway-variables.ts'

/** Wide limits, so that a bench meets the machine first; few enough credits to be drained in a trial. */
const ACCOUNT = { plan: 'enterprise', credits: 100_000 }
const TIMEOUT_MS = 5_000

const Issued = z.object({ key: z.string() })
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
    await ask('PUT', '/accounts/demo', ACCOUNT)
    return ok({ key: await issue('api'), serviceKey: await issue('service') })
  } catch (error) {
    signal.throwIfAborted()
    // fetch says only "fetch failed" where nothing listens yet, which is how every start begins.
    return err(error instanceof TypeError ? 'the gateway' : `the demo keys (${(error as Error).message})`)
  }
}

/** Sees to it that /live is paid for. */
export async function payForLive(url: string, adminToken: string, signal: AbortSignal): Promise<void> {
  const ask = adminOf(url, adminToken, signal)
  await ask('PUT', `/accounts/${LIVE_ACCOUNT}`, ACCOUNT)
  const { keys } = Listed.parse(await ask('GET', `/keys?account=${LIVE_ACCOUNT}`))
  if (keys.every(({ revoked }) => revoked !== null))
    await ask('POST', '/keys', { account: LIVE_ACCOUNT, label: 'npm start' })
}

function adminOf(url: string, adminToken: string, signal: AbortSignal) {
  return async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${url}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body) ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`)
    return answer.json()
  }
}
