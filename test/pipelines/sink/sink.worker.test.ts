// The Sink of a pipeline behind a log, in workerd: rows from blocks to a receiver, through failures, evictions and changes.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { StoredArchive } from '../../../src/archive/archive/archive.store.ts'
import { counters } from '../../../src/core/counters.ts'
import { keyHashOf } from '../../../src/core/ids.ts'
import { meterOf, Objects } from '../../../src/core/objects.client.ts'
import { DEFAULTS, FatalPipelineError, type Pipeline } from '../../../src/pipelines/pipeline.ts'
import { type DeliveryState, INITIAL_DELIVERY } from '../../../src/pipelines/sink/delivery-state.ts'
import { LogReader } from '../../../src/pipelines/sink/pipeline-readers.client.ts'
import type { Sink } from '../../../src/pipelines/sink/sink.do.ts'
import { SinkStore } from '../../../src/pipelines/sink/sink.store.ts'
import { SinkRecord } from '../../../src/pipelines/sink/sink-record.client.ts'
import { SQL_LOST, SqlLink, sqlCaller } from '../../../src/pipelines/sink/sql-link.client.ts'
import type { Block } from '../../../src/protocol/feed/block.ts'
import type { DurableRequest, HeightAndTime } from '../../../src/protocol/feed/durable-api.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { FakeFeeder, levelsOf } from '../../block-log/fake-feeder.worker.ts'

const SECRET = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`
const v = 2
const live = env as unknown as Cloudflare.Env
const objects = new Objects(live, { CHAIN: env.CHAIN, FEED_REGION: null })
const sealedOf = (id: string) => `kept ${id} ${btoa(SECRET)}`
const sinkOf = (id: string) => objects.sink(id)
/** Tells it of its pipeline as the gateway does. */
const apply = (id: string, over: Partial<Pipeline> = {}) =>
  sinkOf(id).apply({ v, pipeline: pipeline(id, over), sealed: sealedOf(id) })
const trial = (id: string, over: Partial<Pipeline> = {}) => sinkOf(id).trial({ v, pipeline: pipeline(id, over) })
/** It ends amid whatever it does. */
const kill = (id: string) =>
  runInDurableObject(live.SINK.getByName(`${env.CHAIN}/${id}`), (_, state) => state.abort('killed')).catch(
    () => undefined,
  )

interface Sent {
  readonly id: string
  readonly from: number
  readonly to: number
  readonly rows: readonly { _kind: string; _key: string; _height: number; coin?: string; tid?: number }[]
}
interface Receiver {
  readonly sent: Sent[]
  answer: () => Response | Promise<Response>
}
const receivers = new Map<string, Receiver>()
const receiverOf = (name: string): Receiver => {
  const receiver = receivers.get(name) ?? { sent: [], answer: () => new Response('ok') }
  receivers.set(name, receiver)
  return receiver
}
/** By name its addresses. */
const NAMES: Record<string, string> = { 'inside.example': '10.1.2.3' }

// For the whole file: nothing here may reach a network.
vi.stubGlobal('fetch', async (input: URL | string, init: { headers: Record<string, string>; body: string }) => {
  const url = new URL(input)
  if (url.pathname === '/dns-query') {
    const name = url.searchParams.get('name')!
    const isFour = url.searchParams.get('type') === 'A'
    return Response.json({ Answer: isFour ? [{ type: 1, data: NAMES[name] ?? '9.9.9.9' }] : [] })
  }
  new Webhook(SECRET).verify(init.body, init.headers)
  const receiver = receiverOf(url.hostname)
  const response = await receiver.answer()
  if (response.ok) receiver.sent.push(JSON.parse(init.body))
  return response
})

const pipeline = (id: string, over: Partial<Pipeline> = {}): Pipeline => ({
  ...DEFAULTS,
  id,
  account: 'acme',
  payer: keyHashOf(PAYER),
  payer_name: 'bot',
  revision: 1,
  created_at: '',
  updated_at: '',
  name: 'n',
  topic: 'fills',
  abi_contract_addresses: [],
  execution_start_from: 'earliest',
  destination_type: 'webhook',
  destination_config: { type: 'webhook', url: `https://${id.replace('_', '-')}.example/hook`, secret: SECRET },
  ...over,
})
const receiver = (id: string) => receiverOf(`${id.replace('_', '-')}.example`)
const rowsOf = (id: string) => receiver(id).sent.flatMap(({ rows }) => rows)
const heights = (id: string) => rowsOf(id).map(({ _height }) => _height)

let feeder: FakeFeeder
let head = 100
/** Each block has a fill, of BTC or of ETH. */
const block = (more: Partial<Block> = {}) => {
  head++
  const coin = head % 2 === 0 ? 'BTC' : 'ETH'
  const fill = { ...EXAMPLE_FILL[1], tid: head, coin, time: head * 70 }
  feeder.block(head, [{ coin: 'BTC', levels: levelsOf(['100', `${head}.0`, 1]) }], {
    fills: [[EXAMPLE_FILL[0], fill]],
    ...more,
  })
  return head
}
/** All that an object has stored, as text. */
const stored = (id: string) =>
  runInDurableObject(live.SINK.getByName(`${env.CHAIN}/${id}`), (_, { storage }) => {
    const named = storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray()
    const tables = named
      .filter(({ name }) => !name.startsWith('_cf_'))
      .map(({ name }) => [name, storage.sql.exec(`SELECT * FROM ${name}`).toArray()])
    const bytes = (_: string, value: unknown) => (value instanceof Uint8Array ? new TextDecoder().decode(value) : value)
    return JSON.stringify([tables, ...storage.kv.list()], bytes)
  })
const reached = (id: string, height: number) =>
  vi.waitFor(async () => expect((await sinkOf(id).status()).height).toBe(height), { timeout: 20_000, interval: 50 })

const PAYER = 'c0'.repeat(32)
const usageOf = async (account: string) => {
  const { byKey, byType } = await meterOf(live, account, null).usage(Date.now() - 86_400_000, Date.now() + 86_400_000)
  return [...byKey, ...byType]
}

