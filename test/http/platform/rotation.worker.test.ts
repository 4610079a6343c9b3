import { describe, expect, it } from 'vitest'
import { KeyResolver } from '../../../src/accounts/key-resolver.store.ts'
import { spend } from '../../metering/meter.worker.ts'
import { ask, bindings, enter, meterOf, newKey, settings, waitUntil } from './operator.worker.ts'

const CREDIT = 1e6
const ringIn = (ms: number) => new KeyResolver(() => Date.now() + ms)
const rotate = (name: string, body: object) => ask('POST', `/keys/${name}/rotate`, body)
/** Version that makes relays refresh their callers. */
const termsOf = async (account: string) => {
  const nothing = {
    alive: null,
    sockets: 0,
    subscriptions: 0,
    perMinute: 0,
    keys: [],
    connects: [],
    charges: [],
    ends: [],
  }
  const report = { v: 1, relay: 'r', life: 1, limits: { connections: 1, subscriptions: 1 }, ...nothing }
  return (await meterOf(account).stream(report)).terms
}
const keysOf = async (account: string) => (await ask('GET', `/keys?account=${account}`)).json.keys

describe('rotating a key', () => {
  it('keeps both keys valid during the grace period, then only the new key, with all restrictions', async () => {
    const expires = Date.now() + 86_400_000
    const order = { label: 'turning', products: ['info'], expires, cap: 5, ranges: ['192.0.2.0/24'] }
    const old = await newKey({ credits: 2, ...order })
    const { status, json } = await rotate(old.prefix, { grace_seconds: 60 })
    expect([status, json.account, json.label]).toEqual([201, old.account, 'turning'])
    expect(json.old_key_ends - Date.now()).toBeLessThanOrEqual(60_000)
    const [fresh] = (await keysOf(old.account)).filter((key: { hash: string }) => key.hash === json.hash)
    expect(fresh).toMatchObject({ ...order, cap: '5', replaced_by: null })
    for (const [key, ms, said] of [
      [old.key, 0, 'ok'],
      [json.key, 0, 'ok'],
      [old.key, 61_000, 'key_replaced'],
      [json.key, 61_000, 'ok'],
    ] as const) {
      expect(await from('192.0.2.1', key, ms)).toBe(said)
    }
  })

  it('creates one key for repeated requests', async () => {
    const old = await newKey({ credits: 1 })
    const order = { grace_seconds: 60, idempotency_key: 'spring' }
    const first = await rotate(old.hash, order)
    const again = await rotate(old.hash, order)
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.json).toMatchObject({ hash: first.json.hash, repeated: true, old_key_ends: first.json.old_key_ends })
    expect(again.text).not.toContain(first.json.key)
    const other = await rotate(old.hash, { ...order, grace_seconds: 61 })
    expect([other.status, other.json.error_message]).toEqual([409, expect.stringContaining('idempotency_key: ')])
    for (const body of [{}, { idempotency_key: 'summer' }]) {
      const refused = await rotate(old.hash, body)
      expect([refused.status, refused.json.error_message]).toEqual([409, expect.stringContaining(first.json.prefix)])
    }
    expect(await keysOf(old.account)).toHaveLength(2)
    expect((await rotate(first.json.hash, order)).status).toBe(201)
  })

  it('creates one key for concurrent requests', async () => {
    const old = await newKey({ credits: 1 })
    const tries = Array.from({ length: 6 }, () => rotate(old.hash, { idempotency_key: 'rush' }))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 200, 201])
    expect(await keysOf(old.account)).toHaveLength(2)
  })

  it('closes sockets of the old key at its end', async () => {
    const old = await newKey({ credits: 1 })
    const before = await termsOf(old.account)
    await rotate(old.hash, { grace_seconds: 60 })
    expect(await termsOf(old.account)).toBeGreaterThan(before)
  })

  it('without a grace period ends the old key at once, even after an interrupted attempt', async () => {
    const old = await newKey({ credits: 1 })
    const order = { grace_seconds: 0, idempotency_key: 'now' }
    const { json } = await rotate(old.hash, order)
    expect([await enter(ringIn(0), old.key), await enter(ringIn(0), json.key)]).toEqual(['key_replaced', 'ok'])
    expect(await spend(meterOf(old.account), old.hash, 1)).toMatchObject({ ok: false, reason: 'revoked' })
    expect((await rotate(old.hash, order)).status).toBe(200)
    const gone = await newKey({ credits: 1 })
    await ask('DELETE', `/keys/${gone.hash}`)
    expect((await rotate(gone.hash, {})).json.error_message).toContain('key: ')
  })

  it('shares cap and spending across any number of rotations', async () => {
    const first = await newKey({ credits: 100, cap: 3 })
    const spends = async (keyHash: string) => (await spend(meterOf(first.account), keyHash, CREDIT)).ok
    expect(await spends(first.hash)).toBe(true)
    const second = (await rotate(first.hash, {})).json
    expect([await spends(second.hash), await spends(first.hash)]).toEqual([true, true])
    expect([await spends(second.hash), await spends(first.hash)]).toEqual([false, false])
    const third = (await rotate(second.hash, {})).json
    expect(await spends(third.hash)).toBe(false)
    await ask('PATCH', `/keys/${third.hash}`, { cap: 4 })
    expect((await keysOf(first.account)).map((key: { cap: string }) => key.cap)).toEqual(['4', '4', '4'])
    expect([await spends(first.hash), await spends(third.hash)]).toEqual([true, false])
  })

  it('counts earlier spending towards a later cap', async () => {
    const first = await newKey({ credits: 100 })
    await spend(meterOf(first.account), first.hash, CREDIT)
    const second = (await rotate(first.hash, {})).json
    await ask('PATCH', `/keys/${second.hash}`, { cap: 1 })
    expect(await spend(meterOf(first.account), second.hash, CREDIT)).toMatchObject({ ok: false, reason: 'exhausted' })
  })
})

