// Authentication and pricing of endpoint definitions, with test endpoints.

import { runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { AddressLimiter, WRONG_TOKENS } from '../../../src/accounts/address-limiter.ts'
import { type Identity, PRODUCTS } from '../../../src/accounts/identity.ts'
import { failureMessage } from '../../../src/core/failure.ts'
import type { KeyHash } from '../../../src/core/ids.ts'
import { err } from '../../../src/core/result.ts'
import { operationText } from '../../../src/http/docs/openapi-operations.ts'
import { adminRoutes } from '../../../src/http/platform/admin.route.ts'
import { ENDPOINTS as ALL } from '../../../src/http/platform/catalogue.ts'
import { defineEndpoint, reply } from '../../../src/http/platform/endpoint.ts'
import { LeasePool } from '../../../src/metering/leases.client.ts'
import { spend } from '../../metering/meter.worker.ts'
import { ADMIN_TOKEN, bindings, chargingOf, KEY_SECRET, keyed, meterOf, newKey, platformOf } from './operator.worker.ts'

const Echo = z.object({ id: z.string(), account: z.string() })

const priced = defineEndpoint({
  id: 'echo',
  route: 'POST /echo/{id}/',
  summary: 'Echoes its input',
  auth: 'key',
  product: 'data',
  price: 2_500_000,
  params: { id: z.string().regex(/^[a-z]+$/, 'must be letters') },
  query: z.strictObject({ loud: z.enum(['yes', 'no']).optional() }),
  body: { schema: z.strictObject({ outcome: z.string() }), optional: false, example: { outcome: 'found' } },
  responses: {
    200: { description: 'Said', schema: Echo, example: { id: 'a', account: 'acme' } },
    201: { description: 'Made', schema: Echo, example: { id: 'a', account: 'acme' } },
  },
  refusals: [404],
  handle: async ({ params: { id }, body: { outcome }, identity: { account } }) => {
    if (outcome === 'refused') return err({ kind: 'not_found', what: 'This echo' })
    if (outcome === 'broken') throw new Error('a bug')
    return reply(outcome === 'made' ? 201 : 200, { id, account })
  },
})

const managed = defineEndpoint({
  id: 'managed',
  route: 'GET /managed/{id}',
  summary: 'Only for managing keys',
  auth: 'service',
  params: { id: z.string() },
  responses: { 200: { description: 'In', schema: z.object({ kind: z.string() }), example: { kind: 'service' } } },
  handle: async ({ identity: { kind } }) => reply(200, { kind }),
})

const ENDPOINTS = [priced, managed]

/** Isolates that report at once. */
const clock = { nowMs: Date.now, sleep: async () => {}, newId: () => crypto.randomUUID() }
const gateway = () => keyed({ endpoints: ENDPOINTS, charging: chargingOf(new LeasePool(clock)) })

const usageOf = async (account: string) => {
  // Writes the rows of this hour.
  await meterOf(account).usage(0, Date.now())
  return runInDurableObject(bindings.CREDIT_METER.getByName(account), (_, { storage }) =>
    storage.sql.exec('SELECT product, type, calls, amount, key_hash FROM usage').toArray(),
  )
}

describe('an endpoint with a price', () => {
  it('charges only 2xx responses, under its own id', async () => {
    const ask = gateway()
    const { key, account, hash } = await newKey({ plan: 'professional', credits: 100 })
    const echo = (outcome: string, path = '/echo/a') => ask('POST', path, key, { outcome })
    expect(await echo('found')).toMatchObject({
      status: 200,
      json: { data: { id: 'a', account } },
      cost: '2.5',
      left: '97.5',
    })
    expect(await echo('made', '/echo/a/?loud=yes')).toMatchObject({ status: 201, cost: '2.5', left: '95' })
    const unknown = { error: true, error_code: '404' }
    expect(await echo('refused')).toMatchObject({ status: 404, json: unknown, cost: '0', left: '95' })
    for (const path of ['/echo/A', '/echo/a?loud=maybe', '/echo/a?colour=red']) {
      expect(await echo('found', path)).toMatchObject({ status: 400, cost: '0', left: '95' })
    }
    expect(await ask('POST', '/echo/a', key, { outcome: 1 })).toMatchObject({ status: 400, cost: '0', left: '95' })
    expect((await echo('broken')).status).toBe(500)
    const usage = { product: 'data', type: 'echo', calls: 2, amount: 5_000_000, key_hash: hash }
    await expect.poll(() => usageOf(account)).toEqual([usage])
    await expect.poll(async () => (await meterOf(account).balance()).spent).toBe(5_000_000)
    expect((await echo('found')).left).toBe('92.5')
  })

  it('states its price', () => {
    expect(operationText(priced)).toBe('Members need the role `owner`. Credits: 2.5.')
  })
})

describe('an endpoint for service keys', () => {
  it('rejects an API key and names the required kind', async () => {
    const ask = gateway()
    const service = await newKey({ kind: 'service' })
    const api = await newKey({ credits: 1 })
    expect(await ask('GET', '/managed/1', service.key)).toMatchObject({
      status: 200,
      json: { data: { kind: 'service' } },
      cost: '0',
    })
    const { status, said } = await ask('GET', '/managed/1', api.key)
    expect([status, said]).toEqual([403, expect.stringContaining('(cqs_)')])
    expect(operationText(managed)).toMatch(/service key/)
  })

  it('does not belong to the operator', async () => {
    const admin = adminRoutes(ENDPOINTS, {
      platform: platformOf(),
      adminToken: ADMIN_TOKEN,
      keySecret: KEY_SECRET,
      visitor: () => null,
      requestId: () => 'req_1',
      wrongToken: () => new AddressLimiter(WRONG_TOKENS).take(null, 0),
    })
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    for (const path of ['/managed/1', '/echo/a']) {
      expect((await admin.request(path, { headers })).status).toBe(404)
    }
  })
})

describe('a key of each restricted kind', () => {
  const walk = (key: string, path: string) => keyed()('GET', path, key)
  const held = async (account: string, keyHash: KeyHash, over: object) => {
    const identity: Identity = { v: 1, account, keyHash, kind: 'api', plan: 'trial', products: [...PRODUCTS], ...over }
    const order = { product: 'info', type: 'meta', amount: 1_000_000 } as const
    return chargingOf()(() => {}).hold(identity, order)
  }

  it.each(PRODUCTS)('limited to %s sees only itself and the balance', async (product) => {
    const { key, hash, account, prefix } = await newKey({ plan: 'professional', products: [product], credits: 10 })
    const other = await newKey({ account })
    await spend(meterOf(account), hash, 1_000_000)
    await spend(meterOf(account), other.hash, 2_000_000)
    const itself = await walk(key, '/platform/key/')
    expect(itself).toMatchObject({ status: 200, json: { data: { prefix, products: [product], balance: '7' } } })
    const used = await walk(key, '/platform/key/usage/')
    expect(used).toMatchObject({ status: 200, json: { data: { prefix, totals: { credits: '1' } } } })
    for (const path of ['/platform/usage/', '/platform/account/', '/platform/keys/', '/platform/refusals/'])
      expect((await walk(key, path)).status).toBe(product === 'platform' ? 200 : 403)
  })

  it.each([
    ['spent its cap', { credits: 10, cap: 1 }],
    ['spent its account', { credits: 1 }],
    ['is a service key with a cap', { kind: 'service', credits: 10, cap: 1 }],
  ])('can reach the endpoints named in its 402 if it %s', async (_, order) => {
    const { key, hash, account } = await newKey({ ...order, ...('kind' in order ? {} : { products: ['info'] }) })
    await spend(meterOf(account), hash, 1_000_000)
    const answer = await held(account, hash, {})
    const message = answer.ok ? '' : failureMessage(answer.error)
    const named = [...message.matchAll(/(GET|PATCH) (\/[\w/{}-]+)/g)]
    expect(named.length).toBeGreaterThan(0)
    for (const [, method = '', path = ''] of named) {
      expect(ALL.some((each) => each.path === path && each.method === method.toLowerCase())).toBe(true)
      if (method === 'GET') expect((await walk(key, path)).status).toBe(200)
    }
  })

  it('gets no advice in a stream token’s 402 that the visitor cannot follow', async () => {
    const { hash, account } = await newKey({ credits: 0.5 })
    const token = { holder: 'v', coins: null, channels: [], expires: Date.now() + 60_000 }
    const answer = await held(account, hash, { products: ['info'], token })
    const message = answer.ok ? '' : failureMessage(answer.error)
    expect(message).toMatch(/^Not enough credits: .* stream token/)
    expect(message).not.toMatch(/\/platform/)
  })
})