beforeAll(async () => {
  await meterOf(live, 'acme', null).grantCredits('g', 1_000_000_000)
  feeder = await FakeFeeder.connect()
  feeder.hello(100, 100)
  await feeder.next('welcome')
  feeder.snapshot(100, [{ coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) }])
  while (head < 110) block()
  await feeder.acked(110)
})

describe('a pipeline', () => {
  it('brings rows signed and in order, goes on where it was after an eviction, and stops while it is paused', async () => {
    expect((await apply('pipe_a')).v).toBe(v)
    await reached('pipe_a', 110)
    expect(heights('pipe_a')).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 110])
    const [first] = receiver('pipe_a').sent
    expect(first).toMatchObject({ id: 'pipe_a:101-110', pipeline: 'pipe_a', topic: 'fills', from: 101, to: 110 })
    expect(first!.rows[0]).toMatchObject({ _kind: 'row', coin: 'ETH', tid: 101 })
    await kill('pipe_a')
    await feeder.acked(block())
    await reached('pipe_a', 111)
    // A stub of before stays broken.
    const sink = sinkOf('pipe_a')
    const paused = await apply('pipe_a', { revision: 2, status: 'paused' })
    expect(paused).toMatchObject({
      phase: 'paused',
      batches: 2,
      rows: 11,
      attempts: 0,
      deadLetters: 0,
      lastError: null,
    })
    await feeder.acked(block())
    // What is no newer is nothing new.
    await apply('pipe_a')
    expect((await sink.status()).phase).toBe('paused')
    await apply('pipe_a', { revision: 3 })
    await reached('pipe_a', 112)
    expect(heights('pipe_a').slice(-2)).toEqual([111, 112])
    expect(await sink.status()).toMatchObject({ phase: 'live', lagBlocks: 0, lagMs: 0 })
    const { lines } = await sink.logs({ v, before: null, limit: 10 })
    expect(lines.map(({ words }) => words)).toContain('revision 2: paused')
    const { minutes } = await sink.metrics({ v, minutes: 5 })
    expect(minutes.reduce((sum, { rows }) => sum + rows, 0)).toBe(12)
  })

  it('tries again what failed under the same name, chooses and transforms, and ends where it is to end', async () => {
    let tries = 0
    receiver('pipe_b').answer = () => {
      tries++
      return tries === 1 ? new Response('no', { status: 503, headers: { 'retry-after': '0' } }) : new Response('ok')
    }
    const over: Partial<Pipeline> = {
      execution_start_from: '103',
      execution_stop_from: '108',
      filter: { type: 'allFills', coin: 'BTC' },
      transforms: { out: 'SELECT _key, _height, tid * 2 AS twice FROM fills' },
    }
    const sink = sinkOf('pipe_b')
    await apply('pipe_b', over)
    await vi.waitFor(async () => expect((await sink.status()).lastError).not.toBeNull(), { timeout: 10_000 })
    expect(await sink.status()).toMatchObject({
      phase: 'retrying',
      attempts: 1,
      lastError: { words: expect.stringMatching(/503: no$/) },
    })
    // Somebody does not want to wait.
    await apply('pipe_b', { ...over, revision: 2, status: 'paused' })
    await apply('pipe_b', { ...over, revision: 3 })
    await reached('pipe_b', 108)
    expect((await sink.status()).phase).toBe('finished')
    expect(receiver('pipe_b').sent.map(({ id }) => id)).toEqual(['pipe_b:103-108'])
    expect(rowsOf('pipe_b')).toMatchObject([104, 106, 108].map((height) => ({ _height: height, twice: 2 * height })))
  })

  it('shows how late it is while its receiver fails, and nothing once it has delivered or is deleted', async () => {
    counters.gauges(Number.MAX_SAFE_INTEGER)
    const lag = () => counters.gauges(Date.now()).filter(([series]) => series.startsWith('pipeline_lag_seconds'))
    await apply('pipe_lag')
    await reached('pipe_lag', head)
    const { timeMs } = await sinkOf('pipe_lag').status()
    await vi.waitFor(() => expect(lag()).toEqual([]), { timeout: 10_000 })
    receiver('pipe_lag').answer = () => new Response('no', { status: 503 })
    await feeder.acked(block())
    const age = expect.closeTo((Date.now() - (timeMs ?? 0)) / 1000, -2)
    await vi.waitFor(() => expect(lag()).toEqual([['pipeline_lag_seconds|retrying', age]]), { timeout: 10_000 })
    receiver('pipe_lag').answer = () => new Response('ok')
    await apply('pipe_lag', { revision: 2, status: 'paused' })
    await vi.waitFor(() => expect(lag()).toEqual([]), { timeout: 10_000 })
    await apply('pipe_lag', { revision: 3 })
    await reached('pipe_lag', head)
    await vi.waitFor(() => expect(lag()).toEqual([]), { timeout: 10_000 })
    receiver('pipe_lag').answer = () => new Response('no', { status: 503 })
    await feeder.acked(block())
    await vi.waitFor(() => expect(lag()).toHaveLength(1), { timeout: 10_000 })
    await sinkOf('pipe_lag').drop()
    expect(lag()).toEqual([])
  })

  it('sets aside what cannot be delivered, and sends it once more when it is asked to', async () => {
    const sink = sinkOf('pipe_c')
    const broken = { out: 'SELECT json(coin) AS coin FROM fills' }
    const over: Partial<Pipeline> = { on_failure: 'dead_letter', execution_stop_from: '110' }
    await apply('pipe_c', { ...over, transforms: broken })
    await reached('pipe_c', 110)
    expect(await sink.status()).toMatchObject({ phase: 'finished', deadLetters: 1, batches: 0 })
    expect((await sink.status()).lastError!.words).toBe('transforms.out: malformed JSON')
    await apply('pipe_c', { ...over, revision: 2 })
    expect(await sink.redeliver()).toEqual({ v, batches: 1 })
    await vi.waitFor(async () => expect((await sink.status()).deadLetters).toBe(0), { timeout: 10_000 })
    expect(heights('pipe_c')).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 110])
    await sink.drop()
    expect(await sink.status()).toMatchObject({ phase: 'idle', height: null })
  })

  it('that is deleted amid a batch sends nothing more, and is told nothing any more', async () => {
    const sink = sinkOf('pipe_d')
    const failing = { on_failure: 'dead_letter', execution_stop_from: '105' } as const
    const broken = { out: 'SELECT json(coin) AS coin FROM fills' }
    await apply('pipe_d', { ...failing, transforms: broken })
    await reached('pipe_d', 105)
    const letters = async () => (await env.ARCHIVE.list({ prefix: 'pipelines/dead/pipe_d/' })).objects.length
    expect(await letters()).toBe(1)
    let answer: () => void = () => undefined
    const held = new Promise<void>((go) => {
      answer = go
    })
    let tries = 0
    receiver('pipe_d').answer = () => {
      tries++
      return held.then(() => new Response('too late', { status: 500 }))
    }
    await apply('pipe_d', { ...failing, revision: 2, execution_stop_from: '' })
    await vi.waitFor(() => expect(tries).toBe(1), { timeout: 10_000 })
    await sink.drop()
    answer()
    expect((await apply('pipe_d', { revision: 3 })).phase).toBe('idle')
    await kill('pipe_d')
    expect((await apply('pipe_d', { revision: 3 })).phase).toBe('idle')
    expect((await sinkOf('pipe_d').logs({ v, before: null, limit: 9 })).lines).toEqual([])
    // Whoever was not told that it went well deletes it once more: what was put there meanwhile goes, too.
    await env.ARCHIVE.put('pipelines/dead/pipe_d/late', 'x')
    await sinkOf('pipe_d').drop()
    expect(await sinkOf('pipe_d').status()).toMatchObject({ phase: 'idle', height: null, lastError: null })
    expect([await letters(), tries, receiver('pipe_d').sent]).toEqual([0, 1, []])
    // Some time later nothing is left of it at all.
    const stub = live.SINK.getByName(`${env.CHAIN}/pipe_d`)
    expect(await runDurableObjectAlarm(stub)).toBe(true)
    expect(await runInDurableObject(stub, (_, { storage }) => [...storage.kv.list()])).toEqual([])
  })

  it('whose log cannot be written keeps its alarm', async () => {
    const stub = live.SINK.getByName(`${env.CHAIN}/pipe_w`)
    await apply('pipe_w', { status: 'paused' })
    const alarm = await runInDurableObject(stub, async (sink: Sink, { storage }) => {
      storage.sql.exec('DROP TABLE log; DROP TABLE minutes')
      await sink
        .apply({ v, pipeline: pipeline('pipe_w', { revision: 2 }), sealed: sealedOf('pipe_w') })
        .catch(() => undefined)
      await sink.alarm()
      return storage.getAlarm()
    })
    expect(alarm).toBeGreaterThan(Date.now())
    await sinkOf('pipe_w').drop()
  })

  it('that cannot run waits for somebody, and says why', async () => {
    const sink = sinkOf('pipe_e')
    await apply('pipe_e', { topic: 'order_updates' })
    await vi.waitFor(async () => expect((await sink.status()).phase).toBe('failed'), { timeout: 10_000 })
    const { lines } = await sink.logs({ v, before: null, limit: 10 })
    expect(lines.map(({ words }) => words)).toEqual([
      expect.stringMatching(/: filter: is required/),
      'revision 1: running',
    ])
  })

  it('writes objects, each once under its name', async () => {
    for (const format of ['ndjson', 'parquet'] as const) {
      const id = `pipe_${format}`
      const over: Partial<Pipeline> = {
        destination_type: 'r2',
        destination_config: { type: 'r2', prefix: 'mine/', format },
        topic: 'book_diffs',
        filter: { type: 'l2BookDiff2', coin: 'BTC' },
        execution_stop_from: '105',
      }
      await apply(id, over)
      await reached(id, 105)
    }
    const { objects } = await env.ARCHIVE.list({ prefix: 'pipelines/rows/' })
    expect(objects.map(({ key }) => key)).toEqual([
      'pipelines/rows/mine/pipe_ndjson/000000000101-000000000105.ndjson.gz',
      'pipelines/rows/mine/pipe_parquet/000000000101-000000000105.parquet',
    ])
    const body = (await env.ARCHIVE.get(objects[0]!.key))!.body.pipeThrough(new DecompressionStream('gzip'))
    const lines = (await new Response(body).text()).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(
      [101, 102, 103, 104, 105].map((seq) => ({
        coin: 'BTC',
        seq,
        bids: [{ px: '100', sz: `${seq}.0`, n: 1 }],
        asks: [],
      })),
    )
  })
})

