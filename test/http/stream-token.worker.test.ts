// Stream tokens at the gateway: allowed endpoints, expiry, and limits for visitors.

import { describe, expect, it } from 'vitest'
import type { Identity } from '../../src/accounts/identity.ts'
import { KeyResolver } from '../../src/accounts/key-resolver.store.ts'
import { sealStreamToken } from '../../src/accounts/stream-token.client.ts'
import { keyHashOf } from '../../src/core/ids.ts'
import { livePageRoutes } from '../../src/http/session/live-page.route.ts'
import { LeasePool } from '../../src/metering/leases.client.ts'
import { ask, bindings, enter, KEY_SECRET, meterOf, newKey, settings, waitUntil } from './platform/operator.worker.ts'

const SAID = { holder: 'h', coins: ['BTC'], channels: ['trades'] }
const soon = () => Date.now() + 60_000
const OPEN = { acceptsTokens: true }
const PRICE = { product: 'info', type: 'meta', amount: 1_000_000 } as const

async function tokenOf(order: object = {}, said: object = {}) {
  const key = await newKey(order)
  return { key, token: await sealStreamToken({ keyHash: key.hash, ...SAID, expires: soon(), ...said }, KEY_SECRET) }
}

describe('a stream token', () => {
  // WS-160
  it('acts as its key within its scope', async () => {
    const { key, token } = await tokenOf()
    const request = new Request(`http://weir/ws?token=${token}`)
    const entry = { product: 'stream', kind: 'api', places: ['query'], ...OPEN } as const
    const entered = await new KeyResolver().authenticate(settings, request, entry, waitUntil)
    expect(entered).toMatchObject({
      ok: true,
      value: { account: key.account, keyHash: key.hash, products: ['info', 'stream'], token: SAID },
    })
  })

  // WS-160
  it('is valid only for market data', async () => {
    const { token } = await tokenOf()
    const ring = new KeyResolver()
    expect(await enter(ring, token, OPEN)).toBe('ok')
    expect(await enter(ring, token)).toBe('not_entitled')
    for (const product of ['data', 'rpc', 'platform', 'graphql'])
      expect(await enter(ring, token, { product, kind: 'any' })).toBe('not_entitled')
    const graphql = await ring.identify(settings, token, { product: 'graphql', kind: 'api' }, waitUntil)
    expect(graphql).toMatchObject({ ok: false, error: { kind: 'not_entitled' } })
  })

  it('contains only the hash of the key, which is not a key', async () => {
    const { key, token } = await tokenOf()
    const ring = new KeyResolver()
    expect(await enter(ring, token, OPEN)).toBe('ok')
    expect(await enter(ring, key.hash)).toBe('key_malformed')
    const platform = await ring.identify(settings, key.hash, { product: 'platform', kind: 'any' }, waitUntil)
    expect(platform).toMatchObject({ ok: false, error: { kind: 'key_malformed' } })
  })

  it('ends with its key and at its expiry', async () => {
    const { key, token } = await tokenOf()
    const ring = new KeyResolver()
    expect(await enter(ring, token, OPEN)).toBe('ok')
    ring.markRevoked(settings, key.hash, waitUntil)
    expect(await enter(ring, token, OPEN)).toBe('key_revoked')
    await ask('DELETE', `/keys/${key.hash}`)
    expect(await enter(new KeyResolver(), token, OPEN)).toBe('key_revoked')
    const over = await tokenOf({}, { expires: Date.now() - 1 })
    expect(await enter(ring, over.token, OPEN)).toBe('key_expired')
    const unknown = await sealStreamToken({ keyHash: keyHashOf('f'.repeat(64)), ...SAID, expires: soon() }, KEY_SECRET)
    expect(await enter(ring, unknown, OPEN)).toBe('key_unknown')
  })

  it('has no products or addresses that its key lacks', async () => {
    const { token } = await tokenOf({ products: ['stream'] })
    expect(await enter(new KeyResolver(), token, OPEN)).toBe('not_entitled')
    expect(await enter(new KeyResolver(), token, { ...OPEN, product: 'stream' })).toBe('ok')
    const bound = await tokenOf({ ranges: ['192.0.2.0/24'] })
    const entry = { product: 'info', kind: 'api', ...OPEN } as const
    const from = (address: string | null) =>
      new KeyResolver().identify(settings, bound.token, entry, waitUntil, address)
    expect((await from('192.0.2.7')).ok).toBe(true)
    for (const address of ['198.51.100.7', null])
      expect(await from(address)).toMatchObject({ ok: false, error: { kind: 'not_entitled' } })
  })

  it('of a service key reads data for its account', async () => {
    const { token } = await tokenOf({ kind: 'service' })
    expect(await enter(new KeyResolver(), token, { ...OPEN, product: 'stream' })).toBe('ok')
  })
})

