// How soon a spending isolate sees an operator's change while KV is stale: real services, meter and D1, a KV that never
// updates, and an isolate with a manual clock.

import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { KeyResolver } from '../../src/accounts/key-resolver.store.ts'
import * as objects from '../../src/core/objects.client.ts'
import { accountsOf } from '../../src/http/platform/account-service.client.ts'
import { KeyService } from '../../src/http/platform/key-service.client.ts'
import { LeasePool } from '../../src/metering/leases.client.ts'
import { ManualClock } from './manual-clock.ts'

const bindings = env as unknown as Cloudflare.Env
const KEY_SECRET = 'a key secret of at least 32 characters!'
const meterOf = (account: string) => objects.meterOf(bindings, account, null)
/** The limit stated in docs/reference/rest.md: one lease. */
const BOUND_MS = 30_000

/** A KV that keeps the first value of each name forever. */
class StaleKv {
  readonly #first = new Map<string, string>()
  async get(name: string): Promise<unknown> {
    const text = this.#first.get(name)
    return text === undefined ? null : JSON.parse(text)
  }
  async put(name: string, text: string): Promise<void> {
    if (!this.#first.has(name)) this.#first.set(name, text)
  }
}

async function world() {
  const kv = new StaleKv() as unknown as KVNamespace
  const ports = {
    db: bindings.ACCOUNTS,
    usage: bindings.USAGE,
    kv,
    keySecret: KEY_SECRET,
    meterOf,
    nowMs: () => Date.now(),
  }
  const accounts = accountsOf(ports)
  const keys = new KeyService(ports)
  const issued = await keys.create({ plan: 'professional', label: 'bounds', kind: 'api' })
  if (!issued.ok) throw new Error('no key')
  const clock = new ManualClock(Date.now())
  clock.sleep = () => new Promise(() => {})
  const isolate = () => {
    const ring = new KeyResolver(clock.nowMs)
    const waits: Promise<unknown>[] = []
    const waitUntil = (work: Promise<unknown>) => void waits.push(work)
    const ringEnv = { ACCOUNTS: bindings.ACCOUNTS, KEYS: kv, KEY_SECRET, KEY_CHECK: true, TRUST_PROXY: false }
    const charging = new LeasePool(clock).charging({
      meterOf,
      waitUntil,
      meterFailure: 'closed' as const,
      onRevoked: (keyHash) => ring.markRevoked(ringEnv, keyHash, waitUntil),
      onChanged: (keyHash, changedMs) => ring.markChanged(keyHash, changedMs),
    })
    /** Plan under which a call was served, or the reason for its rejection. */
    return async (): Promise<string> => {
      const identity = await ring.identify(ringEnv, issued.value.key, { product: 'info', kind: 'api' }, waitUntil)
      if (!identity.ok) return identity.error.kind
      const hold = await charging.hold(identity.value, { product: 'info', type: 'meta', amount: 1_000_000 })
      if (!hold.ok) return hold.error.kind
      hold.value.settle()
      await Promise.all(waits.splice(0).map((work) => Promise.race([work, Promise.resolve()])))
      return identity.value.plan
    }
  }
  /** Results of a spending and a new isolate from the limit on, for two minutes. */
  const afterBound = async (call: () => Promise<string>) => {
    const changedMs = clock.now
    const answers = new Set<string>()
    const stranger = isolate()
    await stranger()
    for (; clock.now <= changedMs + 120_000; clock.now += 2_000) {
      const answer = await call()
      if (clock.now > changedMs + BOUND_MS) answers.add(answer)
    }
    answers.add(await stranger())
    return [...answers]
  }
  const call = isolate()
  for (let i = 0; i < 50; i++) expect(await call()).toBe('professional')
  return { ...issued.value, accounts, keys, call, afterBound }
}

describe('a spending isolate, and one with stale KV, see changes within one lease', () => {
  const enterprise = { plan: 'enterprise', terms: { micro: 1_000_000_000_000 } }
  type World = Awaited<ReturnType<typeof world>>
  it.each<[string, (world: World) => Promise<{ readonly ok: boolean }>, string]>([
    ['a revoked key', ({ keys, hash }) => keys.revoke({ name: hash }), 'key_revoked'],
    [
      'a key that was replaced',
      ({ keys, hash }) => keys.rotate({ name: hash }, { graceMs: 0, id: null }),
      'key_replaced',
    ],
    ['another plan', ({ accounts, account }) => accounts.changePlan(account, enterprise), 'enterprise'],
    ['fewer products', ({ keys, hash }) => keys.change({ name: hash }, { products: ['stream'] }), 'not_entitled'],
    ['a nearer end', ({ keys, hash }) => keys.change({ name: hash }, { expires: Date.now() }), 'key_expired'],
  ])('change of %s', async (_, change, answer) => {
    const changed = await world()
    expect((await change(changed)).ok).toBe(true)
    expect(await changed.afterBound(changed.call)).toEqual([answer])
  })
})