describe('the secret of a destination', () => {
  const HIDDEN = { type: 'webhook', url: 'https://m.example/', secret: '******' } as const
  const failing = { out: 'SELECT json(coin) AS coin FROM fills' }

  it('is in memory alone: nowhere in what is stored, after whatever happened', async () => {
    const id = 'pipe_k'
    const seen: string[] = []
    const look = async () => {
      const text = await stored(id)
      expect(text).toContain('revision 1: running')
      expect(text).toContain(sealedOf(id))
      seen.push(text)
    }
    receiver(id).answer = () => new Response(`no, ${SECRET}`, { status: 500 })
    await apply(id, { execution_stop_from: '103' })
    const failed = async () => expect((await sinkOf(id).status()).lastError?.words).toMatch(/500: no, \*{6}$/)
    await vi.waitFor(failed, { timeout: 10_000 })
    await look()
    receiver(id).answer = () => new Response('ok')
    // Woken, it asks for it: the receiver takes what is signed with it alone.
    await kill(id)
    await reached(id, 103)
    await look()
    const broken: Partial<Pipeline> = { on_failure: 'dead_letter', transforms: failing, execution_stop_from: '108' }
    await apply(id, { ...broken, revision: 2 })
    await reached(id, 108)
    await look()
    const { objects: letters } = await env.ARCHIVE.list({ prefix: `pipelines/dead/${id}/` })
    const letter = (await env.ARCHIVE.get(letters[0]!.key))!.body.pipeThrough(new DecompressionStream('gzip'))
    seen.push(await new Response(letter).text())
    for (const text of seen) expect(text).not.toContain(SECRET.slice(6))
    expect(seen).toHaveLength(4)
    expect(heights(id)).toEqual([101, 102, 103])
  })

  it('is asked for once, by whoever sends first; a gateway that is away is asked again, and what is lost is said', async () => {
    const kept = (sealed: string | null) => ({ ...pipeline('pipe_m'), destination_config: HIDDEN, sealed })
    const answers: (() => Promise<string | null>)[] = []
    const openSecret = async () => answers.shift()!()
    const recordOf = (sealed: string | null) => new SinkRecord(kept(sealed), openSecret)
    const record = recordOf('a')
    answers.push(
      async () => Promise.reject(new Error('internal')),
      async () => SECRET,
    )
    await expect(record.open()).rejects.toThrow(/^The gateway /)
    for (let times = 0; times < 2; times++)
      expect((await record.open()).destination_config).toMatchObject({ secret: SECRET })
    // Another text is another secret, also of the same revision.
    const { secret: _, ...config } = HIDDEN
    record.store({ ...pipeline('pipe_m'), destination_config: { ...config, secret: 'new' } }, 'b')
    expect((await record.open()).destination_config).toMatchObject({ secret: 'new' })
    expect(record.stored).toMatchObject({ sealed: 'b', destination_config: HIDDEN })
    answers.push(async () => null)
    await expect(recordOf('c').open()).rejects.toThrow(FatalPipelineError)
    expect((await recordOf(null).open()).destination_config).toEqual(HIDDEN)
    expect(answers).toEqual([])
  })
})