const HOST = 'https://weir.example'

const PER_HOUR = 60_000_000

function page(account: string | null, { keySecret = KEY_SECRET, address = null as string | null } = {}) {
  const world = { nowMs: Date.now(), address, read: [] as object[] }
  const app = livePageRoutes({
    env: { ACCOUNTS: bindings.ACCOUNTS, ...(keySecret && { KEY_SECRET: keySecret }) },
    account,
    coins: ['BTC'],
    visitors: { perHour: PER_HOUR, sockets: 3 },
    busyMs: (of) => meterOf(of).visitorsWaitMs(PER_HOUR, 1_000_000),
    read: async (request) => {
      world.read.push(request)
      return request.type === 'allMids' ? '{"BTC":"1.0","ETH":"2.0"}' : '{"coin":"BTC","time":1,"levels":[[],[]]}'
    },
    addressOf: () => world.address,
    requestId: () => 'req_1',
    now: () => world.nowMs,
  })
  const get = (headers: Record<string, string> = { origin: HOST }) =>
    app.request(`${HOST}/live/token`, { method: 'POST', headers })
  const glance = (coin: string, headers: Record<string, string> = {}) =>
    app.request(`${HOST}/live/glance?coin=${coin}`, { headers })
  return { world, get, glance }
}

describe('visitors of the live page', () => {
  it('spend at most the hourly budget, across leases and minutes, and get a retry time', async () => {
    const key = await newKey({ credits: '10000' })
    const { get } = page(key.account)
    const { token } = (await (await get()).json()) as { token: string }
    const entry = { product: 'info', kind: 'api', places: ['bearer'], ...OPEN } as const
    const request = new Request('http://weir/info', { headers: { authorization: `Bearer ${token}` } })
    const entered = await new KeyResolver().authenticate(settings, request, entry, waitUntil)
    if (!entered.ok) throw new Error('a good token')
    expect(entered.value.token?.visitors).toEqual({ perHour: PER_HOUR, sockets: 3 })
    const charge = (identity: Identity) =>
      new LeasePool()
        .charging({ meterOf, waitUntil, meterFailure: 'closed', onRevoked: () => {} })
        .hold(identity, PRICE)
    // A sixth of 60 credits can be spent at once: eight calls by leases, and two minutes.
    for (let i = 0; i < 8; i++) {
      const hold = await charge(entered.value)
      if (!hold.ok) throw new Error('a call within the budget')
      hold.value.settle()
    }
    const minute = (id: string, visitorsPerHour?: number) => ({
      subscription: `visitors/${id}`,
      ordinal: 0,
      count: 1,
      keyHash: key.hash,
      type: 'trades',
      amount: 1_000_000,
      body: id,
      leftMs: 60_000,
      visitorsPerHour,
    })
    const report = async (...charges: ReturnType<typeof minute>[]) => {
      const here = { relay: 'visitors', life: 1, alive: null, sockets: 1, subscriptions: 0, perMinute: 0, keys: [] }
      const limits = { connections: 10, subscriptions: 100 }
      return (await meterOf(key.account).stream({ v: 1, ...here, limits, connects: [], charges, ends: [] })).minutes
    }
    const minutes = await report(...['a', 'b', 'c', 'd'].map((id) => minute(id, PER_HOUR)), minute('own'))
    expect(minutes.map((one) => (one.ok ? 'paid' : one.reason))).toEqual(['paid', 'paid', 'busy', 'busy', 'paid'])
    const busy = await charge(entered.value)
    expect(busy).toMatchObject({
      ok: false,
      error: { kind: 'rate_limited', hint: expect.stringMatching(/visitors without a key/) },
    })
    const refused = await get()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
    // The key itself is not limited.
    const { token: _, ...own } = entered.value
    expect((await charge(own)).ok).toBe(true)
  })

  it('get a cached glance of allowed coins without a token, only on this host', async () => {
    const { account } = await newKey()
    const { glance, world } = page(account, { address: '192.0.2.1' })
    for (let i = 0; i < 10; i++)
      expect(await (await glance('BTC')).json()).toMatchObject({ book: { coin: 'BTC' }, mids: { BTC: '1.0' } })
    expect(world.read).toHaveLength(2)
    world.nowMs += 5_000
    // Concurrent visitors share one read.
    await Promise.all(Array.from({ length: 10 }, () => glance('BTC')))
    expect(world.read).toHaveLength(4)
    expect([(await glance('ETH')).status, (await glance('%0a')).status]).toEqual([400, 400])
    expect((await glance('BTC', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await page(null).glance('BTC')).status).toBe(403)
    const statuses = new Set<number>()
    for (let i = 0; i < 100; i++) statuses.add((await glance('BTC')).status)
    expect([...statuses]).toEqual([200, 429])
  })
})

describe('the live page', () => {
  it('gets a token paid by the operator’s account for its coins', async () => {
    const key = await newKey()
    const answer = await page(key.account).get()
    const said = (await answer.json()) as { token: string; expires: number; time: number }
    expect(said).toMatchObject({ coins: ['BTC'], expires: said.time + 600_000 })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await enter(new KeyResolver(), said.token, OPEN)).toBe('ok')
  })

  it('is paid by the oldest suitable key', async () => {
    const { account } = await newKey({ ranges: ['192.0.2.0/24'] })
    await newKey({ account, products: ['info'] })
    const first = await newKey({ account })
    for (let i = 0; i < 101; i++) await newKey({ account, cap: 0.5 })
    const { token } = (await (await page(account).get()).json()) as { token: string }
    const [, said = ''] = /^cqe_([^.]+)/.exec(token) ?? []
    expect(JSON.parse(atob(said.replaceAll('-', '+').replaceAll('_', '/')))).toMatchObject({ keyHash: first.hash })
  })

  it('gets none without an account, suitable key or secret, or on another site', async () => {
    const bare = await newKey({ kind: 'service' })
    const { account } = await newKey()
    expect((await page(null).get()).status).toBe(403)
    expect((await page(bare.account).get()).status).toBe(503)
    expect((await page('nobody-at-all').get()).status).toBe(503)
    expect((await page(account, { keySecret: '' }).get()).status).toBe(503)
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: HOST, 'sec-fetch-site': 'cross-site' },
    ])
      expect((await page(account).get(headers as Record<string, string>)).status, JSON.stringify(headers)).toBe(403)
  })

  it('is rate limited per address', async () => {
    const { account } = await newKey()
    const { world, get } = page(account, { address: '192.0.2.1' })
    const statuses = new Map<number, number>()
    for (let i = 0; i < 10_000; i++) {
      const { status } = await get()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect([...statuses]).toEqual([
      [200, 20],
      [429, 9_980],
    ])
    world.address = '192.0.2.2'
    expect((await get()).status).toBe(200)
  })
})
