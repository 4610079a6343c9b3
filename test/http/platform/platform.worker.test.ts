import { describe, expect, it } from 'vitest'
import { PRODUCTS } from '../../../src/accounts/identity.ts'
import { NO_KEY_SECRET } from '../../../src/accounts/key-resolver.store.ts'
import { keyHashOf } from '../../../src/core/ids.ts'
import { after } from '../../../src/core/timers.client.ts'
import { PipelineService } from '../../../src/http/platform/pipeline-service.client.ts'
import { NewPipeline } from '../../../src/pipelines/changes.ts'
import { spend, spendCalls } from '../../metering/meter.worker.ts'
import { FakeSinks } from '../../pipelines/fake-sinks.ts'
import { ask as admin, bindings, chargingOf, keyed, meterOf, newKey, platformOf } from './operator.worker.ts'

const CREDIT = 1_000_000

type Gateway = ReturnType<typeof keyed>
const gateway = (sinks?: FakeSinks) => keyed({ platform: platformOf(false, false, sinks) })
const get = (ask: Gateway, path: string, key?: string) => ask('GET', path, key)

describe('information about the calling key', () => {
  it('has the same balance in headers and body, even during concurrent calls', async () => {
    const { key, hash, account } = await newKey({ credits: 1_000, plan: 'enterprise' })
    const charging = chargingOf()
    const app = keyed({ charging })
    const who = { v: 1, account, keyHash: keyHashOf(hash), kind: 'api', plan: 'enterprise' } as const
    const identity = { ...who, products: [...PRODUCTS] }
    const call = async () => {
      const hold = await charging(() => {}).hold(identity, { product: 'info', type: 'meta', amount: CREDIT })
      return hold.ok ? hold.value.settle() : Number.NaN
    }
    for (let round = 1; round < 4; round++) {
      await Promise.all(Array.from({ length: 50 }, call))
      await spend(meterOf(account), hash, CREDIT)
      const { json, headers } = await get(app, '/platform/key/', key)
      expect(json.data).toMatchObject({ balance: String(1_000 - round * 51), spent: String(round * 51) })
      expect(headers.get('x-credits-remaining')).toBe(String(1_000 - round * 51))
    }
  })

  it('has the remaining cap in the headers and the balance in the body', async () => {
    const { key, hash, account } = await newKey({ credits: 100, cap: 3 })
    const { json, headers } = await get(gateway(), '/platform/key/', key)
    expect([json.data.balance, headers.get('x-credits-remaining')]).toEqual(['100', '3'])
    expect([json.data.cap, json.data.cap_remaining]).toEqual(['3', '3'])
    await spend(meterOf(account), hash, 2_500_000)
    expect((await get(gateway(), '/platform/key/', key)).json.data).toMatchObject({ cap: '3', cap_remaining: '0.5' })
    const other = await newKey({ account })
    expect((await get(gateway(), '/platform/key/', other.key)).json.data).toMatchObject({
      cap: null,
      cap_remaining: null,
    })
  })

  it('has exact usage per day, key and type, for both kinds of keys', async () => {
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
      const all = { calls: 4, stream_minutes: 3, pipeline_rows: 0 }
      expect(json.data.by_day).toEqual([{ date: today, credits: '5.130001', ...all }])
      expect(json.data.totals).toEqual({ ...all, credits: '5.130001' })
      expect(json.data.by_key).toHaveLength(2)
      expect(json.data.by_key).toContainEqual({
        prefix: one.prefix,
        label: 'one',
        credits: '3.130001',
        calls: 4,
        stream_minutes: 2,
        pipeline_rows: 0,
      })
      expect(json.data.by_type).toEqual([
        {
          product: 'stream',
          type: 'allFills',
          credits: '3.130001',
          calls: 0,
          stream_minutes: 3,
          pipeline_rows: 0,
        },
        { product: 'info', type: 'meta', credits: '2', calls: 4, stream_minutes: 0, pipeline_rows: 0 },
      ])
      expect(text).not.toContain(one.key)
      expect(headers.get('x-credits-cost')).toBe('0')
      expect(headers.get('x-request-id')).toBe('req_1')
      expect(headers.get('ratelimit-policy')).toBe('"rest";q=4;w=1')
    }
    expect((await meterOf(one.account).balance()).spent).toBe(5_130_001)
  })

  it('has the same usage in the compatible format', async () => {
    const { key, hash, account, prefix } = await newKey({ credits: 100, label: 'one' })
    await spend(meterOf(account), hash, 1_130_001)
    const { status, json } = await get(gateway(), '/platform/compat/usage/?duration=1', key)
    const date = new Date().toISOString().slice(0, 10)
    const all = { premium_credits: 1.130001, free_credits: 0 }
    expect([status, json.data]).toEqual([
      200,
      {
        period: { from: expect.any(String), to: date },
        by_day: [{ date, ...all }],
        aggregate: { credits_consumed: 1.130001, ...all, max_credits: 0, plan: 'trial', flex_credits: { limit: 0 } },
        by_api_key: [{ apikey: prefix, label: 'one', credits_consumed: 1.130001 }],
      },
    ])
  })

  it('has the key, balance and limits', async () => {
    const { key, prefix, account } = await newKey({
      plan: 'professional',
      label: 'mine',
      products: ['info', 'platform'],
    })
    expect((await get(gateway(), '/platform/key', key)).json.data).toMatchObject({
      prefix,
      label: 'mine',
      account,
      plan: 'professional',
      products: ['info', 'platform'],
      balance: '300000',
      spent: '0',
      period: { credits: '300000' },
      limits: { rest_requests_per_second: 50, info_requests_per_second: 5_000 },
    })
  })
})