async function from(address: string | null, key: string, ms = 0, trust = true) {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  if (address !== null) headers['cf-connecting-ip'] = address
  const result = await ringIn(ms).authenticate(
    { ...settings, TRUST_PROXY: trust },
    new Request('http://weir/info', { headers }),
    { product: 'info', kind: 'api', places: ['bearer'] },
    waitUntil,
  )
  return result.ok ? 'ok' : result.error.kind
}

describe('IP ranges', () => {
  it('are normalized, changeable and enforced', async () => {
    const { key, hash } = await newKey({ credits: 1, ranges: ['192.0.2.0/24', '2001:DB8::/32', '198.51.100.7'] })
    const stored = JSON.parse((await bindings.KEYS.get(`key:${hash}`)) ?? 'null')
    expect(stored).toBe(null)
    for (const [address, said] of [
      ['192.0.2.255', 'ok'],
      ['::ffff:192.0.2.1', 'ok'],
      ['2001:db8:ffff::1', 'ok'],
      ['198.51.100.7', 'ok'],
      ['198.51.100.8', 'not_entitled'],
      ['2001:db9::1', 'not_entitled'],
      ['nonsense', 'not_entitled'],
      [null, 'not_entitled'],
    ] as const) {
      expect([address, await from(address, key)]).toEqual([address, said])
    }
    expect((await ask('PATCH', `/keys/${hash}`, { ranges: ['10.0.0.0/8'] })).json.ranges).toEqual(['10.0.0.0/8'])
    expect(JSON.parse((await bindings.KEYS.get(`key:${hash}`)) ?? '{}').ranges).toEqual(['10.0.0.0/8'])
    expect([await from('10.1.2.3', key), await from('192.0.2.1', key)]).toEqual(['ok', 'not_entitled'])
    expect((await ask('PATCH', `/keys/${hash}`, { label: 'same' })).json.ranges).toEqual(['10.0.0.0/8'])
    expect((await ask('PATCH', `/keys/${hash}`, { ranges: null })).json.ranges).toBe(null)
    expect(await from(null, key)).toBe('ok')
  })

  it('reject everyone if addresses are untrusted, without naming the ranges', async () => {
    const { key } = await newKey({ credits: 1, ranges: ['192.0.2.0/24'] })
    expect(await from('192.0.2.1', key, 0, false)).toBe('not_entitled')
    const entry = { product: 'info', kind: 'api' } as const
    for (const [address, why] of [
      [null, 'TRUST_PROXY'],
      ['198.51.100.1', 'yours is not one of them'],
    ] as const) {
      const refused = await ringIn(0).identify(settings, key, entry, waitUntil, address)
      expect(refused).toMatchObject({ error: { kind: 'not_entitled', why: expect.stringContaining(why) } })
      expect(JSON.stringify(refused)).not.toContain('192.0.2')
    }
  })
})