// PIPE-12
it('a batch that is given up and cannot be put aside yet waits for no try', async () => {
  await apply('pipe_g', { status: 'paused' })
  await runInDurableObject(live.SINK.getByName(`${env.CHAIN}/pipe_g`), (_, { storage }) => {
    const flight = { from: 1, to: 2, attempts: 8, nextTryMs: 0, ordersFrom: null }
    storage.kv.put('state', { ...INITIAL_DELIVERY, flight })
  })
  await kill('pipe_g')
  expect(await sinkOf('pipe_g').status()).toMatchObject({ attempts: 8, nextTryMs: null })
})

// PIPE-33
it('keeps the state with which the cursor continues as long as the repair, whatever its size', async () => {
  await apply('pipe_fold', { status: 'paused' })
  const at = (height: number, fold: string) => ({ place: { height }, epoch: null, timeMs: 0, fold })
  const resume = at(9, 'x'.repeat(3_000_000))
  const before = {
    ...INITIAL_DELIVERY,
    at: at(4, '{}'),
    repair: { id: 3, from: 4, to: 5, readTo: 8, isReread: true, resume },
  }
  const after = { ...INITIAL_DELIVERY, at: resume }
  await runInDurableObject(live.SINK.getByName(`${env.CHAIN}/pipe_fold`), (_, { storage }) => {
    for (const state of [before, after]) {
      new SinkStore(storage).state = state
      expect(new SinkStore(storage).state).toEqual(state)
    }
    expect([...storage.kv.list({ prefix: 'resume' })]).toEqual([])
  })
})

describe('before it is saved', () => {
  // PIPE-14, PIPE-19, PIPE-20
  it('a pipeline is tried with the newest rows, and nothing is committed', async () => {
    const sink = sinkOf('pipe_t')
    await apply('pipe_t', { status: 'paused' })
    expect(await trial('pipe_t')).toMatchObject({
      ok: true,
      words: 'confirmed',
    })
    expect(await sink.status()).toMatchObject({ phase: 'paused', height: null, batches: 0 })
    const inside = { type: 'webhook', url: 'https://inside.example/', secret: SECRET } as const
    expect(await trial('pipe_t', { destination_config: inside })).toMatchObject({
      ok: false,
      words: expect.stringContaining('PIPELINE_PRIVATE=on'),
    })
    receiver('pipe_t').answer = () => new Response(null, { status: 302, headers: { location: 'http://10.0.0.1/' } })
    expect(await trial('pipe_t')).toMatchObject({
      ok: false,
      words: expect.stringMatching(/ 302: /),
    })
    expect(await trial('pipe_t', { topic: 'order_updates' })).toMatchObject({
      ok: false,
      words: expect.stringMatching(/^filter: is required/),
    })
    // One at a time: what hangs keeps others out, and lets them in again.
    let answer: () => void = () => undefined
    const held = new Promise<void>((go) => {
      answer = go
    })
    const asked = vi.fn(() => held.then(() => new Response('ok')))
    receiver('pipe_t').answer = asked
    const first = trial('pipe_t')
    const second = trial('pipe_t')
    expect(await second).toMatchObject({ ok: false, isBusy: true })
    await expect.poll(() => asked).toHaveBeenCalledOnce()
    answer()
    expect(await first).toMatchObject({ ok: true })
    receiver('pipe_t').answer = () => new Response('ok')
    expect(await trial('pipe_t')).toMatchObject({ ok: true })
    expect(
      await sink.check({ v, account: 'acme', topic: 'fills', transforms: { a: 'DELETE FROM fills' } }),
    ).toMatchObject({
      fault: { name: 'a' },
    })
  })
})

