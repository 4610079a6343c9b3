// Rights of an account's own keys on real storage.

import { runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { RefusalLog } from '../../../src/accounts/refusal-log.client.ts'
import { storeRefusals } from '../../../src/accounts/refusals.store.ts'
import { type RefusalBatch, RefusalBuffer } from '../../../src/accounts/refused-calls.ts'
import { keyHashOf } from '../../../src/core/ids.ts'
import { COUNTS_SINCE } from '../../../src/http/platform/endpoints/refusals.ts'
import { spend, spendCalls } from '../../metering/meter.worker.ts'
import { bindings, keyed, meterOf, newKey } from './operator.worker.ts'

const CREDIT = 1_000_000

/** `batches`: rejections to be stored, without the usual delay of two seconds. */
function gateway() {
  const batches: RefusalBatch[] = []
  const noted: Promise<unknown>[] = []
  const book = new RefusalLog({ nowMs: () => Date.now(), sleep: async () => {}, report: () => {} })
  const call = keyed({
    noteRefusal: (refusal) =>
      book.record(
        refusal,
        async (batch) => void batches.push(batch),
        (work) => void noted.push(work),
      ),
  })
  return { call, batches, noted }
}

async function ask(
  { call, noted }: ReturnType<typeof gateway>,
  key: string,
  method: string,
  path: string,
  body?: unknown,
) {
  const answer = await call(method, `/platform${path}`, key, body)
  await Promise.all(noted)
  return answer
}

const owner = async (order: object = {}) => newKey({ credits: 100, plan: 'enterprise', kind: 'service', ...order })

describe('keys of an account', () => {
  it('are created, changed, rotated and revoked by a service key', async () => {
    const own = await owner()
    const gate = gateway()
    const order = { label: 'bot <b>&"', products: ['info'], cap: '5', ranges: ['192.0.2.0/24'], idempotency_key: 'one' }
    const made = await ask(gate, own.key, 'POST', '/keys/', order)
    expect([made.status, made.data.account, made.data.label]).toEqual([201, own.account, 'bot <b>&"'])
    const again = await ask(gate, own.key, 'POST', '/keys/', order)
    expect([again.status, again.data.hash, again.data.repeated]).toEqual([200, made.data.hash, true])
    expect(again.text).not.toContain(made.data.key)
    const differs = await ask(gate, own.key, 'POST', '/keys/', { ...order, label: 'another' })
    expect([differs.status, differs.said]).toEqual([409, expect.stringContaining('idempotency_key')])
    const changed = await ask(gate, own.key, 'PATCH', `/keys/${made.data.prefix}`, { label: 'other', cap: null })
    expect([changed.data.label, changed.data.cap, changed.data.ranges]).toEqual(['other', null, ['192.0.2.0/24']])
    const rotated = await ask(gate, own.key, 'POST', `/keys/${made.data.hash}/rotate`, { grace_seconds: 60 })
    expect([rotated.status, rotated.data.label]).toEqual([201, 'other'])
    const replayed = await ask(gate, own.key, 'POST', `/keys/${made.data.hash}/rotate`, { grace_seconds: 60 })
    expect([replayed.status, replayed.said]).toEqual([409, expect.stringContaining(rotated.data.prefix)])
    const revoked = await ask(gate, own.key, 'DELETE', `/keys/${rotated.data.hash}`)
    expect([revoked.status, revoked.data.is_this_key]).toEqual([200, false])
    const { keys, next, counted } = (await ask(gate, own.key, 'GET', '/keys/')).data
    expect([keys.length, next, counted]).toEqual([3, null, 3])
    expect(keys.find((key: { hash: string }) => key.hash === made.data.hash).replaced_by).toBe(rotated.data.hash)
  })

  it('are created once for repeated clicks', async () => {
    const own = await owner()
    const gate = gateway()
    const clicks = Array.from({ length: 5 }, () => ask(gate, own.key, 'POST', '/keys/', { idempotency_key: 'click' }))
    const statuses = (await Promise.all(clicks)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 201])
    expect((await ask(gate, own.key, 'GET', '/keys/')).data.keys).toHaveLength(2)
  })

  it('are readable but not manageable with an API key', async () => {
    const own = await owner()
    const api = await newKey({ account: own.account })
    const gate = gateway()
    for (const path of ['/account/', '/keys/', '/refusals/', '/logs/', '/streams/', '/invoices/', '/balances/'])
      expect([path, (await ask(gate, api.key, 'GET', path)).status]).toEqual([path, 200])
    for (const [method, path, body] of [
      ['POST', '/keys/', {}],
      ['PATCH', `/keys/${api.hash}`, { label: 'x' }],
      ['POST', `/keys/${api.hash}/rotate`, {}],
      ['DELETE', `/keys/${api.hash}`, undefined],
      ['GET', '/webhook/', undefined],
      ['GET', '/billing', undefined],
      ['PUT', '/webhook/', { url: 'https://example.com' }],
    ] as const) {
      const { status, said } = await ask(gate, api.key, method, path, body)
      expect([method, path, status, said]).toEqual([method, path, 403, expect.stringContaining('service key (cqs_)')])
    }
  })

  it('cannot extend their own rights: a restricted service key can only read and revoke itself', async () => {
    const own = await owner()
    const expires = Date.now() + 86_400_000
    const gate = gateway()
    for (const restriction of [{ cap: 5 }, { expires }, { pipelines: 'own' }] as const) {
      const bound = await newKey({ account: own.account, kind: 'service', ...restriction })
      for (const [method, path, body] of [
        ['POST', '/keys/', {}],
        ['PATCH', `/keys/${bound.hash}`, { cap: null, expires: null, pipelines: 'all' }],
        ['POST', `/keys/${bound.hash}/rotate`, {}],
        ['DELETE', `/keys/${own.hash}`, undefined],
        ['PUT', '/webhook/', { url: 'https://example.com' }],
        ['POST', '/webhook/test', undefined],
        ['DELETE', '/webhook/', undefined],
        ['GET', '/webhook/', undefined],
        ['GET', `/keys/${own.hash}/reach`, undefined],
        ['POST', '/checkout', { package: 'small' }],
        ['GET', '/billing', undefined],
        ['PUT', '/billing', { name: 'a', address: ['b'], country: 'DE' }],
      ] as const) {
        const { status } = await ask(gate, bound.key, method, path, body)
        expect([method, path, status]).toEqual([method, path, 403])
      }
      expect((await ask(gate, bound.key, 'GET', '/account/')).data).toMatchObject({ manages: false })
      const ended = await ask(gate, bound.key, 'DELETE', `/keys/${bound.prefix}`)
      expect([ended.status, ended.data.is_this_key]).toEqual([200, true])
      expect((await ask(gateway(), bound.key, 'GET', '/account/')).status).toBe(401)
    }
    expect((await ask(gate, own.key, 'GET', '/account/')).data).toMatchObject({ manages: true, why_not: null })
    const heir = (await ask(gate, own.key, 'POST', `/keys/${own.hash}/rotate`, {})).data
    const late = await ask(gateway(), own.key, 'POST', '/keys/', {})
    expect([late.status, late.said]).toEqual([403, expect.stringContaining('was replaced')])
    expect((await ask(gate, heir.key, 'POST', '/keys/', {})).status).toBe(201)
  })

  it('are limited to the account, even with equal prefixes', async () => {
    const own = await owner()
    const other = await owner()
    const gate = gateway()
    for (const name of [other.hash, other.prefix])
      for (const [method, path, body] of [
        ['PATCH', `/keys/${name}`, { label: 'mine' }],
        ['POST', `/keys/${name}/rotate`, {}],
        ['DELETE', `/keys/${name}`, undefined],
      ] as const)
        expect((await ask(gate, own.key, method, path, body)).status).toBe(404)
    await bindings.ACCOUNTS.prepare('UPDATE keys SET prefix = ? WHERE hash = ?').bind(own.prefix, other.hash).run()
    const changed = await ask(gate, own.key, 'PATCH', `/keys/${own.prefix}`, { label: 'mine' })
    expect([changed.status, changed.data.hash]).toEqual([200, own.hash])
    expect((await ask(gate, other.key, 'GET', '/keys/')).data.keys).toMatchObject([{ label: '' }])
  })

  it('have single-line labels without direction marks', async () => {
    const own = await owner()
    const gate = gateway()
    const label = (text: string) => ask(gate, own.key, 'POST', '/keys/', { label: text })
    for (const text of ['😀'.repeat(200), 'a\nb', '\u0000', '\u001b[31mred', '\u202egpj.exe', 'a\u2028b', '\ud800'])
      expect([text, (await label(text)).status]).toEqual([text, 400])
    for (const text of ['<img src=x onerror=alert(1)>', '👩‍👩‍👧‍👦'.repeat(9), 'Ключ №1', '=cmd()'])
      expect((await label(text)).data.label).toBe(text)
  })

  it('are limited to ten thousand, listed page by page', async () => {
    const own = await owner()
    const gate = gateway()
    await bindings.ACCOUNTS.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
       INSERT INTO keys (hash, prefix, label, account, kind, products, created)
       SELECT printf('%064x', i * 7919), 'cqt_aaaaaaaa', 'key ' || i, ?, 'api', '["info"]', ? + i / 10 FROM n`,
    )
      .bind(own.account, 1_700_000_000_000)
      .run()
    const full = await ask(gate, own.key, 'POST', '/keys/', { label: 'one more' })
    expect([full.status, full.said]).toEqual([409, expect.stringContaining('10,000 keys')])
    const seen = new Set<string>()
    let after = ''
    for (let page = 0; page < 10; page++) {
      const { keys, next, counted } = (await ask(gate, own.key, 'GET', `/keys/?limit=1000${after}`)).data
      expect([keys.length, counted]).toEqual([1000, 10_000])
      for (const { hash } of keys) seen.add(hash)
      after = `&after=${next}`
      expect(next === null).toBe(page === 9)
    }
    expect(seen.size).toBe(10_000)
    await ask(gate, own.key, 'DELETE', `/keys/${'0'.repeat(60)}1eef`)
    expect((await ask(gate, own.key, 'POST', '/keys/', { label: 'one more' })).status).toBe(201)
  })

  it('have a daily limit on rotations', async () => {
    const own = await owner()
    const gate = gateway()
    const insert = `INSERT INTO keys (hash, prefix, label, account, kind, products, created, revoked)
      SELECT 'turned' || value, 'cqt_turnedtu', '', ?, 'api', '[]', ?, ? FROM json_each(?)`
    const many = JSON.stringify(Array.from({ length: 19_998 }, (_, i) => i))
    await bindings.ACCOUNTS.prepare(insert).bind(own.account, Date.now(), Date.now(), many).run()
    const rotate = (key: string, hash: string) => ask(gate, key, 'POST', `/keys/${hash}/rotate`, { grace_seconds: 60 })
    const bot = await newKey({ account: own.account })
    const refused = await rotate(own.key, bot.hash)
    expect([refused.status, refused.said]).toEqual([409, expect.stringContaining('20,000 keys')])
    await bindings.ACCOUNTS.prepare("DELETE FROM keys WHERE hash = 'turned0'").run()
    expect((await rotate(own.key, bot.hash)).status).toBe(201)
  })
})

describe('account status', () => {
  it('includes spending and remaining caps of keys', async () => {
    const own = await owner()
    const bot = await newKey({ account: own.account, cap: 10 })
    await spend(meterOf(own.account), bot.hash, 2.5 * CREDIT)
    await spendCalls(meterOf(own.account), bot.hash, 3, CREDIT)
    const gate = gateway()
    const { keys } = (await ask(gate, own.key, 'GET', '/keys/')).data
    expect(keys.find(({ hash }: { hash: string }) => hash === bot.hash)).toMatchObject({
      cap: '10',
      cap_remaining: '6.5',
      spent_30_days: '3.5',
    })
    const { data } = await ask(gate, own.key, 'GET', '/account/')
    expect(data).toMatchObject({ balance: '96.5', spent: '3.5', credits_a_day: '3.5', forecast: { why: 'used_up' } })
    expect(Math.abs(data.forecast.ends - Date.now() - (96.5 / 3.5) * 86_400_000)).toBeLessThan(60_000)
    expect(data.limits).toContainEqual({ limit: 'keys', most: 10_000, now: 2 })
    const usage = (await ask(gate, own.key, 'GET', '/usage/?stack=type')).data
    expect(usage.by_day[0].parts).toEqual([
      { part: 'info meta', label: '', credits: '1' },
      { part: 'stream allFills', label: '', credits: '2.5' },
    ])
  })

  it('includes open streams with prices per minute', async () => {
    const own = await owner()
    const body = '{"type":"trades","coin":"\u0007"}'
    const charge = {
      subscription: 'r/1',
      ordinal: 0,
      count: 1,
      keyHash: own.hash,
      type: 'trades',
      amount: CREDIT,
      body: 'digest',
    }
    const limits = { connections: 9, subscriptions: 9 }
    await meterOf(own.account).stream({
      v: 1,
      relay: 'r',
      life: 1,
      alive: null,
      sockets: 1,
      subscriptions: 0,
      perMinute: 0,
      keys: [],
      connects: [],
      ends: [],
      limits,
      charges: [{ ...charge, leftMs: 60_000, shown: body }],
    })
    const { data } = await ask(gateway(), own.key, 'GET', '/streams/')
    expect(data).toMatchObject({ sockets: 1, subscriptions: 1, credits_a_minute: '1' })
    expect(data.streams).toMatchObject([
      { type: 'trades', body: '{"type":"trades","coin":"\\u0007"}', prefix: own.prefix, credits_a_minute: '1' },
    ])
  })

  it('includes an invoice that matches usage and ledger, as JSON and CSV', async () => {
    const own = await owner()
    const bot = await newKey({ account: own.account, label: '=1+1' })
    await spend(meterOf(own.account), bot.hash, 1_234_567)
    await spendCalls(meterOf(own.account), own.hash, 2, 7)
    const gate = gateway()
    const [sums] = (await ask(gate, own.key, 'GET', '/invoices/')).data.invoices
    const { data: invoice } = await ask(gate, own.key, 'GET', `/invoices/${sums.month}`)
    const { data: account } = await ask(gate, own.key, 'GET', '/account/')
    expect(invoice).toMatchObject({ ...sums, opening: '0', granted: '100', charged: '1.234574', closing: '98.765426' })
    expect([account.spent, account.balance]).toEqual([invoice.charged, invoice.closing])
    expect(invoice.lines.map(({ credits }: { credits: string }) => credits)).toEqual(['1.234567', '0.000007'])
    const { text } = await ask(gate, own.key, 'GET', `/invoices/${sums.month}/csv`)
    expect(text).toContain(`usage,${sums.month},stream,allFills,${bot.prefix},'=1+1,1,1.234567\r\n`)
    expect(text.endsWith(`closing,${sums.month},,,,,,98.765426\r\n`)).toBe(true)
    const { days } = (await ask(gate, own.key, 'GET', '/balances/?duration=12')).data
    // One day, or two across midnight.
    expect(days.length).toBeLessThanOrEqual(2)
    expect([days[0].opening, days.at(-1).closing]).toEqual(['0', '98.765426'])
    expect((await ask(gate, own.key, 'GET', '/balances/?from=2001-01-01&to=2001-01-02')).data).toEqual({ days: [] })
    expect((await ask(gate, own.key, 'GET', '/balances/?from=2001')).status).toBe(400)
    expect((await ask(gate, own.key, 'GET', '/invoices/2001-01')).status).toBe(404)
    expect((await ask(gate, own.key, 'GET', '/invoices/2001-13')).status).toBe(400)
  })

  it('has no balances for days beyond retention', async () => {
    const own = await owner()
    const now = Date.now()
    const daysAgo = (days: number) => new Date(now - days * 86_400_000).toISOString().slice(0, 10)
    // The old usage is no longer stored, the grant is.
    const stub = bindings.CREDIT_METER.getByName(own.account)
    await runInDurableObject(stub, async (_, { storage }) => {
      storage.sql.exec("INSERT INTO grants VALUES ('old', 5000000, ?)", now - 450 * 86_400_000)
    })
    const gate = gateway()
    const range = `/balances/?from=${daysAgo(460)}&to=${daysAgo(398)}`
    const { days } = (await ask(gate, own.key, 'GET', range)).data
    expect(days.map(({ date }: { date: string }) => date)).toEqual([daysAgo(399), daysAgo(398)])
  })

  it('includes a webhook at a public address', async () => {
    const own = await owner()
    const gate = gateway()
    expect((await ask(gate, own.key, 'GET', '/webhook/')).data).toEqual({ webhook: null })
    expect((await ask(gate, own.key, 'POST', '/webhook/test')).status).toBe(404)
    for (const url of ['http://example.com/', 'https://127.0.0.1/', 'https://10.1.2.3:8787/x', 'https://localhost/'])
      expect([url, (await ask(gate, own.key, 'PUT', '/webhook/', { url })).status]).toEqual([url, 400])
    const set = await ask(gate, own.key, 'PUT', '/webhook/', { url: 'https://hooks.example/weir' })
    expect([set.status, set.data.secret]).toEqual([200, expect.stringMatching(/^whsec_/)])
    const shown = await ask(gate, own.key, 'GET', '/webhook/')
    expect([shown.data.webhook.url, shown.text.includes('whsec_')]).toEqual(['https://hooks.example/weir', false])
    expect((await ask(gate, own.key, 'DELETE', '/webhook/')).data.cleared).toBe(true)
  })
})

