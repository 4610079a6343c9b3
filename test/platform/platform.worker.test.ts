import { createExecutionContext } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { KeyRing } from '../../src/edge/key-ring.store.ts'
import { LeasePool } from '../../src/edge/leases.client.ts'
import { PRODUCTS } from '../../src/key/identity.ts'
import { ENDPOINTS } from '../../src/platform/catalogue.ts'
import { keyedRoutes } from '../../src/platform/keyed.route.ts'
import { spend, spendCalls } from '../credit/spend.worker.ts'
import { meterOf, newKey, platformOf, settings } from './operator.worker.ts'

const CREDIT = 1_000_000

function gateway() {
  const keys = new KeyRing()
  const leases = new LeasePool()
  return keyedRoutes(ENDPOINTS, {
    platform: platformOf(),
    authenticate: (request, entry, waitUntil) =>
      keys.authenticate(settings, request, { ...entry, places: ['bearer'] }, waitUntil),
    charging: (waitUntil) =>
      leases.charging({
        meterOf,
        waitUntil,
        meterFailure: 'closed',
        onRevoked: (hash) => keys.revoked(settings, hash, waitUntil),
      }),
    requestId: () => 'req_1',
  })
}

async function get(app: ReturnType<typeof gateway>, path: string, key?: string) {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const response = await app.request(path, { headers }, {}, createExecutionContext())
  const text = await response.text()
  const json = text === '' ? null : JSON.parse(text)
  const [name = ''] = path.replace(/\/?(\?.*)?$/, '/').split('?')
  const published = ENDPOINTS.find((operation) => operation.path === name)?.answers[response.status]
  // As published: nothing is missing, and nothing is there that the document does not name.
  expect(response.ok ? published?.schema.parse(json) : json).toEqual(json)
  return { status: response.status, headers: response.headers, text, json }
}