// PIPE-35
it('shows the newest rows of a pipeline that does not exist', async () => {
  const preview = (over: Partial<Pipeline> = {}) =>
    sinkOf('check/acme').preview({ v, pipeline: pipeline('preview/acme', over) })
  const all = await preview()
  expect(all).toMatchObject({ fault: null, blocks: { to: expect.any(Number) } })
  expect(all.texts).toHaveLength(Math.min(10, all.read))
  const rows = all.texts.map((text) => JSON.parse(text))
  expect(rows.map(({ _height }) => _height)).toEqual(rows.map(({ _height }) => _height).toSorted((a, b) => a - b))
  expect(rows.at(-1)).toMatchObject({ _kind: 'row', _key: expect.any(String), coin: expect.any(String) })
  const one = { out: `SELECT _key, tid FROM fills WHERE tid = ${rows.at(-1).tid}` }
  const some = await preview({ transforms: one })
  expect(some.texts.map((text) => JSON.parse(text).tid)).toEqual(some.texts.map(() => rows.at(-1).tid))
  expect([some.texts.length > 0, some.read >= all.read]).toEqual([true, true])
  expect(await preview({ transforms: { out: "SELECT 'x' AS _key FROM fills" } })).toMatchObject({
    texts: [],
    fault: { path: 'transforms.out', message: expect.stringMatching(/^_key is "x"/) },
  })
  expect(await preview({ topic: 'order_updates' })).toMatchObject({ fault: { path: 'filter' } })
  // One at a time of an account.
  const both = await Promise.all([preview(), preview()])
  expect(both.filter(({ wait }) => wait === undefined)).toHaveLength(1)
  expect(await preview()).toEqual(all)
})

// PIPE-36
it('a backfill delivers past rows next to its pipeline, through kills, and the pipeline goes on where it was', async () => {
  await apply('pipe_live', { execution_start_from: '106' })
  await reached('pipe_live', head)
  const { first, height } = await sinkOf('pipe_live').status()
  expect([first, height]).toEqual([106, head])
  const survey = (over: object = {}, of: Partial<Pipeline> = {}) =>
    sinkOf('check/acme').survey({
      v,
      pipeline: pipeline('survey/acme', of),
      from: '',
      to: '',
      isAgain: false,
      isSampled: true,
      delivered: { first: 106, height, backfilled: [] },
      ...over,
    })
  const blocks = { from: 101, to: 105 }
  const estimate = { rows: 5, most: 5, isExact: true, ms: expect.any(Number) }
  expect(await survey()).toEqual({ v, range: blocks, estimate, fault: null })
  const half = { transforms: { out: 'SELECT * FROM fills WHERE tid % 2 = 0' }, filter: { type: 'allFills' } }
  expect(await survey({}, half)).toMatchObject({ estimate: { rows: 2 } })
  // The time of a block is 70 ms per height.
  const at = (ms: number) => new Date(ms).toISOString()
  expect(await survey({ from: at(102 * 70), to: at(104 * 70 + 1), isSampled: false })).toMatchObject({
    range: { from: 102, to: 104 },
    estimate: null,
  })
  expect(await survey({ from: 'earliest', to: 'latest', isAgain: true })).toMatchObject({ range: { to: head } })
  expect(await survey({ from: '106' })).toMatchObject({ range: null, fault: { path: 'from' } })
  expect(await survey({ from: at(9e11) })).toMatchObject({ fault: { message: expect.stringMatching(/newest block/) } })
  expect(await survey({}, { transforms: { out: 'SELECT json(coin) AS coin FROM fills' } })).toMatchObject({
    fault: { path: 'transforms.out' },
  })
  const bounds = { execution_start_from: '101', execution_stop_from: '105', execution_mode: 'bounded' } as const
  receiver('pipe_past').answer = () => new Response('no', { status: 503 })
  await apply('pipe_past', bounds)
  await vi.waitFor(async () => expect((await sinkOf('pipe_past').status()).lastError).not.toBeNull())
  await kill('pipe_past')
  receiver('pipe_past').answer = () => new Response('ok')
  await feeder.acked(block())
  await reached('pipe_live', head)
  await apply('pipe_past', { ...bounds, revision: 2 })
  await reached('pipe_past', 105)
  expect((await sinkOf('pipe_past').status()).phase).toBe('finished')
  const all = Array.from({ length: head - 100 }, (_, i) => 101 + i)
  expect([...heights('pipe_past'), ...heights('pipe_live')]).toEqual(all)
  // Both have the same keys for the same rows, so that a table has each once.
  expect(rowsOf('pipe_past')[0]!._key).toMatch(/^101:101:/)
})

