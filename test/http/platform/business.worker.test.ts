// Lists, sums and search over all accounts.

import { beforeAll, describe, expect, it } from 'vitest'
import { trendQueries } from '../../../src/http/platform/endpoints/trend.ts'
import { storeUsage } from '../../../src/http/platform/usage-copy.store.ts'
import { meterOf, spend } from '../../metering/meter.worker.ts'
import { ask, bindings, newKey } from './operator.worker.ts'

const { USAGE: db } = bindings
const HOUR = 3_600_000
// Next year, because meters of other test files copy their usage of this hour at any time.
const hour = (Math.floor(Date.now() / HOUR) + 400 * 24) * HOUR
const then = { lent: { now: () => hour } }
const today = new Date(hour).toISOString().slice(0, 10)

const pages = async (path: string, name: string) => {
  const rows: Record<string, unknown>[] = []
  const join = path.includes('?') ? '&' : '?'
  for (let next: string | number | null = ''; next !== null; ) {
    const after: string = next === '' ? '' : `&${name === 'accounts' || name === 'keys' ? 'after' : 'before'}=${next}`
    const { status, json } = await ask('GET', `${path}${join}limit=2${after}`)
    expect(status).toBe(200)
    rows.push(...json[name])
    next = json.next
  }
  return rows
}

let key: Awaited<ReturnType<typeof newKey>>
beforeAll(async () => {
  for (const id of ['zeta', 'Acme-1', 'acme-2', 'other', '100-percent'])
    await ask('PUT', `/accounts/${id}`, { plan: id === 'other' ? 'entry' : 'trial' })
  key = await newKey({ account: 'Acme-1', label: 'bot' })
  await newKey({ account: 'Acme-1' })
  await storeUsage(db, [
    { keyHash: key.hash, hour, product: 'info', type: 'l2Book', calls: 3, amount: 3_500_000, changes: 3 },
    { keyHash: key.hash, hour, product: 'stream', type: 'trades', calls: 2, amount: 2_000_000, changes: 2 },
  ])
  for (const [i, id] of ['a', 'b', 'c'].entries())
    await ask('POST', '/accounts/zeta/grants', { credits: 10 * (i + 1), idempotency_key: id })
  await bindings.ACCOUNTS.prepare("UPDATE grants SET created = ? WHERE account = 'zeta'").bind(hour).run()
  // A balance that moved here from another gateway, not new credits.
  await bindings.ACCOUNTS.prepare("INSERT INTO grants VALUES ('other', 'import:a', 1000000, ?)").bind(hour).run()
  const insert = `INSERT INTO refusals (at, request_id, account, key_hash, product, type, code, message)
    VALUES (?, ?, 'Acme-1', ?, 'info', 'l2Book', ?, 'no')`
  for (const [i, code] of ['rate_limited', 'forbidden', 'rate_limited'].entries())
    await db
      .prepare(insert)
      .bind(hour + i, `req_refused${i}`, key.hash, code)
      .run()
  await db.prepare("INSERT INTO refusal_counts VALUES (?, 'Acme-1', 'rate_limited', 7)").bind(hour).run()
})