describe('rejections', () => {
  it('are counted with the index on the account', async () => {
    const plan = bindings.USAGE.prepare(`EXPLAIN QUERY PLAN ${COUNTS_SINCE}`).bind(1, 'acme')
    expect(JSON.stringify((await plan.all()).results)).toContain('(account=? AND hour>?)')
  })

  it('are recorded in the background and listed to the owner', async () => {
    const own = await owner()
    const gate = gateway()
    await ask(gate, own.key, 'GET', '/keys/?limit=x')
    await ask(gate, own.key, 'DELETE', '/webhook/')
    expect(gate.batches.flatMap(({ rows }) => rows)).toMatchObject([
      { account: own.account, keyHash: own.hash, requestId: 'req_1', type: 'ownKeys', code: 'invalid_request' },
      { type: 'clearOwnWebhook', code: 'not_found' },
    ])
    for (const batch of gate.batches) await storeRefusals(bindings.USAGE, batch, Date.now())
    const { data } = await ask(gate, own.key, 'GET', '/refusals/')
    expect(data.refusals.map(({ prefix, code }: Record<string, string>) => [prefix, code])).toEqual([
      [own.prefix, 'not_found'],
      [own.prefix, 'invalid_request'],
    ])
    expect(data.counts).toEqual([
      { code: 'invalid_request', count: 1 },
      { code: 'not_found', count: 1 },
    ])
  })

  it('of a revoked key belong to its account, and those of an invented key to nobody', async () => {
    const own = await owner()
    const gate = gateway()
    await ask(gate, own.key, 'DELETE', `/keys/${own.hash}`)
    const fresh = gateway()
    expect((await ask(fresh, own.key, 'GET', '/keys/')).status).toBe(401)
    expect((await ask(fresh, `${own.key.slice(0, -1)}x`, 'GET', '/keys/')).status).toBe(401)
    expect(fresh.batches.flatMap(({ rows }) => rows)).toMatchObject([{ account: own.account, code: 'unauthorized' }])
  })

  it('keep the newest 500 per account, and count all', async () => {
    const calls = new RefusalBuffer()
    const start = Date.now() - 3_600_000
    for (let i = 0; i < 40; i++) {
      for (let each = 0; each < 100; each++)
        calls.record(
          {
            caller: { account: 'flooded', keyHash: keyHashOf('f') },
            requestId: `req_${i}`,
            product: 'info',
            type: 'meta',
            failure: { kind: 'not_json' },
          },
          start + i * 50_000,
        )
      await storeRefusals(bindings.USAGE, calls.take()!, Date.now())
    }
    const newest = "SELECT request_id FROM refusals WHERE account = 'flooded' ORDER BY at DESC, number DESC"
    const kept = (await bindings.USAGE.prepare(newest).all()).results
    expect([kept.length, kept[0]]).toEqual([500, { request_id: 'req_39' }])
    const counts = await bindings.USAGE.prepare(COUNTS_SINCE).bind(0, 'flooded').all()
    expect(counts.results).toEqual([{ code: 'invalid_json', count: 4_000 }])
  })

  it('do not affect the call if they cannot be stored', async () => {
    const reported: unknown[] = []
    const report = (error: unknown) => void reported.push(error)
    const book = new RefusalLog({ nowMs: () => 0, sleep: async () => {}, report })
    const works: Promise<unknown>[] = []
    const kept: RefusalBatch[] = []
    const asked = {
      caller: { account: 'a', keyHash: keyHashOf('k') },
      requestId: 'r',
      product: 'info',
      type: '',
    } as const
    const call = { ...asked, failure: { kind: 'not_json' } } as const
    const note = (keep: (batch: RefusalBatch) => Promise<void>) =>
      book.record(call, keep, (work) => void works.push(work))
    note(() => Promise.reject(new Error('D1 is away')))
    await Promise.all(works)
    expect(reported).toHaveLength(1)
    note(async (batch) => void kept.push(batch))
    await Promise.all(works)
    expect(kept.map(({ rows, counts }) => [rows.length, counts[0]?.count])).toEqual([[2, 2]])
  })
})

