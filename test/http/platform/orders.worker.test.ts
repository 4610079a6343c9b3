// Orders as owners and operators ask for them, on real storage.

import { createExecutionContext } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { KeyRing } from '../../../src/accounts/key-ring.store.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import { keyedRoutes } from '../../../src/http/platform/keyed.route.ts'
import { LeasePool } from '../../../src/metering/leases.client.ts'
import { ask as admin, meterOf, newKey, platformOf, settings } from './operator.worker.ts'

const keys = new KeyRing()
const leases = new LeasePool()
const app = keyedRoutes(ENDPOINTS, {
  platform: platformOf(),
  authenticate: (request, entry, waitUntil) =>
    keys.authenticate(settings, request, { ...entry, places: ['bearer'] }, waitUntil),
  charging: (waitUntil) => leases.charging({ meterOf, waitUntil, meterFailure: 'closed', onRevoked: async () => {} }),
  addressOf: () => null,
  requestId: () => 'req_1',
  refused: () => {},
})

interface Answer {
  readonly order: { readonly number: string; readonly state: string }
  readonly orders: readonly object[]
}

async function own(key: string, method: string, body?: unknown) {
  const response = await app.request(
    '/platform/checkout',
    { method, headers: { authorization: `Bearer ${key}` }, body: body === undefined ? null : JSON.stringify(body) },
    {},
    createExecutionContext(),
  )
  const json = (await response.json()) as { data: Answer; error_message: string | null }
  if (response.ok) {
    const endpoint = ENDPOINTS.find(
      (each) => each.path === '/platform/checkout' && each.method === method.toLowerCase(),
    )
    expect(endpoint!.answers[response.status]!.schema.parse(json)).toEqual(json)
  }
  return { status: response.status, data: json.data, said: json.error_message }
}

describe('an order', () => {
  it('is made by the owner, paid and listed by the operator, and its credits are in the balance', async () => {
    const { key, account } = await newKey({ plan: 'enterprise', credits: 1, kind: 'service' })
    const offers = await own(key, 'GET')
    expect(offers.data).toMatchObject({
      provider: 'manual',
      currency: 'usd',
      lots: null,
      orders: [],
      packages: [{ name: 'small', credits: '100000', amount: '19.00' }],
    })
    const made = await own(key, 'POST', { package: 'small' })
    expect([made.status, made.data.order.state]).toEqual([201, 'open'])
    const { number } = made.data.order
    const listed = await admin('GET', `/orders?account=${account}&state=open`)
    expect(listed.json).toMatchObject({ orders: [{ number, account, amount: '19.00' }], next: null })
    for (let i = 0; i < 2; i++)
      expect((await admin('POST', `/orders/${number}/paid`)).json).toMatchObject({ number, state: 'paid' })
    expect((await admin('GET', `/accounts/${account}`)).json).toMatchObject({ balance: '100001', granted: '100001' })
    expect((await own(key, 'GET')).data.orders).toMatchObject([{ number, state: 'paid' }])
    expect((await admin('POST', `/orders/${number}/void`)).status).toBe(409)
    // The operator's own grant under that name is the same one.
    const grant = { credits: 100_000, idempotency_key: number }
    expect((await admin('POST', `/accounts/${account}/grants`, grant)).json).toMatchObject({ repeated: true })
  })

  it('is of its own account alone', async () => {
    const mine = await newKey({ kind: 'service' })
    const other = await newKey({ kind: 'service' })
    await own(mine.key, 'POST', { package: 'small' })
    expect((await own(other.key, 'GET')).data.orders).toEqual([])
  })

  it('is not made with an API key, nor of what is not sold', async () => {
    const reads = await newKey({ account: (await newKey({ kind: 'service' })).account })
    expect((await own(reads.key, 'POST', { package: 'small' })).status).toBe(403)
    expect((await own(reads.key, 'GET')).status).toBe(200)
    const { key } = await newKey({ kind: 'service', plan: 'enterprise', credits: 1 })
    for (const [body, said] of [
      [{}, 'body: send "package" or "credits"'],
      [{ package: 'small', credits: 1 }, 'body: send "package" or "credits"'],
      [{ package: 'x'.repeat(65) }, 'package: must be at most 64 characters'],
      [{ package: 'other' }, 'package: must be one of "small"'],
      [{ credits: -5 }, 'credits: must not be negative'],
      [{ credits: 1e30 }, 'credits: '],
      [{ credits: 100_000 }, 'credits: any number of them is not sold here'],
      [{ package: 'small', minor: 1 }, 'minor: unknown field'],
    ] as const) {
      const refused = await own(key, 'POST', body)
      expect([refused.status, refused.said]).toEqual([400, expect.stringContaining(said)])
    }
  })

  it('that there is none of is not found, and pages go on', async () => {
    expect((await admin('POST', '/orders/W-999999-aaaa/paid')).status).toBe(404)
    expect((await admin('POST', '/orders/none/void')).status).toBe(400)
    expect((await admin('GET', '/orders?before=x')).status).toBe(400)
    const all = (await admin('GET', '/orders')).json.orders as { number: string }[]
    const seq = Number(all[0]!.number.split('-')[1])
    expect(
      (await admin('GET', `/orders?before=${seq}`)).json.orders.map(({ number }: { number: string }) => number),
    ).toEqual(all.slice(1).map(({ number }) => number))
  })
})