describe('accounts', () => {
  it('are listed once each, by name, page by page', async () => {
    const names = (await pages('/accounts', 'accounts')).map(({ account }) => account)
    expect(names).toEqual([...names].sort())
    expect(names).toEqual(expect.arrayContaining(['100-percent', 'Acme-1', 'acme-2', 'other', 'zeta']))
    expect(new Set(names).size).toBe(names.length)
  })

  it('are found by part of the name, case-insensitive and literal, and by plan', async () => {
    const names = async (query: string) =>
      (await ask('GET', `/accounts?${query}`)).json.accounts.map(({ account }: { account: string }) => account)
    expect(await names('search=ACME')).toEqual(['Acme-1', 'acme-2'])
    expect(await names('search=%25')).toEqual([])
    expect(await names('search=_')).not.toContain('zeta')
    expect(await names('plan=entry')).toEqual(['other'])
    expect(await names('search=acme&plan=entry')).toEqual([])
  })

  it('show keys and balance', async () => {
    const [acme] = (await ask('GET', '/accounts?search=Acme-1')).json.accounts
    expect(acme).toMatchObject({ plan: 'trial', keys: 2, last_used: null, balance: '25000' })
    await spend(meterOf('other'), key.hash, 1_000_000)
    const [other] = (await ask('GET', '/accounts?search=other')).json.accounts
    expect(other).toMatchObject({ keys: 0, balance: '9999' })
    expect(Date.now() - other.last_used).toBeLessThan(2 * HOUR)
  })

  it('are listed quickly even if there are ten thousand', async () => {
    const insert = `INSERT INTO accounts (id, plan, created) SELECT 'many-' || value, 'entry', 1
      FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 10000) SELECT value FROM n)`
    await bindings.ACCOUNTS.prepare(insert).run()
    const started = performance.now()
    // Only the meters of the page are called.
    const { json } = await ask('GET', '/accounts?search=many-9999&limit=100')
    console.log(`a search among 10,000 accounts: ${Math.round(performance.now() - started)} ms`)
    expect(json.accounts).toHaveLength(1)
    await bindings.ACCOUNTS.prepare("DELETE FROM accounts WHERE id LIKE 'many-%'").run()
  })
})

it('keys, grants and rejections are paged, newest first', async () => {
  const keys = await pages('/keys?account=Acme-1', 'keys')
  expect(keys).toHaveLength(2)
  expect((await pages('/keys', 'keys')).length).toBeGreaterThanOrEqual(2)
  expect((await ask('GET', '/keys?after=nonsense')).json.error_message).toMatch(/^after: /)
  const grants = (await pages('/grants?account=zeta', 'grants')).map(({ id, credits }) => [id, credits])
  expect(grants).toEqual([
    ['grant:c', '30'],
    ['grant:b', '20'],
    ['grant:a', '10'],
  ])
  const refused = await pages('/refusals?account=Acme-1', 'refusals')
  expect(refused.map(({ request_id }) => request_id)).toEqual(['req_refused2', 'req_refused1', 'req_refused0'])
  expect(await pages('/refusals?code=forbidden', 'refusals')).toHaveLength(1)
  expect(await pages('/pipelines', 'pipelines')).toEqual([])
})

describe('the business report', () => {
  it('matches the other lists', async () => {
    const { json } = await ask('GET', `/business?from=${today}&to=${today}`, undefined, then)
    expect(json).toMatchObject({
      totals: { granted: '60', spent: '5.5', calls: 3, stream_minutes: 2, refusals: 7 },
      days: [{ date: today, by_product: { info: '3.5', stream: '2' } }],
      refused: [{ code: 'rate_limited', count: 7 }],
      million_usd: '49.00',
      sold_usd: '0.00294',
      spent_usd: '0.000269',
      cost: { relays: 0 },
    })
    expect(Number(json.cost.total_usd)).toBeGreaterThan(0)
  })

  it('has no money without a price, and no cost without the log', async () => {
    const logStatus = () => Promise.reject(new Error('away'))
    const { json } = await ask('GET', '/business', undefined, { lent: { millionMicroUsd: null, logStatus } })
    expect(json).toMatchObject({ million_usd: null, sold_usd: null, spent_usd: null, cost: null })
  })

  it('shows sign-ups against their limits, and the number of networks', async () => {
    const insert = `INSERT INTO signup_links (hash, address, base, created, area, domain)
      SELECT 'shown ' || value, value, value, ?, ?, ? FROM json_each('[1,2,3]')`
    await bindings.ACCOUNTS.batch([
      bindings.ACCOUNTS.prepare(insert).bind(Date.now(), 'network', 'domain'),
      bindings.ACCOUNTS.prepare(insert.replace('shown', 'old')).bind(Date.now() - 86_500_000, 'old network', 'domain'),
      bindings.ACCOUNTS.prepare(insert.replace('shown', 'owners')).bind(Date.now(), null, null),
    ])
    const { json } = await ask('GET', '/business')
    const spread = { networks: 1, most_of_network: 3, domains: 1, most_of_domain: 3 }
    expect(json.sign_up).toEqual({ per_day: 200, links: 3, ...spread })
    const off = await ask('GET', '/business', undefined, { lent: { signUpsPerDay: null } })
    expect(off.json.sign_up).toBeNull()
  })

  it('covers at most 92 days', async () => {
    expect((await ask('GET', '/business?duration=12')).json.error_message).toMatch(/^from: /)
    expect((await ask('GET', '/business?duration=1')).status).toBe(200)
  })
})