describe('an account', () => {
  const ROW = 100
  const spentBy = async (account: string) => (await meterOf(live, account, null).balance()).spent
  const counts = (rows: number) => ({ calls: 0, minutes: 0, rows, amount: rows * ROW })

  // PIPE-14, PIPE-25
  it('pays for rows that arrived, after transforms and without notes, and for those of a test', async () => {
    await meterOf(live, 'payer', null).grantCredits('g', 1_000_000)
    const half = { out: 'SELECT * FROM fills WHERE tid % 2 = 0' }
    const over: Partial<Pipeline> = { account: 'payer', execution_start_from: '99', execution_stop_from: '110' }
    const sink = sinkOf('pipe_p')
    await apply('pipe_p', { ...over, transforms: half })
    await reached('pipe_p', 110)
    expect((await sink.status()).rowMicro).toBe(ROW)
    expect(rowsOf('pipe_p').map(({ _kind, _height }) => [_kind, _height])[0]).toEqual(['gap', 100])
    // It has come to its end, and tells at once.
    await vi.waitFor(async () => expect(await spentBy('payer')).toBe(5 * ROW), { timeout: 10_000 })
    expect(await usageOf('payer')).toEqual([
      { keyHash: PAYER, ...counts(5) },
      { product: 'pipeline', type: 'fills', ...counts(5) },
    ])
    // What a test costs at the gateway pays for its rows.
    const { rows } = await trial('pipe_p', { account: 'payer' })
    expect(rows).toBeGreaterThan(5)
    expect(await spentBy('payer')).toBe(5 * ROW)
  })

  // PIPE-32
  it('pays for the minutes that a deleted pipeline ran since they were last charged', async () => {
    Object.assign(env, { PIPELINE_MINUTE_CREDITS: '0.05' })
    await meterOf(live, 'deleter', null).grantCredits('g', 10_000_000)
    await apply('pipe_rm', { account: 'deleter', execution_start_from: '' })
    await vi.waitFor(async () => expect(await spentBy('deleter')).toBe(50_000), { timeout: 20_000 })
    await runInDurableObject(live.SINK.getByName(`${env.CHAIN}/pipe_rm`), (_, { storage }) => {
      const state = storage.kv.get<DeliveryState>('state')!
      const owed = { ...state.owed, paidToMs: state.owed.paidToMs! - 5 * 60_000 }
      storage.kv.put('state', { ...state, owed })
    })
    await kill('pipe_rm')
    await sinkOf('pipe_rm').drop()
    Object.assign(env, { PIPELINE_MINUTE_CREDITS: '0' })
    await runDurableObjectAlarm(live.SINK.getByName(`${env.CHAIN}/pipe_rm`))
    expect(await spentBy('deleter')).toBe(6 * 50_000)
  })

  // PIPE-18
  it('tests one pipeline at a time, and its SQL waits once it has used up its CPU time', async () => {
    const over: Partial<Pipeline> = { account: 'heavy', execution_start_from: '', status: 'paused' }
    await meterOf(live, 'heavy', null).grantCredits('g', 1_000_000)
    for (const id of ['pipe_x', 'pipe_y']) await apply(id, over)
    let answer: () => void = () => undefined
    const held = new Promise<void>((go) => {
      answer = go
    })
    // A response belongs to the request that it was made in.
    const asked = vi.fn(() => held.then(() => new Response('ok')))
    receiver('pipe_x').answer = asked
    const first = trial('pipe_x', over)
    await expect.poll(() => asked).toHaveBeenCalledOnce()
    expect(await trial('pipe_y', over)).toMatchObject({
      ok: false,
      waitMs: 1_000,
      words: expect.stringMatching(/test or check of this account/),
    })
    answer()
    expect(await first).toMatchObject({ ok: true })
    // Steps enough for a strike: the next run of this test waits.
    const endless = 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) AS n FROM t'
    const loop = { ...over, transforms: { out: endless } }
    expect(await trial('pipe_y', loop)).toMatchObject({
      ok: false,
      words: expect.stringMatching(/^transforms.out: .*step/),
    })
    expect(await trial('pipe_y', loop)).toMatchObject({
      ok: false,
      words: expect.stringMatching(/exceeded/),
      waitMs: expect.any(Number),
    })
    // Only that one waits.
    const light = { ...over, transforms: { out: 'SELECT coin FROM fills' } }
    expect(await trial('pipe_x', light)).toMatchObject({ ok: true, words: 'confirmed' })
  })

  // PIPE-31
  it('cannot invent the words of the stream with a transform', async () => {
    await meterOf(live, 'forger', null).grantCredits('g', 1_000_000)
    const forged = { out: "SELECT _key, 'reset' AS _kind, -5 AS _height FROM fills" }
    const over: Partial<Pipeline> = { account: 'forger', execution_start_from: '101', execution_stop_from: '110' }
    const sink = sinkOf('pipe_forge')
    await apply('pipe_forge', { ...over, transforms: forged })
    await vi.waitFor(async () => expect((await sink.status()).phase).toBe('failed'), { timeout: 10_000 })
    expect((await sink.status()).lastError!.words).toMatch(/^transforms.out: _kind is "reset"/)
    expect(receiver('pipe_forge').sent).toEqual([])
  })

  it('whose SQL is lost on its way has its batch tried again, and none while nothing runs SQL', async () => {
    const sql = new SqlLink({
      fetch: async (_: unknown, init?: RequestInit) => {
        calls.push(init?.method ?? 'GET')
        return answers.shift()!()
      },
    } as Pick<Fetcher, 'fetch'>)
    const calls: string[] = []
    const answers: (() => Promise<Response>)[] = [
      async () => new Response('gone', { status: 502 }),
      () => Promise.reject(new Error('refused')),
      async () => new Response(null, { status: 204 }),
      async () => new Response('{"kind":"rows"}\n{"a":1}'),
    ]
    const run = () =>
      sql.run(sqlCaller({ account: 'a', id: 'p' }, 'batch'), { transforms: {}, table, defaults: null }, [])
    const table = { name: 'fills', columns: [] }
    await sql.ready()
    await expect(run()).rejects.toThrow(SQL_LOST)
    await expect(sql.ready()).rejects.toThrow('not responding')
    await sql.ready()
    expect(await run()).toEqual({ kind: 'rows', texts: ['{"a":1}'] })
    expect(calls).toEqual(['POST', 'HEAD', 'HEAD', 'POST'])
  })

  // PIPE-27
  it('without credits has its pipeline wait, and go on where it was', async () => {
    const poor = { account: 'poor', execution_stop_from: '110' } as const
    const sink = sinkOf('pipe_u')
    const meter = () => meterOf(live, 'poor', null)
    await apply('pipe_u', poor)
    await vi.waitFor(async () => expect((await sink.status()).phase).toBe('unpaid'), { timeout: 10_000 })
    expect(await sink.status()).toMatchObject({
      height: null,
      rows: 0,
      lastError: { words: expect.stringMatching(/^Unpaid: /) },
    })
    expect(await trial('pipe_u', poor)).toMatchObject({
      ok: false,
      rows: 0,
      words: expect.stringMatching(/^Unpaid/),
    })
    await kill('pipe_u')
    await meter().grantCredits('g', 10 * ROW)
    await apply('pipe_u', { ...poor, revision: 2 })
    await reached('pipe_u', 110)
    expect(heights('pipe_u')).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 110])
    await expect.poll(() => meter().balance()).toMatchObject({ available: 0, spent: 10 * ROW })
    const { lines } = await sinkOf('pipe_u').logs({ v, before: null, limit: 9 })
    expect(lines.map(({ words }) => words).filter((words) => /unpaid|credits/i.test(words))).toEqual([
      expect.stringContaining('Credits'),
      expect.stringMatching(/^Unpaid: /),
    ])
  })

  // PIPE-29
  it('has pipelines of a key that ended paused without a call, and tells its webhook; adopted, they go on where they were', async () => {
    const meter = () => meterOf(live, 'leaked', null)
    await meter().grantCredits('g', 1_000_000)
    await meter().setWebhook({
      account: 'leaked',
      by: null,
      url: 'https://owner.example/',
      thresholds: [],
      newSecret: false,
    })
    const events = async () => (await meter().webhook())!.events.map(({ type, id }) => [type, id])
    for (const [id, end] of [
      ['pipe_rv', () => meter().revokeKey(keyHashOf('leaked key'))],
      ['pipe_ex', () => meter().endKey(keyHashOf('old key'), Date.now() - 1)],
    ] as const) {
      const payer = keyHashOf(id === 'pipe_rv' ? 'leaked key' : 'old key')
      const own = { account: 'leaked', payer }
      await apply(id, own)
      await reached(id, head)
      await end()
      // With an end of its object it asks at once, and not some seconds later.
      await kill(id)
      await feeder.acked(block())
      const phase = async () => (await sinkOf(id).status()).phase
      await vi.waitFor(async () => expect(await phase()).toBe('paused'), { timeout: 10_000 })
      const { pauseReason } = await sinkOf(id).status()
      expect(pauseReason).toMatch(/^Paused: .*"bot" (was revoked|has expired)\. /)
      expect(heights(id).at(-1)).toBe(head - 1)
      expect(await events()).toContainEqual(['pipeline.paused', expect.stringMatching(`^evt_${id}_`)])
      // Whatever else of the record changes, it stays paused, and its owner is told once.
      await apply(id, { ...own, revision: 2, name: 'renamed' })
      await vi.waitFor(async () => expect(await phase()).toBe('paused'), { timeout: 10_000 })
      await apply(id, { ...own, revision: 3, payer: keyHashOf('wider key') })
      await reached(id, head)
      expect([(await sinkOf(id).status()).pauseReason, heights(id).at(-1)]).toEqual([null, head])
    }
    expect(await events()).toHaveLength(2)
    const { byKey } = await meter().usage(Date.now() - 86_400_000, Date.now() + 86_400_000)
    expect(byKey.map(({ keyHash }) => keyHash)).toEqual(expect.arrayContaining(['leaked key', 'old key']))
  })

  // PIPE-26
  it('pays for what a pipeline had brought when it was deleted, once its meter answers', async () => {
    await meterOf(live, 'leaver', null).grantCredits('g', 1_000_000)
    const stub = live.SINK.getByName(`${env.CHAIN}/pipe_leaver`)
    const settlePipeline = () => Promise.reject(new Error('away'))
    const away = { CREDIT_METER: { getByName: () => ({ settlePipeline }) } }
    await runInDurableObject(stub, (object) => {
      Object.defineProperty(object, 'env', { value: away, configurable: true })
    })
    const sink = sinkOf('pipe_leaver')
    await apply('pipe_leaver', { account: 'leaver' })
    await reached('pipe_leaver', head)
    await sink.drop()
    await runDurableObjectAlarm(stub)
    const arrived = rowsOf('pipe_leaver').length
    expect([arrived > 0, await spentBy('leaver')]).toEqual([true, 0])
    await evictDurableObject(stub)
    await runDurableObjectAlarm(stub)
    await vi.waitFor(async () => expect(await spentBy('leaver')).toBe(arrived * ROW), { timeout: 10_000 })
    expect((await sink.status()).phase).toBe('idle')
  })
})

