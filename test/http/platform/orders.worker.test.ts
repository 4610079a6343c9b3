// Orders of owners and operators, on real storage.

import { describe, expect, it } from 'vitest'
import { ask as admin, keyed, newKey } from './operator.worker.ts'

const ask = keyed()
const own = (key: string, method: string, body?: unknown) => ask(method, '/platform/checkout', key, body)

describe('an order', () => {
  it('is created by the owner and settled by the operator, which adds its credits', async () => {
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
    // A grant of the operator with that name is the same grant.
    const grant = { credits: 100_000, idempotency_key: number }
    expect((await admin('POST', `/accounts/${account}/grants`, grant)).json).toMatchObject({ repeated: true })
  })

  it('belongs to its account only', async () => {
    const mine = await newKey({ kind: 'service' })
    const other = await newKey({ kind: 'service' })
    await own(mine.key, 'POST', { package: 'small' })
    expect((await own(other.key, 'GET')).data.orders).toEqual([])
  })

  it('needs a service key and a sold product', async () => {
    const reads = await newKey({ account: (await newKey({ kind: 'service' })).account })
    expect((await own(reads.key, 'POST', { package: 'small' })).status).toBe(403)
    expect((await own(reads.key, 'GET')).status).toBe(200)
    const { key } = await newKey({ kind: 'service', plan: 'enterprise', credits: 1 })
    for (const [body, said] of [
      [{}, 'body: '],
      [{ package: 'small', credits: 1 }, 'body: '],
      [{ package: 'x'.repeat(65) }, 'package: must be at most 64 characters'],
      [{ package: 'other' }, 'package: must be one of "small"'],
      [{ credits: -5 }, 'credits: must not be negative'],
      [{ credits: 1e30 }, 'credits: '],
      [{ credits: 100_000 }, 'credits: custom amounts are not sold here'],
      [{ package: 'small', minor: 1 }, 'minor: unknown field'],
    ] as const) {
      const refused = await own(key, 'POST', body)
      expect([refused.status, refused.said]).toEqual([400, expect.stringContaining(said)])
    }
  })

  it('is not found if it does not exist, and the list continues page by page', async () => {
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