const PIPELINES = '/platform/pipeline-api/'
const HUSH = 'a secret that nobody reads'
const CONFIG = {
  type: 'clickhouse',
  url: 'https://db.example.com:8443',
  user: 'weir',
  password: HUSH,
  database: 'default',
  table: 'fills',
}
const NEW = { name: 'one', topic: 'fills', destination_config: CONFIG }
const UNCHANGED = { status: 503, json: { error: true, error_code: '503' } }

/** A managing key of a new account, with a fake Sink. */
async function manager(label = 'manager') {
  const sinks = new FakeSinks()
  const app = gateway(sinks)
  const { key, account, hash } = await newKey({ kind: 'service', plan: 'enterprise', credits: 5, label })
  const call = (method: string, path = '', body?: unknown) => app(method, `${PIPELINES}${path}`, key, body)
  const create = async (over: object = {}) => {
    const { status, json } = await call('POST', '', { ...NEW, ...over })
    expect(status).toBe(201)
    return json.data.id as string
  }
  return { app, sinks, call, create, account, hash, key }
}

const rowsOf = async (account: string) => {
  const select = bindings.ACCOUNTS.prepare('SELECT * FROM pipelines WHERE account = ? ORDER BY created').bind(account)
  return (await select.all<Record<string, unknown>>()).results
}