// PIPE-15
it('order statuses are asked for, and what came before feeders heard of it is told as not known', async () => {
  const user = EXAMPLE_FILL[0]
  const filter = { type: 'orderUpdates', user }
  await apply('pipe_o', { topic: 'order_updates', filter, execution_start_from: '' })
  await vi.waitFor(() => expect(feeder.wanted.has(user)).toBe(true), { timeout: 10_000 })
  const order = { coin: 'BTC', side: 'B', limitPx: '1', sz: '1', oid: 5, timestamp: 9, origSz: '1' }
  const status = { time: '2026-11-24T00:00:00.000000000', user, status: 'open', order }
  while (head < 230) block({ orders: [status] })
  await feeder.acked(head)
  await reached('pipe_o', 230)
  const rows = rowsOf('pipe_o')
  const known = rows.find(({ _kind }) => _kind === 'row')!._height
  expect(known).toBeGreaterThan(200)
  const gaps = rows.filter(({ _kind }) => _kind === 'gap')
  expect(gaps.at(-1)!._height).toBe(known - 1)
  // A test with other wallets takes nothing from what runs, and has rows that there are.
  const other = { ...filter, user: `0x${'7'.repeat(40)}` }
  const tried = (wanted: object) => trial('pipe_o', { topic: 'order_updates', filter: wanted as Pipeline['filter'] })
  expect(await tried(other)).toMatchObject({ ok: false, rows: 0 })
  const { sent } = receiver('pipe_o')
  const before = sent.length
  expect(await tried(filter)).toMatchObject({ ok: true, rows: 100 })
  block({ orders: [status] })
  await feeder.acked(head)
  await reached('pipe_o', head)
  expect(sent.slice(before + 1).flatMap(({ rows: own }) => own.map(({ _kind }) => _kind))).toEqual(['row'])
  expect(rows.filter(({ _kind }) => _kind === 'row')).toHaveLength(230 - known + 1)
})

// PIPE-34, FEED-40
it('signed actions are asked for while a pipeline needs them, and blocks without them are gaps', async () => {
  expect(feeder.extras).toEqual(['oracle', 'writer'])
  const before = head
  await apply('pipe_r', {
    topic: 'replica_cmds',
    filter: { type: 'replicaCmds', actionTypes: ['order'] },
    execution_start_from: String(before),
  })
  await vi.waitFor(() => expect(feeder.extras).toEqual(['oracle', 'writer', 'replica']), { timeout: 10_000 })
  const big = '9007199254740993'
  const action = (index: number, type: string) => ({ action: { action: { type, big }, nonce: index }, index })
  const entries = (height: number) => [{ line: { height } }, { bundle: { hash: '0xb' } }, action(0, 'order')]
  const first = head + 1
  block({ replica: [...entries(first), action(1, 'cancel')] })
  block({ replica: [] })
  block({ replica: [...entries(first), ...entries(first + 1), ...entries(first + 2)] })
  block()
  await feeder.acked(head)
  await reached('pipe_r', head)
  const rows = rowsOf('pipe_r') as (ReturnType<typeof rowsOf>[number] & Record<string, unknown>)[]
  expect(rows.map(({ _kind, _key }) => (_kind === 'gap' ? 'gap' : _key))).toEqual([
    'gap',
    `${first}:${first}:0`,
    `${first + 2}:${first + 1}:0`,
    `${first + 2}:${first + 2}:0`,
    'gap',
  ])
  expect(rows[0]).toMatchObject({ _from: before, _height: first - 1 })
  expect(rows[1]).toMatchObject({ bundle_hash: '0xb', signed_action: { action: { type: 'order', big }, nonce: 0 } })
  // Other pipelines read the same blocks without them.
  const page = await objects.log().durable({ v, reader: 'other', from: first, kind: 'events' })
  expect(page.parts.some((part) => 'replica' in part)).toBe(false)
})

