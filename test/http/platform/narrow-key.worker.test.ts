// Attacks with a restricted key: a service key with a cap, limited rights or an expiry tries to exceed them through
// pipelines of less restricted keys. Such calls are rejected, and everything it starts is charged to itself.

import { describe, expect, it } from 'vitest'
import { FakeSinks } from '../../pipelines/fake-sinks.ts'
import { ask as admin, bindings, keyed, newKey, platformOf } from './operator.worker.ts'

const PIPELINES = '/platform/pipeline-api/'
const CONFIG = {
  type: 'clickhouse',
  url: 'https://db.example.com:8443',
  user: 'weir',
  password: 'its own',
  database: 'default',
  table: 'fills',
}
const NEW = { name: 'one', topic: 'fills', destination_config: CONFIG }
const MINE = { ...CONFIG, url: 'https://thief.example.com:8443', password: 'the thief’s' }

async function account() {
  const sinks = new FakeSinks()
  const call = keyed({ platform: platformOf(false, false, sinks) })
  const wide = await newKey({ kind: 'service', plan: 'enterprise', credits: 100, label: 'wide' })
  const key = (order: object) => newKey({ account: wide.account, kind: 'service', ...order })
  const as = (who: { key: string }) => (method: string, path: string, body?: unknown) =>
    call(method, path, who.key, body)
  const create = async (who: { key: string }, over: object = {}) =>
    (await as(who)('POST', PIPELINES, { ...NEW, ...over })).data.id as string
  /** Hash of the paying key, as the Sink knows it. */
  const chargedTo = (id: string) => sinks.held.get(id)?.payer
  return { sinks, wide, key, as, create, chargedTo }
}

const CAPPED = { cap: '10' }
/** All actions on a pipeline. */
const ACTS = (id: string) =>
  [
    ...['', 'status/', 'logs/', 'metrics/'].map((part) => ['GET', `${id}/${part}`] as const),
    ['PATCH', `${id}/`, { destination_config: MINE, status: 'running' }],
    ['PATCH', `${id}/`, { name: 'mine' }],
    ['PUT', `${id}/`, { status: 'running' }],
    ['PUT', `${id}/`, { status: 'paused' }],
    ['POST', `${id}/test/`, { destination_config: MINE }],
    ['POST', `${id}/test/`],
    ['POST', `${id}/dead-letters/redeliver/`],
    ['POST', `${id}/adopt/`],
    ['DELETE', `${id}/`],
  ] as const satisfies readonly (readonly [string, string, object?])[]