describe('pipelines', () => {
  it('are created, listed, read, changed and deleted, and synced to the Sink', async () => {
    const { call, create, sinks, account, hash } = await manager()
    const id = await create({ transforms: { big: 'SELECT 1' } })
    expect(id).toMatch(/^pipe_[1-9A-HJ-NP-Za-km-z]{22}$/)
    const { json } = await call('GET', `${id}/`)
    const who = { email: '', display_name: 'manager', full_name: 'manager' }
    const group = { id: `group_${account}`, name: account, slug: account.toLowerCase(), is_paid: true }
    expect(json.data).toEqual({
      ...NEW,
      id,
      project: '',
      description: '',
      filter: null,
      transforms: { big: 'SELECT 1' },
      destination_type: 'clickhouse',
      destination_config: { ...CONFIG, password: '******' },
      execution_mode: 'continuous',
      execution_start_from: '',
      execution_stop_from: '',
      abi_file: {},
      abi_contract_addresses: [],
      abi_unmatched: 'keep',
      on_failure: 'pause',
      status: 'running',
      created_by: { id: `user_${hash.slice(0, 16)}`, ...who },
      charged_to: { id: `user_${hash.slice(0, 16)}`, display_name: 'manager' },
      group: { ...group, is_over_limit: false, is_free_trial_expired: false },
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(sinks.held.get(id)).toMatchObject({ account, revision: 1, status: 'running', destination_config: CONFIG })
    const sent = await call('PATCH', id, { ...json.data, name: 'two' })
    expect(sent.json.data).toEqual({ ...json.data, name: 'two', updated_at: expect.any(String) })
    expect(sinks.held.get(id)).toMatchObject({ name: 'two', revision: 2, destination_config: CONFIG })
    expect(sinks.sealed.get(id)).toBe((await rowsOf(account))[0]!.sealed)
    const second = await create()
    const page = await call('GET', '?page_size=1&page_number=1')
    const pagination = { page_number: 1, page_size: 1, total_count: 2, has_more: false }
    expect(page.json.data).toMatchObject({ pagination, items: [{ id }] })
    expect((await call('GET')).json.data.items.map((each: { id: string }) => each.id).sort()).toEqual(
      [id, second].sort(),
    )
    expect((await call('DELETE', id)).json.data).toEqual({ id })
    expect((await call('GET', id)).status).toBe(404)
    expect((await call('DELETE', id)).status).toBe(404)
    expect([...sinks.held.keys()]).toEqual([second])
    expect(await rowsOf(account)).toHaveLength(1)
  })

  it('are started and paused by PUT, which is idempotent and changes nothing else', async () => {
    const { call, create, sinks } = await manager()
    const id = await create()
    const before = (await call('GET', id)).json.data
    const paused = await call('PUT', `${id}/`, { status: 'paused', name: 'other', id: 'pipe_x', topic: 1, x: null })
    expect(paused.json.data).toEqual({ ...before, status: 'paused', updated_at: expect.any(String) })
    expect(sinks.held.get(id)).toMatchObject({ status: 'paused', name: 'one', revision: 2 })
    const calls = sinks.calls.length
    expect((await call('PUT', id, { status: 'paused' })).json).toEqual(paused.json)
    expect(sinks.calls).toHaveLength(calls)
    expect((await call('PUT', id, { status: 'running' })).json.data.status).toBe('running')
    expect(sinks.held.get(id)).toMatchObject({ status: 'running', revision: 3 })
    expect((await call('PUT', id)).status).toBe(400)
    expect((await call('GET', id)).json.data.status).toBe('running')
  })

  // PIPE-12, PIPE-27
  it('stop waiting when they are set to run again', async () => {
    const { call, create, sinks } = await manager()
    const id = await create()
    const calls = () => sinks.calls.filter(([name]) => name === 'apply').length
    expect((await call('PUT', id, { status: 'running' })).status).toBe(200)
    expect(calls()).toBe(1)
    sinks.stuck.add(id)
    expect((await call('PATCH', id, { name: 'one' })).status).toBe(200)
    expect([calls(), sinks.stuck.size]).toEqual([1, 1])
    expect((await call('PUT', id, { status: 'running' })).status).toBe(200)
    expect([calls(), sinks.stuck.size, sinks.held.get(id)?.revision]).toEqual([2, 0, 2])
    sinks.unpaid.add(id)
    expect((await call('PUT', id, { status: 'running' })).status).toBe(200)
    expect([calls(), sinks.unpaid.size]).toEqual([3, 0])
    // Its state is unknown, so it is synced.
    sinks.failing.add('status')
    expect((await call('PUT', id, { status: 'running' })).status).toBe(200)
    sinks.failing.add('apply')
    expect(await call('PUT', id, { status: 'running' })).toMatchObject(UNCHANGED)
    expect(sinks.held.get(id)?.revision).toBe(4)
  })

  it('report their status', async () => {
    const { call, create, sinks } = await manager()
    const id = await create({ status: 'paused' })
    expect((await call('GET', `${id}/status/`)).json.data).toMatchObject({
      id,
      status: 'paused',
      in_step: true,
      phase: 'paused',
      height: null,
      rows: 0,
      last_error: null,
    })
    const behind = { height: 7, timeMs: 8, lagBlocks: 9, lagMs: 10 }
    for (const [phase, lag] of [
      ['live', { lag_blocks: 9, lag_ms: 10 }],
      // It has finished.
      ['finished', { lag_blocks: null, lag_ms: null }],
    ] as const) {
      sinks.says = { ...behind, phase }
      expect((await call('GET', `${id}/status/`)).json.data).toMatchObject({ phase, height: 7, ...lag })
    }
    const lastError = { sinceMs: 1, atMs: 2, words: 'on fire' }
    const lastIncident = { sinceMs: 3, untilMs: 4, words: 'away' }
    sinks.says = { lastError, lastIncident }
    const at = (ms: number) => new Date(ms).toISOString()
    expect((await call('GET', `${id}/status/`)).json.data).toMatchObject({
      last_error: { since: at(1), time: at(2), message: 'on fire' },
      last_incident: { since: at(3), recovered: at(4), message: 'away' },
    })
    const running = await create()
    sinks.says = { phase: 'retrying' }
    const { revision } = sinks.held.get(running)!
    expect((await call('PUT', running, { status: 'running' })).status).toBe(200)
    expect(sinks.held.get(running)!.revision).toBe(revision + 1)
    sinks.says = {}
    const logs = (await call('GET', `${id}/logs/?limit=2`)).json.data
    expect(logs).toMatchObject({
      items: [{ id: 3, message: 'line 3', time: '1970-01-01T00:00:00.003Z' }, { id: 2 }],
      next: 2,
    })
    expect((await call('GET', `${id}/logs/?before=2`)).json.data).toMatchObject({ items: [{ id: 1 }], next: null })
    const minute = { time: '1970-01-01T00:01:00.000Z', rows: 5, batches: 1, lag_ms: null }
    expect((await call('GET', `${id}/metrics/?minutes=5`)).json.data.items).toMatchObject([minute])
    expect((await call('POST', `${id}/dead-letters/redeliver/`)).json.data).toEqual({ batches: 2 })
    const test = { ok: true, rows: 3, ms: 1, message: 'confirmed' }
    expect((await call('POST', `${id}/test/`)).json.data).toEqual(test)
    expect(sinks.tested).toMatchObject({ destination_config: CONFIG, name: 'one' })
    expect((await call('POST', `${id}/test`, { name: 'tried' })).json.data).toEqual(test)
    expect(sinks.tested).toMatchObject({ destination_config: CONFIG, name: 'tried' })
    sinks.isBusy = true
    const busy = await call('POST', `${id}/test/`)
    expect([busy.status, busy.json.error_code]).toEqual([409, '409'])
    sinks.isBusy = false
    const elsewhere = { ...CONFIG, url: 'https://evil.example.com', password: '******' }
    expect((await call('POST', `${id}/test`, { destination_config: elsewhere })).status).toBe(400)
    expect((await call('GET', id)).json.data.name).toBe('one')
    for (const query of [`${id}/logs/?limit=501`, `${id}/metrics/?minutes=0`, `${id}/logs/?after=1`, '?page_size=51'])
      expect((await call('GET', query)).status).toBe(400)
  })

  it('are previewed before they exist, and list what they can be made of', async () => {
    const { call, sinks, account } = await manager('previews')
    const shown = await call('POST', 'preview/', { topic: 'fills', transforms: { big: 'SELECT * FROM fills' } })
    expect(shown.json.data).toEqual({ rows: [{ _kind: 'row', _key: '9:a' }], read: 3, from: 7, to: 9 })
    expect(shown.headers.get('x-credits-cost')).toBe('1')
    expect(sinks.calls.splice(0)).toEqual([
      ['check', `check/${account}`],
      ['preview', `check/${account}`],
    ])
    expect(sinks.tested).toMatchObject({ topic: 'fills', account, payer_name: 'previews' })
    sinks.previewFault = { path: 'transforms.big', message: 'no such column: x' }
    for (const [body, message] of [
      [{ topic: 'fills' }, 'transforms.big: no such column: x'],
      [{ topic: 'order_updates' }, 'filter: is required'],
      [{ topic: 'fills', filter: { type: 'allFillz' } }, 'did you mean "allFills"?'],
      [{ topic: 'fills', destination_config: CONFIG }, 'destination_config'],
    ] as const) {
      const { status, json, headers } = await call('POST', 'preview/', body)
      expect([status, headers.get('x-credits-cost')]).toEqual([400, '0'])
      expect(json.error_message).toContain(message)
    }
    sinks.failing.add('preview')
    expect((await call('POST', 'preview/', { topic: 'fills' })).status).toBe(503)
    expect((await call('GET', 'options/')).json.data).toMatchObject({
      row_credits: '0.0001',
      minute_credits: '0.05',
      topics: expect.arrayContaining([expect.objectContaining({ topic: 'order_updates', has_past: false })]),
      destinations: expect.arrayContaining([expect.objectContaining({ type: 'postgres' })]),
    })
    sinks.failing.add('status')
    expect((await call('GET', 'options/')).json.data).toMatchObject({ row_credits: null, minute_credits: null })
    expect(await rowsOf(account)).toEqual([])
  })

  // PIPE-36
  it('have one backfill at a time, whose order may be repeated, and which never orders rows again unless asked', async () => {
    const { call, create, sinks, account, key, app } = await manager('backfills')
    const id = await create({ transforms: { big: 'SELECT * FROM fills' } })
    const order = (body: object) => call('POST', `${id}/backfill/`, body)
    const none = { available: true, backfill: null, delivered: [] }
    expect((await call('GET', `${id}/backfill/`)).json.data).toEqual(none)
    expect((await order({ dry_run: true })).json.error_message).toMatch(/^the pipeline has not read its first block/)
    sinks.says = { first: 500, height: 800 }
    expect((await order({ from: '100', dry_run: true })).json.data).toEqual({
      from: 100,
      to: 499,
      // 1,000 rows at 0.0001 credits, and two minutes at 0.05.
      estimate: { rows: 1_000, rows_most: 2_000, exact: false, credits: '0.2', credits_most: '0.3', seconds: 90 },
      backfill: null,
    })
    // An estimate costs as much as a preview; a refused one and an order cost nothing.
    const balance = async () => (await app('GET', '/platform/key/', key)).json.data.balance
    expect(await balance()).toBe('4')
    expect(sinks.surveyed?.pipeline).toMatchObject({ destination_config: CONFIG, id: `survey/${account}` })
    expect((await rowsOf(account)).length).toBe(1)
    for (const [body, path] of [
      [{ from: '600' }, 'from: must be below block 500'],
      [{ from: 'soon' }, 'from: must be empty'],
      [{ form: '1' }, 'form'],
    ] as const)
      expect((await order(body)).json).toMatchObject({
        error_code: '400',
        error_message: expect.stringContaining(path),
      })
    const first = await order({ from: '200', to: '299', idempotency_key: 'a' })
    expect(first.json.data).toMatchObject({ from: 200, to: 299, backfill: { phase: 'live' } })
    const child = first.json.data.backfill.id
    expect(sinks.held.get(child)).toMatchObject({
      topic: 'fills',
      transforms: { big: 'SELECT * FROM fills' },
      destination_config: CONFIG,
      execution_mode: 'bounded',
      execution_start_from: '200',
      execution_stop_from: '299',
      on_failure: 'pause',
    })
    const { json: listed } = await admin('GET', `/pipelines?account=${account}`)
    const known = listed.pipelines.map((each: { id: string; backfill_of: string | null }) => [
      each.id,
      each.backfill_of,
    ])
    expect(known).toEqual([
      [child, id],
      [id, null],
    ])
    // The pipeline itself was told nothing.
    expect(sinks.held.get(id)).toMatchObject({ revision: 1, execution_mode: 'continuous' })
    expect((await order({ from: '200', to: '299', idempotency_key: 'a' })).json.data.backfill.id).toBe(child)
    expect(await order({ from: '300' })).toMatchObject({ status: 409 })
    expect((await call('GET')).json.data.items.map((each: { id: string }) => each.id)).toEqual([id])
    expect(await call('PATCH', `${child}/`, { name: 'x' })).toMatchObject({ status: 409 })
    expect((await call('PUT', `${child}/`, { status: 'paused' })).json.data.status).toBe('paused')
    expect((await call('GET', `${child}/status/`)).json.data.phase).toBe('paused')
    const stranger = await newKey({ account, kind: 'service', label: 'own', pipelines: 'own' })
    expect((await app('DELETE', `${PIPELINES}${id}/backfill/`, stranger.key)).status).toBe(403)
    // Canceled after block 249: the rest can be ordered, alone.
    sinks.says = { first: 500, height: 249 }
    sinks.failing.add('drop')
    expect((await call('DELETE', `${id}/backfill/`)).status).toBe(503)
    sinks.failing.delete('drop')
    expect((await call('DELETE', `${id}/backfill/`)).json.data).toEqual({ delivered: [{ from: 200, to: 249 }] })
    expect((await call('DELETE', `${id}/backfill/`)).status).toBe(404)
    expect([sinks.held.has(child), sinks.held.has(id)]).toEqual([false, true])
    expect((await order({ from: '200', to: '240' })).json.error_message).toContain('unless "redeliver" is true')
    expect((await order({ from: '100', to: '300' })).json.error_message).toContain('100 to 199 and 250 to 300')
    expect((await order({ from: '200', to: '240', redeliver: true, dry_run: true })).json.data).toMatchObject({
      from: 200,
      to: 240,
    })
    const rest = (await order({ from: '200', to: '260' })).json.data.backfill
    expect(rest).toMatchObject({ from: 250, to: 260 })
    // Once it is finished, another one replaces it.
    sinks.says = { first: 500, height: 260, phase: 'finished' }
    expect((await call('GET', `${id}/backfill/`)).json.data).toMatchObject({
      backfill: { id: rest.id, phase: 'finished', blocks_left: 0 },
      delivered: [{ from: 200, to: 249 }],
    })
    const last = (await order({ from: '261' })).json.data
    expect(last).toMatchObject({ from: 261, to: 499 })
    expect((await call('GET', `${id}/backfill/`)).json.data.delivered).toEqual([{ from: 200, to: 260 }])
    expect(await balance()).toBe('3')
    // It is deleted with its pipeline.
    expect((await call('DELETE', `${id}/`)).status).toBe(200)
    expect([sinks.held.size, await rowsOf(account)]).toEqual([0, []])
    const live = await create({ topic: 'order_updates', filter: { type: 'orderUpdates', user: `0x${'1'.repeat(40)}` } })
    expect((await call('POST', `${live}/backfill/`, {})).status).toBe(409)
    expect((await app('GET', `${PIPELINES}${live}/backfill/`, key)).json.data).toEqual({ ...none, available: false })
  })

  it('cancel a backfill only once its object is told to pause, unless its secret is lost', async () => {
    const { call, create, sinks } = await manager()
    const id = await create()
    sinks.says = { first: 500, height: 249 }
    const child = (await call('POST', `${id}/backfill/`, { from: '200' })).json.data.backfill.id
    const delivered = async () => (await call('GET', `${id}/backfill/`)).json.data.delivered
    const cancel = async () => [(await call('DELETE', `${id}/backfill/`)).status, sinks.held.has(child)]
    sinks.failing.add('apply')
    expect(await cancel()).toEqual([503, true])
    expect(await cancel()).toEqual([503, true])
    expect(await delivered()).toEqual([])
    const lose = bindings.ACCOUNTS.prepare("UPDATE pipelines SET sealed = 'lost' WHERE id = ?")
    await lose.bind(child).run()
    expect(await cancel()).toEqual([200, false])
    expect(await delivered()).toEqual([{ from: 200, to: 249 }])
  })

  it('that were restarted leave out of a backfill what they had read, on the same chain', async () => {
    const { call, create, sinks, account } = await manager()
    const id = await create({ topic: 'evm_logs', filter: { type: 'evmLogs', chain: 'anvil' } })
    const ranges = [{ from: 100, to: 199 }]
    const update = bindings.ACCOUNTS.prepare('UPDATE pipelines SET backfilled = ? WHERE id = ?')
    await update.bind(JSON.stringify(ranges), id).run()
    sinks.says = { first: 900, height: 950, earlier: [{ from: 200, to: 499 }] }
    const order = (more: object = {}) => call('POST', `${id}/backfill/`, { from: '150', ...more })
    expect((await order({ dry_run: true })).json.data).toMatchObject({ from: 500, to: 899 })
    expect((await order({ from: '0', dry_run: true })).json.error_message).toContain('0 to 99 and 500 to 899')
    expect((await order({ to: '499' })).json.error_message).toContain('were not delivered before')
    // A version that does not say it.
    sinks.says = { first: 900, height: 950 }
    const { backfill } = (await order()).json.data
    expect(backfill).toMatchObject({ from: 200, to: 899 })
    const stored = async () => (await rowsOf(account)).find((row) => row.id === id)?.backfilled
    expect((await call('PATCH', id, { name: 'two' })).status).toBe(200)
    expect(await stored()).toBe(JSON.stringify(ranges))
    expect((await call('PATCH', id, { filter: { type: 'evmLogs', chain: 'other' } })).status).toBe(200)
    expect(await stored()).toBe('[]')
    // What was delivered of the other chain is not remembered.
    sinks.says = { first: 900, height: 600 }
    expect((await call('DELETE', `${id}/backfill/`)).json.data).toEqual({ delivered: [] })
    expect(await stored()).toBe('[]')
  })

  it('with a hundred backfilled ranges accept a backfill that continues one of them', async () => {
    const { call, create, sinks } = await manager()
    const id = await create()
    sinks.says = { first: 1_000, height: 2_000 }
    const ranges = Array.from({ length: 100 }, (_, at) => ({ from: 9 * at, to: 9 * at }))
    const update = bindings.ACCOUNTS.prepare('UPDATE pipelines SET backfilled = ? WHERE id = ?')
    await update.bind(JSON.stringify(ranges), id).run()
    const order = (from: string) => call('POST', `${id}/backfill/`, { from, to: '999', redeliver: true })
    expect((await order('903')).json.error_message).toMatch(/100 separate ranges/)
    expect((await order('892')).json.data).toMatchObject({ from: 892, to: 999 })
  })

  it('leave no backfill behind, whether it is ordered while they are deleted, or was left by an earlier version', async () => {
    const { call, create, sinks, account } = await manager()
    const id = await create()
    sinks.says = { first: 500, height: 800 }
    sinks.onSurveyed = () => call('DELETE', `${id}/`)
    expect((await call('POST', `${id}/backfill/`, { from: '100' })).status).toBe(409)
    expect([sinks.held.size, await rowsOf(account)]).toEqual([0, []])
    sinks.onSurveyed = async () => {}
    for (const change of ['DELETE FROM pipelines', 'UPDATE pipelines SET removed = 1']) {
      const other = await create()
      const child = (await call('POST', `${other}/backfill/`, { from: '100' })).json.data.backfill.id
      await bindings.ACCOUNTS.prepare(`${change} WHERE id = ?`).bind(other).run()
      sinks.failing.add('drop')
      expect((await call('DELETE', `${child}/`)).status).toBe(503)
      sinks.failing.delete('drop')
      expect((await call('DELETE', `${child}/`)).status).toBe(200)
      expect(sinks.held.has(child)).toBe(false)
      expect((await rowsOf(account)).some((row) => row.id === child)).toBe(false)
    }
  })

  it('need a service key of their account', async () => {
    const { call, create, app, account, key } = await manager()
    const id = await create()
    // A test is charged before the pipeline lookup.
    const stranger = await newKey({ kind: 'service', plan: 'enterprise', credits: '100' })
    const api = await newKey({ account })
    const revoked = await newKey({ account, kind: 'service' })
    await admin('DELETE', `/keys/${revoked.hash}`)
    const all = [
      ...[
        ['GET', `${id}/`],
        ['PUT', `${id}/`, { status: 'paused' }],
        ['PATCH', `${id}/`, { name: 'mine' }],
      ],
      ...['status', 'logs', 'metrics'].map((part) => ['GET', `${id}/${part}/`]),
      ...[
        ['POST', `${id}/test/`],
        ['POST', `${id}/dead-letters/redeliver/`],
        ['DELETE', `${id}/`],
      ],
    ] as [string, string, object?][]
    for (const [method, path, body] of all) {
      const statusFor = async (who?: string) => (await app(method, PIPELINES + path, who, body)).status
      expect([await statusFor(stranger.key), await statusFor(api.key), await statusFor(revoked.key)]).toEqual([
        404, 403, 401,
      ])
      expect(await statusFor()).toBe(401)
    }
    expect((await app('GET', PIPELINES, stranger.key)).json.data.items).toEqual([])
    expect((await call('GET', id)).json.data).toMatchObject({ name: 'one', status: 'running' })
    expect((await call('GET', 'pipe_none/')).json).toEqual((await app('GET', `${PIPELINES}${id}`, stranger.key)).json)
    expect((await app('GET', `${PIPELINES}${id}`, key)).headers.get('x-credits-cost')).toBe('0')
  })

  it('never expose their secret', async () => {
    const { call, create, account, sinks } = await manager()
    const one = await create()
    const two = await create()
    const replies = await Promise.all([call('GET', one), call('GET'), call('PATCH', one, { name: 'x' })])
    const rows = await rowsOf(account)
    for (const text of [...replies.map((reply) => reply.text), JSON.stringify(rows)]) expect(text).not.toContain(HUSH)
    const [sealed, other] = rows.map((row) => String(row.sealed))
    expect(sealed?.split('.')[1]).not.toBe(other?.split('.')[1])
    await call('PATCH', one, { destination_config: { ...CONFIG, url: `${CONFIG.url}/path`, password: '******' } })
    expect(sinks.held.get(one)?.destination_config).toEqual({ ...CONFIG, url: `${CONFIG.url}/path` })
    const { id: first } = rows[0]!
    await bindings.ACCOUNTS.prepare('UPDATE pipelines SET sealed = ? WHERE id = ?').bind(other, first).run()
    const moved = first === one ? one : two
    const { status, json } = await call('PUT', moved, { status: 'paused' })
    expect([status, json.error_message]).toEqual([409, expect.stringMatching(/^destination_config: /)])
    expect((await call('PUT', moved === one ? two : one, { status: 'paused' })).status).toBe(200)
    const anew = { status: 'paused', destination_config: { ...CONFIG, password: 'another' } }
    expect((await call('PATCH', moved, anew)).json.data.status).toBe('paused')
    expect(sinks.held.get(moved)).toMatchObject({ status: 'paused', destination_config: { password: 'another' } })
  })

  it('are synced again after any failed step', async () => {
    const { call, create, sinks, account } = await manager()
    sinks.failing.add('apply')
    const id = await create()
    expect((await call('GET', `${id}/status/`)).json.data).toMatchObject({ in_step: false, phase: 'idle' })
    expect(await call('PUT', id, { status: 'paused' })).toMatchObject(UNCHANGED)
    expect((await call('GET', id)).json.data.status).toBe('paused')
    expect(await call('PUT', id, { status: 'paused' })).toMatchObject(UNCHANGED)
    expect(sinks.held.size).toBe(0)
    sinks.failing.clear()
    sinks.silent.add('apply')
    expect(await call('PUT', id, { status: 'paused' })).toMatchObject(UNCHANGED)
    expect(sinks.held.get(id)).toMatchObject({ status: 'paused', revision: 2 })
    sinks.silent.clear()
    expect((await call('PUT', id, { status: 'paused' })).status).toBe(200)
    expect((await call('GET', `${id}/status/`)).json.data).toMatchObject({ in_step: true, phase: 'paused' })
    sinks.failing.add('apply').add('status').add('logs').add('trial')
    expect(await call('PATCH', id, { name: 'two' })).toMatchObject(UNCHANGED)
    expect((await call('GET', `${id}/status/`)).json.data).toMatchObject({
      in_step: false,
      phase: 'unknown',
      rows: null,
    })
    expect(await call('GET', `${id}/logs/`)).toMatchObject(UNCHANGED)
    expect(await call('POST', `${id}/test/`)).toMatchObject(UNCHANGED)
    sinks.failing.clear()
    expect((await call('GET', id)).json.data.name).toBe('two')
    expect(sinks.held.get(id)).toMatchObject({ name: 'two', revision: 3 })
    sinks.failing.add('drop')
    expect(await call('DELETE', id)).toMatchObject(UNCHANGED)
    for (const [method, body] of [['GET'], ['PATCH', { name: 'three' }], ['PUT', { status: 'running' }]] as const) {
      expect((await call(method, id, body)).status).toBe(404)
    }
    expect((await call('GET')).json.data.items).toEqual([])
    expect(sinks.held.size).toBe(1)
    sinks.failing.clear()
    expect((await call('DELETE', id)).status).toBe(200)
    expect([sinks.held.size, await rowsOf(account)]).toEqual([0, []])
  })

  it('are gone if deleted during a sync', async () => {
    const { call, create, sinks } = await manager()
    const id = await create()
    sinks.onApplied = async () => {
      sinks.onApplied = async () => {}
      await call('DELETE', id)
      sinks.held.set(id, { ...sinks.held.get(id)!, name: 'back' })
    }
    await call('PATCH', id, { name: 'two' })
    expect(sinks.held.size).toBe(0)
  })

  it('ignore an older sync that arrives late', async () => {
    const { call, create, sinks } = await manager()
    const id = await create()
    sinks.onApplied = async () => {
      sinks.onApplied = async () => {}
      await call('PATCH', id, { name: 'three' })
    }
    await call('PATCH', id, { name: 'two' })
    expect(sinks.held.get(id)).toMatchObject({ name: 'three', revision: 3 })
    const calls = sinks.calls.length
    expect((await call('GET', id)).json.data.name).toBe('three')
    expect(sinks.calls).toHaveLength(calls)
  })

  it('merge or reject concurrent changes', async () => {
    const { call, create, sinks } = await manager()
    const id = await create()
    const names = ['name', 'project', 'description', 'execution_start_from']
    const answers = await Promise.all(names.map((field) => call('PATCH', id, { [field]: '5' })))
    const taken = names.filter((_, at) => answers[at]!.status === 200)
    expect(taken.length).toBeGreaterThan(1)
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    const { json } = await call('GET', id)
    expect(names.filter((field) => json.data[field] === '5')).toEqual(taken)
    expect(sinks.held.get(id)).toMatchObject(Object.fromEntries(taken.map((field) => [field, '5'])))
  })

  it('are limited in number and size', async () => {
    const { call, create, account, sinks } = await manager()
    const big = { a: `SELECT '${'x'.repeat(1_000_000)}'` }
    const tooLarge = await call('POST', '', { ...NEW, transforms: big })
    expect(tooLarge).toMatchObject({
      status: 400,
      json: { error_message: expect.stringMatching(/^transforms\.a: /) },
    })
    expect((await call('POST', '', { ...NEW, description: 'x'.repeat(1_100_000) })).status).toBe(413)
    const rest = { ...NEW, destination_config: { ...CONFIG, url: 'http://db.example.com' } }
    expect((await call('POST', '', rest)).json.error_message).toMatch(
      /^destination_config.url: must be https .*PIPELINE_PRIVATE=on/,
    )
    sinks.fault = { name: 'a', message: 'no such column: colour' }
    expect(await call('POST', '', { ...NEW, transforms: { a: 'SELECT colour' } })).toMatchObject({
      status: 400,
      json: { error_message: expect.stringMatching(/^transforms\.a: /) },
    })
    const ports = {
      db: bindings.ACCOUNTS,
      keys: { findByHash: async () => null },
      nowMs: Date.now,
      after,
      report: () => {},
    }
    sinks.failing.add('check')
    expect(await call('POST', '', { ...NEW, transforms: { a: 'SELECT 1' } })).toMatchObject(UNCHANGED)
    sinks.failing.clear()
    const { sinkOf } = sinks
    const service = (more: object) => {
      const all = { ...ports, keySecret: '', hasSinks: true, sinkOf, urlRefusal: () => null, chains: [], ...more }
      return new PipelineService(all).create({ account, keyHash: keyHashOf('a1') }, NewPipeline.parse(NEW))
    }
    expect(await service({})).toMatchObject({ error: NO_KEY_SECRET })
    expect(await service({ hasSinks: false })).toMatchObject({ error: { kind: 'not_found', what: 'Pipelines' } })
    const id = await create()
    for (let i = 1; i < 50; i++) await create()
    const full = { status: 409, json: { error_message: expect.stringContaining('50 pipelines') } }
    expect(await call('POST', '', NEW)).toMatchObject(full)
    await bindings.ACCOUNTS.prepare('UPDATE pipelines SET bytes = 200000 WHERE account = ?').bind(account).run()
    expect(await call('PATCH', id, { name: 'two' })).toMatchObject(full)
    await call('DELETE', id)
    expect(await call('POST', '', NEW)).toMatchObject(full)
  })

  it('can only be read and deleted on a gateway that no longer has the jobs Worker', async () => {
    const { create, account, hash } = await manager()
    const reports: unknown[] = []
    const service = new PipelineService({
      db: bindings.ACCOUNTS,
      keys: { findByHash: async () => null },
      hasSinks: false,
      sinkOf: () => {
        throw new Error('SINK is not bound')
      },
      keySecret: '',
      urlRefusal: () => null,
      chains: [],
      nowMs: Date.now,
      after,
      report: (error) => reports.push(error),
    })
    const name = { account, id: await create(), keyHash: hash }
    const refused = { ok: false, error: { kind: 'not_found', what: 'Pipelines' } }
    expect(await service.change(name, { status: 'paused' })).toMatchObject(refused)
    expect(await service.test(name, {})).toMatchObject(refused)
    expect(await service.logs(name, null, 10)).toMatchObject(refused)
    expect(await service.show(name)).toMatchObject({ value: { revision: 1, fields: { status: 'running' } } })
    expect(await service.remove(name)).toEqual({ ok: true, value: undefined })
    expect([await rowsOf(account), reports]).toEqual([[], []])
  })

  it('reject private addresses', async () => {
    const { call, create } = await manager()
    const id = await create()
    const sent = (url: string, type = 'clickhouse') => ({ destination_config: { ...CONFIG, type, url } })
    const urls = ['10.0.0.1', '[::1]', 'localhost:8443', '2130706433', '0x7f.1', 'db'].map((host) =>
      sent(`https://${host}/`),
    )
    for (const change of [...urls, sent('postgres://127.1:5432', 'postgres')]) {
      for (const [method, path] of [
        ['POST', ''],
        ['PATCH', id],
        ['POST', `${id}/test`],
      ] as const) {
        const body = path === '' ? { ...NEW, ...change } : change
        expect([change, path, await call(method, path, body)]).toMatchObject([
          change,
          path,
          {
            status: 400,
            json: {
              error_message: expect.stringMatching(/^destination_config\.url: /),
            },
          },
        ])
      }
    }
    const name = sent('postgres://db.example.com:5432', 'postgres')
    expect((await call('PATCH', id, name)).json.data.destination_config.url).toBe(name.destination_config.url)
  })

  it('limit the wallets of order updates', async () => {
    const { call, create } = await manager()
    const wallets = (from: number, count: number) => ({
      topic: 'order_updates',
      status: 'paused',
      filter: {
        type: 'orderUpdates',
        addresses: Array.from({ length: count }, (_, at) => `0x${(from + at).toString(16).padStart(40, '0')}`),
      },
    })
    for (let i = 0; i < 4; i++) await create(wallets(i * 1_000, 1_000))
    const id = await create(wallets(4_000, 999))
    const full = { status: 409, json: { error_message: expect.stringContaining('5000 wallets') } }
    expect(await call('POST', '', { ...NEW, ...wallets(5_000, 2) })).toMatchObject(full)
    await create({ topic: 'completed_trades', filter: { ...wallets(0, 9).filter, type: 'userFills' } })
    expect((await call('PATCH', id, { filter: wallets(4_000, 1_000).filter })).status).toBe(200)
    expect(await call('POST', '', { ...NEW, ...wallets(5_000, 1) })).toMatchObject(full)
  })

  it('has a limit of signed actions per account and in total, which blocks no other change', async () => {
    const { call, create } = await manager()
    const actions = { topic: 'replica_cmds', status: 'paused' }
    const full = { status: 409, json: { error_message: expect.stringContaining('3 replica_cmds pipelines') } }
    const id = await create(actions)
    await create(actions)
    await create({ ...actions, filter: { type: 'replicaCmds', actionTypes: ['order'] } })
    expect(await call('POST', '', { ...NEW, ...actions })).toMatchObject(full)
    for (let account = 1; account < 4; account++) {
      const other = await manager()
      for (let i = 0; i < 3; i++) await other.create(actions)
    }
    const late = await manager()
    expect(await late.call('POST', '', { ...NEW, ...actions })).toMatchObject(full)
    expect((await call('PATCH', id, { name: 'b' })).status).toBe(200)
  })
})