describe('the request log of an account', () => {
  it('lists its calls by page and by filter, and those of no other account', async () => {
    const own = await owner()
    const other = await owner()
    const gate = gateway()
    const bot = (await ask(gate, own.key, 'POST', '/keys/', { label: 'bot' })).data
    const atMs = Date.now() - 1_000
    const row = { product: 'info', type: 'l2Book', status: 200, code: '', ms: 4, micro: 2 * CREDIT } as const
    const [ofOwn, ofBot] = [own, bot].map(({ hash }) => ({ ...row, keyHash: keyHashOf(hash) }))
    const refused = { type: 'meta', status: 429, code: 'rate_limited', ms: 40, micro: 0 }
    const rows = [
      ...[0, 1, 2].map((i) => ({ ...ofOwn!, atMs: atMs + i, requestId: `req_${i}` })),
      { ...ofBot!, ...refused, atMs: atMs + 3, requestId: 'req_3' },
      { ...ofBot!, product: 'stream' as const, status: 101, ms: null, atMs: atMs + 4, requestId: '' },
    ]
    const lease = {
      v: 1,
      lease: 'log',
      keyHash: keyHashOf(own.hash),
      spent: 0,
      usage: [],
      need: 0,
      waiting: 0,
      forecast: 0,
    }
    await meterOf(own.account).lease({ ...lease, close: false, log: { source: 's', number: 1, calls: 9, rows } })
    const list = async (query = '') => (await ask(gate, own.key, 'GET', `/logs/${query}`)).data
    const first = await list('?limit=2')
    expect(first).toMatchObject({ matching: 5, left_out: 4, latency: { p50_ms: 4, p99_ms: 40 }, kept_hours: 24 })
    const shown = { prefix: bot.prefix, product: 'info', type: 'l2Book', code: '' }
    const event = { ...shown, product: 'stream', status: 101, ms: null, credits: '2', request_id: '' }
    const rejected = { ...shown, ...refused, micro: undefined, credits: '0', request_id: 'req_3' }
    expect(first.calls).toEqual([
      { ...event, at: atMs + 4 },
      { ...rejected, at: atMs + 3 },
    ])
    const second = await list(`?limit=2&before=${first.next}`)
    expect(second.calls.map(({ request_id: id }: { request_id: string }) => id)).toEqual(['req_2', 'req_1'])
    expect((await list(`?limit=2&before=${second.next}`)).next).toBeNull()
    for (const [query, matching] of [
      [`?key=${bot.prefix}`, 2],
      [`?key=${own.hash}`, 3],
      ['?product=stream', 1],
      ['?type=meta', 1],
      ['?status=4xx', 1],
      ['?code=rate_limited', 1],
      [`?since=${atMs + 2}&until=${atMs + 3}`, 2],
    ] as const)
      expect([query, (await list(query)).matching]).toEqual([query, matching])
    const nothing = { calls: [], next: null, matching: 0, left_out: 0, latency: null }
    expect((await ask(gate, other.key, 'GET', '/logs/')).data).toMatchObject(nothing)
    const foreign = await ask(gate, other.key, 'GET', `/logs/?key=${bot.prefix}`)
    expect(foreign.status).toBe(404)
    for (const query of ['?before=1', '?since=-1', '?status=3xx', '?product=platform', '?limit=201', '?none=1'])
      expect([query, (await ask(gate, own.key, 'GET', `/logs/${query}`)).status]).toEqual([query, 400])
  })
})