describe('a restricted service key', () => {
  it('reaches no pipeline of an unrestricted key', async () => {
    const { sinks, wide, key, as, create, chargedTo } = await account()
    const id = await create(wide, { status: 'paused' })
    const calls = sinks.calls.length
    for (const order of [
      CAPPED,
      { ranges: ['192.0.2.0/24'] },
      { expires: Date.now() + 86_400_000 },
      { pipelines: 'own' },
    ]) {
      const narrow = await key(order)
      // With ranges the gateway rejects the call itself, because addresses are unknown here.
      const acts = ACTS(id).filter((_, at) => order === CAPPED || at % 4 === 0)
      for (const [method, path, body] of acts) {
        const { status, said } = await as(narrow)(method, PIPELINES + path, body)
        expect([order, method, path, status]).toEqual([order, method, path, 403])
        if (!('ranges' in order)) expect(said).toMatch(/"pipelines": "all"/)
      }
      if ('ranges' in order) continue
      expect((await as(narrow)('GET', PIPELINES)).data.items).toEqual([])
    }
    expect(sinks.calls).toHaveLength(calls)
    expect([chargedTo(id), sinks.held.get(id)?.destination_config]).toEqual([wide.hash, CONFIG])
  })

  it('manages its own pipelines, except those that an unrestricted key adopted', async () => {
    const { wide, key, as, create, chargedTo } = await account()
    const narrow = await key(CAPPED)
    const id = await create(narrow)
    expect((await as(narrow)('GET', PIPELINES)).data.items).toMatchObject([{ id }])
    expect((await as(narrow)('PUT', `${PIPELINES}${id}`, { status: 'paused' })).status).toBe(200)
    // Changes of labels and pauses take nothing over.
    await as(wide)('PATCH', `${PIPELINES}${id}`, { name: 'renamed', description: 'x', status: 'paused' })
    expect(chargedTo(id)).toBe(narrow.hash)
    await as(wide)('PATCH', `${PIPELINES}${id}`, { destination_config: { ...CONFIG, password: 'a wider key’s' } })
    expect(chargedTo(id)).toBe(wide.hash)
    expect((await as(narrow)('PUT', `${PIPELINES}${id}`, { status: 'running' })).status).toBe(403)
  })

  it('with right `all` pays for what it starts, like every key', async () => {
    const { sinks, wide, key, as, create, chargedTo } = await account()
    const narrow = await key({ ...CAPPED, pipelines: 'all' })
    const changes: [string, string, object?][] = [
      ['PATCH', '', { destination_config: MINE }],
      ['PATCH', '', { destination_config: { ...CONFIG, password: 'another' } }],
      ['PATCH', '', { transforms: { a: 'SELECT 1' } }],
      ['PATCH', '', { filter: { type: 'allFills', coin: 'BTC' } }],
      ['PATCH', '', { execution_start_from: 'earliest' }],
      ['PATCH', '', { on_failure: 'dead_letter' }],
      ['POST', 'dead-letters/redeliver/'],
      ['POST', 'adopt/'],
    ]
    for (const [method, part, body] of changes) {
      const id = await create(wide)
      expect((await as(narrow)(method, `${PIPELINES}${id}/${part}`, body)).status).toBe(200)
      expect([body ?? part, chargedTo(id)]).toEqual([body ?? part, narrow.hash])
      await as(narrow)('DELETE', `${PIPELINES}${id}`)
    }
    const id = await create(wide, { status: 'paused' })
    expect((await as(narrow)('POST', `${PIPELINES}${id}/test/`, { destination_config: MINE })).status).toBe(200)
    expect([sinks.tested?.payer, chargedTo(id)]).toEqual([narrow.hash, wide.hash])
    const started = await as(narrow)('PUT', `${PIPELINES}${id}`, { status: 'running' })
    expect(started.data).toMatchObject({
      created_by: { id: `user_${wide.hash.slice(0, 16)}` },
      charged_to: { id: `user_${narrow.hash.slice(0, 16)}`, display_name: narrow.prefix },
    })
    expect(chargedTo(id)).toBe(narrow.hash)
    // It already runs, so nothing is started.
    await as(wide)('PUT', `${PIPELINES}${id}`, { status: 'running' })
    expect(chargedTo(id)).toBe(narrow.hash)
    for (const waits of [sinks.stuck, sinks.unpaid]) {
      const whose = waits === sinks.stuck ? wide : narrow
      waits.add(id)
      await as(whose)('PUT', `${PIPELINES}${id}`, { status: 'running' })
      expect(chargedTo(id)).toBe(whose.hash)
    }
    sinks.says = { phase: 'finished' }
    await as(wide)('PUT', `${PIPELINES}${id}`, { status: 'running' })
    expect(chargedTo(id)).toBe(wide.hash)
  })

  it('has a limited share of the account', async () => {
    const { wide, key, as, create } = await account()
    const narrow = await key(CAPPED)
    const orders = (addresses: number) => ({
      topic: 'order_updates',
      filter: {
        type: 'orderUpdates',
        addresses: Array.from({ length: addresses }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`),
      },
    })
    const made = await Promise.all(Array.from({ length: 10 }, () => create(narrow)))
    const refused = {
      status: 409,
      said: expect.stringMatching(/\b10 pipelines.*"pipelines": "all"/),
    }
    expect(await as(narrow)('POST', PIPELINES, { ...NEW, name: 'eleven' })).toMatchObject(refused)
    // It can change and delete its own, and others have room.
    expect((await as(narrow)('PATCH', `${PIPELINES}${made[0]}`, { name: 'changed' })).status).toBe(200)
    for (const id of made.slice(0, 3)) expect((await as(narrow)('DELETE', `${PIPELINES}${id}`)).status).toBe(200)
    const own = await create(narrow, orders(600))
    await create(narrow, orders(400))
    expect(await as(narrow)('POST', PIPELINES, { ...NEW, ...orders(1) })).toMatchObject(refused)
    expect((await as(narrow)('PATCH', `${PIPELINES}${own}`, { description: 'x' })).status).toBe(200)
    expect(await as(narrow)('PATCH', `${PIPELINES}${own}`, { filter: orders(601).filter })).toMatchObject(refused)
    expect(await create(wide, orders(1_000))).toMatch(/^pipe_/)
  })

  it('lists its pipelines and destinations on revocation; adopted ones continue', async () => {
    const { wide, key, as, create, chargedTo } = await account()
    const leaked = await key({ label: 'leaked' })
    const runs = await create(leaked, { name: 'runs' })
    const adopted = await create(leaked, { name: 'adopted' })
    const paused = await create(leaked, { name: 'paused', status: 'paused' })
    const own = await create(wide, { name: 'own' })
    await as(leaked)('PUT', '/platform/webhook/', { url: 'https://thief.example.com/hook' })
    expect((await as(wide)('POST', `${PIPELINES}${adopted}/adopt/`)).status).toBe(200)
    expect([chargedTo(adopted), chargedTo(own)]).toEqual([wide.hash, wide.hash])
    const path = `/platform/keys/${leaked.hash}`
    const { data: reach } = await as(wide)('GET', `${path}/reach`)
    const told = { topic: 'fills', destination: 'clickhouse https://db.example.com:8443', destination_set: true }
    expect(reach.webhook).toBe('https://thief.example.com/hook')
    expect(reach.pipelines).toHaveLength(3)
    for (const [id, name, stops] of [
      [runs, 'runs', true],
      [adopted, 'adopted', false],
      [paused, 'paused', false],
    ])
      expect(reach.pipelines).toContainEqual({ ...told, id, name, stops })
    expect((await admin('GET', `/keys/${leaked.hash}/reach`)).json).toEqual(reach)
    expect((await as(wide)('DELETE', path)).data.reach).toEqual(reach)
    expect((await as(leaked)('POST', PIPELINES, NEW)).status).toBe(401)
  })

  it('lists active keys that it created, including rotated and derived ones', async () => {
    const { wide, key, as } = await account()
    const leaked = await key({ label: 'leaked' })
    const victim = await key({ label: 'victim' })
    const make = async (who: { key: string }, label: string) =>
      (await as(who)('POST', '/platform/keys/', { kind: 'service', label })).data as { key: string; hash: string }
    const reach = async () =>
      (await as(wide)('GET', `/platform/keys/${leaked.hash}/reach`)).data.keys.map(({ hash }: { hash: string }) => hash)
    expect(await reach()).toEqual([])
    const door = await make(leaked, 'back door')
    const second = await make(door, 'behind it')
    const heir = (await as(leaked)('POST', `/platform/keys/${victim.hash}/rotate`, { grace_seconds: 60 })).data
    await make(wide, 'of somebody else')
    expect((await reach()).sort()).toEqual([door.hash, second.hash, heir.hash].sort())
    const { data } = await as(wide)('DELETE', `/platform/keys/${leaked.hash}`)
    expect(data.reach.keys).toContainEqual({ hash: door.hash, prefix: door.key.slice(0, 12), label: 'back door' })
    await as(wide)('DELETE', `/platform/keys/${door.hash}`)
    expect((await reach()).sort()).toEqual([second.hash, heir.hash].sort())
  })

  it('keeps its right through a rotation and shares pipelines with its successor', async () => {
    const { wide, key, as, create, chargedTo } = await account()
    for (const [order, listed] of [
      [CAPPED, 1],
      [{}, 2],
    ] as const) {
      const old = await key(order)
      const own = await create(old)
      const other = await create(wide)
      const rotated = await as(wide)('POST', `/platform/keys/${old.hash}/rotate`, { grace_seconds: 3_600 })
      const heir = rotated.data as { key: string; hash: string }
      for (const who of [old, heir]) {
        const { items } = (await as(who)('GET', `${PIPELINES}?page_size=2`)).data
        expect([order, items.length]).toEqual([order, listed])
        expect((await as(who)('GET', PIPELINES + other)).status).toBe(listed === 1 ? 403 : 200)
      }
      await as(heir)('PATCH', PIPELINES + own, { transforms: { a: 'SELECT 1' } })
      expect(chargedTo(own)).toBe(heir.hash)
      expect((await as(old)('GET', PIPELINES + own)).status).toBe(200)
    }
  })

  it('changes nothing after its end, even with an unused lease', async () => {
    const { wide, key, as, create } = await account()
    const id = await create(wide, { status: 'paused' })
    for (const [end, code] of [
      [(hash: string) => as(wide)('DELETE', `/platform/keys/${hash}`), 'revoked'],
      [(hash: string) => as(wide)('POST', `/platform/keys/${hash}/rotate`, { grace_seconds: 0 }), 'revoked'],
      [
        (hash: string) => bindings.ACCOUNTS.prepare('UPDATE keys SET expires = 1 WHERE hash = ?').bind(hash).run(),
        'expired',
      ],
    ] as const) {
      const leaked = await key({ label: 'leaked', pipelines: 'all' })
      // The gateway knows the key and has a lease for it.
      expect((await as(leaked)('GET', '/platform/account/')).status).toBe(200)
      await end(leaked.hash)
      for (const [method, path, body] of [
        ['POST', '/platform/keys/', { kind: 'service', label: 'back door' }],
        ['PATCH', `/platform/keys/${wide.hash}`, { cap: '0' }],
        ['POST', `/platform/keys/${wide.hash}/rotate`, {}],
        ['DELETE', `/platform/keys/${wide.hash}`],
        ['PUT', '/platform/webhook/', { url: 'https://thief.example.com/hook' }],
        ['POST', '/platform/checkout', { package: 'small' }],
        ['POST', PIPELINES, NEW],
        ...ACTS(`${PIPELINES}${id}`).filter(([act]) => act !== 'GET'),
      ] as const) {
        const { status, said } = await as(leaked)(method, path, body)
        expect([path, status, said]).toEqual([path, 401, expect.stringContaining(code)])
      }
    }
    const { keys } = (await as(wide)('GET', '/platform/keys/?limit=100')).data
    expect(keys.filter(({ label }: { label: string }) => label === 'back door')).toEqual([])
    expect((await as(wide)('GET', PIPELINES)).data.items).toHaveLength(1)
  })

  it('gets and loses its right through an unrestricted key', async () => {
    const { wide, key, as } = await account()
    const narrow = await key({ pipelines: 'own' })
    const given = await as(wide)('PATCH', `/platform/keys/${narrow.hash}`, { pipelines: 'all', cap: '5' })
    expect(given.data).toMatchObject({ pipelines: 'all', cap: '5' })
    const taken = await as(wide)('PATCH', `/platform/keys/${narrow.hash}`, { pipelines: null })
    expect(taken.data.pipelines).toBe('own')
    expect((await as(wide)('PATCH', `/platform/keys/${narrow.hash}`, { cap: null })).data.pipelines).toBe('all')
    const api = await as(wide)('POST', '/platform/keys/', { pipelines: 'all' })
    expect([api.status, api.said]).toEqual([400, expect.stringMatching(/^pipelines: /)])
    const listed = await admin('GET', `/keys?account=${wide.account}`)
    expect(listed.json.keys.map(({ pipelines }: { pipelines: string }) => pipelines)).toEqual(['all', 'all'])
  })
})