// PIPE-8
it('a log that is empty beside an archive is waited for: what is archived is not what comes now', async () => {
  let page: HeightAndTime | null = null
  const log = { log: () => ({ durable: async () => ({ v, head: page, parts: [] }) }) } as unknown as Objects
  const own = pipeline('pipe_v')
  const archive = (last: number | null) => ({ last: async () => last }) as unknown as StoredArchive
  const places = [archive(700), archive(null), null].map((one) => new LogReader(log, one).newest(own))
  expect(await Promise.all(places)).toEqual([null, { first: true }, { first: true }])
  page = { height: 5, time: 1 }
  expect(await new LogReader(log, archive(700)).newest(own)).toEqual({ height: 6 })
})

// PIPE-33
it('blocks that were repaired are read from their repair on, by the topics that they have data of', async () => {
  const segment = { chain: 'c', first: 10, last: 12, firstMs: 1_000, lastMs: 1_002, epoch: null }
  const line = (height: number) => JSON.stringify({ height, time: 990 + height, fills: [EXAMPLE_FILL], ledger: [] })
  const archive = {
    last: async () => 12,
    segmentsFrom: async (at: { height?: number }) => ((at.height ?? 0) <= 12 ? [segment] : []),
    lines: async function* () {
      yield* [10, 11, 12].map(line)
    },
    isRepairedAfter: async (id: number) => id < 7,
    repairAfter: async () => ({ id: 7, from: 10, to: 12 }),
  } as unknown as StoredArchive
  const log = { log: () => ({ durable: async () => ({ v, head: null, parts: [] }) }) } as unknown as Objects
  const reader = new LogReader(log, archive)
  const at = { place: { height: 10 }, epoch: null, timeMs: 0, fold: null }
  const limits = { rows: 99, chars: 99_999, blocks: 99, untilMs: Number.POSITIVE_INFINITY }
  const heights = async (repairedTo: number | null) => {
    const batch = await reader.assembler(pipeline('p'), at, null, { repair: null, repairedTo }).take(null, null, limits)
    return batch?.rows.map(({ _kind, _from = null, _height }) => [_kind, _from, _height])
  }
  expect(await heights(6)).toEqual([['gap', 10, 12]])
  for (const known of [7, null])
    expect(await heights(known)).toEqual([10, 11, 12].map((height) => ['row', null, height]))
  const found = (topic: Pipeline['topic'], id: number | null) => reader.repairAfter(pipeline('p', { topic }), id)
  const repair = { id: 7, from: 10, to: 12 }
  expect([await found('fills', 6), await found('candles', null), await found('book_diffs', 6)]).toEqual([
    repair,
    repair,
    null,
  ])
  expect(await found('candles', 6)).toEqual({ ...repair, readFrom: 10 })
})

// PIPE-15
it('order statuses are asked for every few seconds while a pipeline runs, whatever its destination does', async () => {
  vi.useFakeTimers()
  const user = EXAMPLE_FILL[0]
  const of = (over: Partial<Pipeline> = {}) =>
    pipeline('pipe_s', { topic: 'order_updates', filter: { type: 'orderUpdates', user }, ...over })
  const asked: DurableRequest[] = []
  const durable = async (request: DurableRequest) => {
    asked.push(request)
    return { v, head: null, parts: [] }
  }
  const reading = new LogReader({ log: () => ({ durable }) } as unknown as Objects, null)
  const leave = reading.keepInterest(of)
  await vi.advanceTimersByTimeAsync(25_000)
  expect(asked).toEqual(Array(3).fill(expect.objectContaining({ reader: 'pipe_s', from: null, orders: [user] })))
  leave()
  for (const none of [null, of({ status: 'paused' }), of({ topic: 'fills', filter: null })])
    reading.keepInterest(() => none)
  await vi.advanceTimersByTimeAsync(60_000)
  vi.useRealTimers()
  expect(asked).toHaveLength(3)
})

// PIPE-28: the last test, since it takes the log from all others.
it('a feed that was reset to lower heights stops who had read further; from another beginning rows are those of the new log', async () => {
  const sink = sinkOf('pipe_z')
  await apply('pipe_z', { execution_start_from: String(head - 5) })
  await reached('pipe_z', head)
  const before = head
  await objects.log().reset()
  await feeder.closed
  feeder = await FakeFeeder.connect()
  feeder.hello(20, 20)
  await feeder.next('welcome')
  feeder.snapshot(20, [{ coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) }])
  head = 20
  while (head < 25) block()
  await feeder.acked(25)
  await vi.waitFor(async () => expect((await sink.status()).phase).toBe('failed'), { timeout: 20_000 })
  const { lastError } = await sink.status()
  expect(lastError!.words).toMatch(new RegExp(`^Block ${before} .* block 2\\d: `))
  const { lines } = await sink.logs({ v, before: null, limit: 1 })
  expect(lines[0]!.words).toContain(lastError!.words.slice(0, 60))
  await apply('pipe_z', { execution_start_from: '23', revision: 2 })
  await reached('pipe_z', 25)
  expect(heights('pipe_z').slice(-3)).toEqual([23, 24, 25])
})