describe('the trend', () => {
  it('matches the report, by hour, day and month', async () => {
    const insert = `INSERT INTO orders (number, account, micro, minor, currency, provider, state, created, paid, refunded)
      VALUES (?, 'zeta', 1000000, ?, 'eur', 'manual', ?, 1, ?, ?)`
    const order = (number: string, minor: number, state: string, paid: number | null, refunded = 0) =>
      bindings.ACCOUNTS.prepare(insert).bind(number, minor, state, paid, refunded)
    await bindings.ACCOUNTS.batch([
      order('T-1', 1_900, 'paid', hour + 5),
      order('T-2', 200, 'paid', hour + 6, 50),
      order('T-3', 700, 'open', null),
      order('T-4', 900, 'paid', hour - 400 * 24 * HOUR),
    ])
    const steps = { '2d': hour, '30d': hour - (hour % (24 * HOUR)), '12m': Date.parse(`${today.slice(0, 7)}-01`) }
    for (const [period, start] of Object.entries(steps)) {
      const { json } = await ask('GET', `/business/trend?period=${period}`, undefined, then)
      expect([period, json.to]).toEqual([period, start])
      expect(json.paid).toEqual([{ start, currency: 'eur', orders: 2, amount: '21.00', refunded: '0.50' }])
      expect(json.used.filter((one: { start: number }) => one.start === start)).toEqual([
        { start, product: 'info', credits: '3.5', count: 3 },
        { start, product: 'stream', credits: '2', count: 2 },
      ])
      expect(json.rejected).toEqual([{ start, code: 'rate_limited', count: 7 }])
    }
    expect((await ask('GET', '/business/trend?period=1y')).json.error_message).toMatch(/^period: must be one of/)
  })

  it('reads with an index only', async () => {
    const queries = [trendQueries(true), trendQueries(false)].flatMap(({ paid, used, rejected }) => [
      [bindings.ACCOUNTS, paid] as const,
      [db, used] as const,
      [db, rejected] as const,
    ])
    for (const [database, sql] of queries) {
      const plan = JSON.stringify((await database.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(1).all()).results)
      expect(plan).toMatch(/SEARCH (orders|usage_hours|usage_days|refusal_counts) USING /)
      expect(plan).not.toContain('SCAN')
    }
  })
})

describe('monitoring', () => {
  it('shows the metrics of /metrics, and their figures of the last day', async () => {
    const { json } = await ask('GET', '/metrics')
    expect(json.metrics.length).toBeGreaterThan(30)
    expect(json).toMatchObject({ counted: false, at: expect.any(Number) })
    const up = json.metrics.find(({ name }: { name: string }) => name === 'weir_up')
    expect(up).toMatchObject({ type: 'gauge', figure: 1, values: [{ labels: {}, value: 1 }] })
    const figures = async () => [
      { at: 1, figures: { weir_up: 1 } },
      { at: 2, figures: { weir_up: 0, weir_gaps: 3 } },
    ]
    const monitor = (() => ({ figures })) as never
    const history = await ask('GET', '/metrics/history', undefined, { lent: { monitor } })
    expect(history.json).toEqual({ at: [1, 2], figures: { weir_up: [1, 0], weir_gaps: [null, 3] } })
  })

  it('shows alerts, and says what a test alert needs', async () => {
    const { json } = await ask('GET', '/alerts')
    expect(json.alerts.map(({ alert, unit }: { alert: string; unit: string | null }) => [alert, unit])).toEqual([
      ['feed_not_live', null],
      ['archive_late', 'milliseconds'],
      ['write_offs_high', 'percent'],
      ['usage_copies_late', 'milliseconds'],
    ])
    const { status, json: refused } = await ask('POST', '/alerts/test')
    expect([status, refused.error_message]).toEqual([404, expect.stringContaining('ALERT_URL')])
  })
})