describe('what a key may know of itself', () => {
  it('is one balance, in headers and body, also while calls are being paid here and elsewhere', async () => {
    const { key, hash, account } = await newKey({ credits: 1_000, plan: 'enterprise' })
    const keys = new KeyRing()
    const leases = new LeasePool()
    const charging = () =>
      leases.charging({ meterOf, waitUntil: () => {}, meterFailure: 'closed', onRevoked: () => undefined })
    const app = keyedRoutes(ENDPOINTS, {
      platform: platformOf(),
      authenticate: (request, entry, waitUntil) =>
        keys.authenticate(settings, request, { ...entry, places: ['bearer'] }, waitUntil),
      charging,
      requestId: () => 'req_1',
    })
    const identity = { v: 1, account, keyHash: hash, kind: 'api', plan: 'enterprise', products: [...PRODUCTS] } as const
    const call = async () => {
      const hold = await charging().hold(
        { ...identity, products: [...PRODUCTS] },
        { product: 'info', type: 'meta', amount: CREDIT },
      )
      return hold.ok ? hold.value.settle() : Number.NaN
    }
    for (let round = 1; round < 4; round++) {
      await Promise.all(Array.from({ length: 50 }, call))
      await spend(meterOf(account), hash, CREDIT)
      const { json, headers } = await get(app, '/platform/key/', key)
      expect(json.data).toMatchObject({ credits_remaining: 1_000 - round * 51, spent: round * 51 })
      expect(headers.get('x-credits-remaining')).toBe(String(1_000 - round * 51))
    }
  })

  it('is what is left of its cap in the headers, and the account’s balance in the body', async () => {
    const { key, hash, account } = await newKey({ credits: 100, cap: 3 })
    const { json, headers } = await get(gateway(), '/platform/key/', key)
    expect([json.data.credits_remaining, headers.get('x-credits-remaining')]).toEqual([100, '3'])
    expect([json.data.cap, json.data.cap_remaining]).toEqual([3, 3])
    await spend(meterOf(account), hash, 2_500_000)
    expect((await get(gateway(), '/platform/key/', key)).json.data).toMatchObject({ cap: 3, cap_remaining: 0.5 })
    const other = await newKey({ account })
    expect((await get(gateway(), '/platform/key/', other.key)).json.data).toMatchObject({
      cap: null,
      cap_remaining: null,
    })
  })

  it('is its account’s usage per day, key and type, to the millionth, with either kind of key', async () => {
    const one = await newKey({ credits: 100, label: 'one' })
    const two = await newKey({ account: one.account, label: 'two', kind: 'service' })
    await newKey({ credits: 100, label: 'a stranger' })
    await spend(meterOf(one.account), one.hash, 130_000)
    await spend(meterOf(one.account), one.hash, 1_000_001)
    await spend(meterOf(one.account), two.hash, 2_000_000)
    await spendCalls(meterOf(one.account), one.hash, 4, 2_000_000)
    const app = gateway()
    for (const { key } of [one, two]) {
      const { status, json, headers, text } = await get(app, '/platform/usage/', key)
      expect(status).toBe(200)
      expect(json).toMatchObject({ error: false, error_message: null, error_code: null })
      const today = new Date().toISOString().slice(0, 10)
      expect(json.data.period.to).toBe(today)
      const all = { calls: 4, stream_minutes: 3 }
      expect(json.data.by_day).toEqual([{ date: today, premium_credits: 5.130001, free_credits: 0, ...all }])
      expect(json.data.aggregate).toEqual({
        ...all,
        credits_consumed: 5.130001,
        premium_credits: 5.130001,
        free_credits: 0,
        max_credits: 0,
        plan: 'trial',
        flex_credits: { limit: 0 },
      })
      expect(json.data.by_api_key).toHaveLength(2)
      expect(json.data.by_api_key).toContainEqual({
        apikey: one.prefix,
        label: 'one',
        credits_consumed: 3.130001,
        calls: 4,
        stream_minutes: 2,
      })
      expect(json.data.by_type).toEqual([
        { product: 'stream', type: 'allFills', credits_consumed: 3.130001, calls: 0, stream_minutes: 3 },
        { product: 'info', type: 'meta', credits_consumed: 2, calls: 4, stream_minutes: 0 },
      ])
      expect(text).not.toContain(one.key)
      expect(headers.get('x-credits-cost')).toBe('0')
      expect(headers.get('x-request-id')).toBe('req_1')
      expect(headers.get('ratelimit-policy')).toBe('"rest";q=4;w=1')
    }
    expect((await meterOf(one.account).balance()).spent).toBe(5_130_001)
  })

  it('is the key itself, its balance and its limits', async () => {
    const { key, prefix, account } = await newKey({
      plan: 'professional',
      label: 'mine',
      products: ['info', 'platform'],
    })
    expect((await get(gateway(), '/platform/key', key)).json.data).toMatchObject({
      apikey: prefix,
      label: 'mine',
      account,
      plan: 'professional',
      products: ['info', 'platform'],
      credits_remaining: 300_000,
      spent: 0,
      period: { credits: 300_000 },
      limits: { rest_requests_per_second: 50, info_requests_per_second: 5_000 },
    })
  })

  it.each([
    ['duration=2', 'duration: '],
    ['from=2026-02-02&to=2026-02-01', 'from: '],
    ['colour=red', 'colour: '],
  ])('refuses ?%s in the platform’s words', async (query, field) => {
    const { key } = await newKey({ credits: 1 })
    const { status, json } = await get(gateway(), `/platform/usage/?${query}`, key)
    expect(status).toBe(400)
    expect(json).toEqual({ error: true, error_message: expect.stringContaining(field), error_code: '400' })
  })

  it('is told to nobody else, and not without end', async () => {
    const app = gateway()
    expect(await get(app, '/platform/usage/')).toMatchObject({ status: 401, json: { error: true, error_code: '401' } })
    const narrow = await newKey({ credits: 1, products: ['info'] })
    expect((await get(app, '/platform/key/', narrow.key)).status).toBe(403)
    const { key } = await newKey({ credits: 1 })
    const answers = await Promise.all(Array.from({ length: 60 }, () => get(app, '/platform/key/', key)))
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.json).toMatchObject({ error: true, error_code: '429' })
    expect(refused?.headers.get('retry-after')).toBe('1')
    // The meter's clock is a real one: a token may have come back since.
    expect(refused?.headers.get('ratelimit')).toMatch(/^"rest";r=[0-3];t=1$/)
    const before = await get(app, '/platform/key/', (await newKey({ credits: 1 })).key)
    expect(before.status).toBe(200)
  })
})