describe('hourly and daily sums', () => {
  it('match the meters, regardless of repeated or reordered copies', async () => {
    const day = hour - (hour % (24 * HOUR)) - 40 * 24 * HOUR
    const row = (product: 'info' | 'stream', calls: number, at = day, changes = calls) => ({
      keyHash: key.hash,
      hour: at,
      product,
      type: 'meta',
      calls,
      amount: calls * 1_000_000,
      changes,
    })
    await storeUsage(db, [row('info', 2), row('stream', 5), row('info', 1, day + 23 * HOUR)])
    await storeUsage(db, [row('info', 7)])
    // A refunded minute that a late copy does not have.
    await storeUsage(db, [row('stream', 4, day, 6), row('stream', 5)])
    await storeUsage(db, [row('stream', 5)])
    await storeUsage(db, [row('info', 2), row('info', 1, day + 24 * HOUR)])
    const select = 'SELECT product, calls, micro FROM usage_days WHERE day = ? ORDER BY product'
    const { results } = await db.prepare(select).bind(day).all()
    expect(results).toEqual([
      { product: 'info', calls: 8, micro: 8_000_000 },
      { product: 'stream', calls: 4, micro: 4_000_000 },
    ])
    const hours = 'SELECT product, calls, micro FROM usage_hours WHERE hour = ? ORDER BY product'
    expect((await db.prepare(hours).bind(day).all()).results).toEqual([
      { product: 'info', calls: 7, micro: 7_000_000 },
      { product: 'stream', calls: 4, micro: 4_000_000 },
    ])
    const kept = 'SELECT calls, micro FROM usage WHERE hour = ? AND product = ?'
    expect(await db.prepare(kept).bind(day, 'stream').first()).toEqual({ calls: 4, micro: 4_000_000 })
  })

  it('by hour are kept for three days', async () => {
    const used = { keyHash: key.hash, product: 'info' as const, type: 'meta', calls: 1, amount: 1, changes: 1 }
    await storeUsage(db, [{ ...used, hour: hour - 74 * HOUR }])
    await storeUsage(db, [{ ...used, hour: hour - HOUR }])
    const { oldest } = (await db.prepare('SELECT min(hour) AS oldest FROM usage_hours').first<{ oldest: number }>())!
    expect(oldest).toBe(hour - HOUR)
    await db.prepare('DELETE FROM usage_days WHERE micro = 1').run()
  })

  it('count a repeated row once, and no row of a failed copy', async () => {
    const day = hour - (hour % (24 * HOUR)) - 50 * 24 * HOUR
    const used = { calls: 2, amount: 2_000_000, changes: 2 }
    const row = { keyHash: key.hash, hour: day, product: 'info' as const, type: 'meta', ...used }
    const sums = () => db.prepare('SELECT calls, micro FROM usage_days WHERE day = ?').bind(day).all()
    const wrong = { ...row, type: null as never }
    await expect(storeUsage(db, [row, wrong])).rejects.toThrow('NOT NULL')
    expect((await sums()).results).toEqual([])
    await storeUsage(db, [row, { ...row, calls: 3, amount: 3_000_000, changes: 3 }, row])
    expect((await sums()).results).toEqual([{ calls: 3, micro: 3_000_000 }])
  })
})

describe('a search', () => {
  const found = async (q: string) => (await ask('GET', `/search?q=${encodeURIComponent(q)}`)).json

  it('finds accounts, keys by prefix, and requests', async () => {
    expect((await found('acme')).accounts).toHaveLength(2)
    for (const name of [key.prefix, key.prefix.slice(0, 8), key.hash])
      expect((await found(name)).keys).toEqual(expect.arrayContaining([expect.objectContaining({ hash: key.hash })]))
    expect((await found('req_refused1')).refusals).toMatchObject([{ code: 'forbidden', account: 'Acme-1' }])
    expect((await found('req_1')).audit.length).toBeGreaterThan(0)
    expect(await found('%')).toEqual({ accounts: [], keys: [], refusals: [], audit: [] })
  })

  it('rejects a full key without echoing it', async () => {
    const { error_message: message } = await found(key.key)
    expect(message).toMatch(/^q: /)
    expect(message).not.toContain(key.key)
    expect((await ask('GET', '/search?q=%20')).json.error_message).toMatch(/^q: /)
  })
})
