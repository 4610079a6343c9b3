// Operator cost of a pipeline in a month, at list prices: operations of the real Sink, follower and meter on a test clock,
// with a log of the exchange's rate.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { toChunks } from '../../src/core/chunks.ts'
import { keyHashOf } from '../../src/core/ids.ts'
import { meterOf, Objects } from '../../src/core/objects.client.ts'
import { CreditMeter } from '../../src/metering/credit-meter.do.ts'
import { FOLLOWER_API_VERSION } from '../../src/pipelines/follower-api.ts'
import { DEFAULTS, type Pipeline } from '../../src/pipelines/pipeline.ts'
import { Sink } from '../../src/pipelines/sink/sink.do.ts'
import { SINK_API_VERSION } from '../../src/pipelines/sink-api.ts'
import type { DurablePage, DurableRequest } from '../../src/protocol/feed/durable-api.ts'
import { EXAMPLE_FILL } from '../../src/relay/channels/fills.ts'
import { dollarsOfObjects } from '../bench/cost.ts'
import { countRows } from '../bench/counted/rows.worker.ts'

const live = env as unknown as Cloudflare.Env
const objects = new Objects(live, { CHAIN: env.CHAIN, FEED_REGION: null })
const SECRET = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`
/** No other test file may use a meter of this name: objects keep their storage from one file to the next. */
const PAYER = 'payer of counted pipelines'
const BLOCK_MS = 69
const MONTH_MS = 30 * 86_400_000
/** Assumed time that a Sink is awake per event: with a batch for a destination far away, and without. */
const BATCH_S = 0.4
const EVENT_S = 0.05
/** The same of the follower, per call of the log. */
const SCAN_S = 0.03

const counts = { logCalls: 0, watches: 0, pokes: 0, batches: 0, meterCalls: 0, alarms: 0, rows: 0, meterRows: 0 }
let startMs = 0
const heightAt = (nowMs: number) => Math.floor((nowMs - startMs) / BLOCK_MS)
const lineOf = (height: number) => {
  // Once a minute a coin of its own.
  const coin = height % 870 === 0 ? 'SOL' : 'BTC'
  const fill = { ...EXAMPLE_FILL[1], coin, tid: height, time: startMs + height * BLOCK_MS }
  const fills = [[EXAMPLE_FILL[0], fill]]
  return JSON.stringify({ epoch: 'e', v: 1, t: 'events', height, time: fill.time, fills, ledger: [], funding: [] })
}
const log = {
  follow: async () => undefined,
  durable: async ({ from }: DurableRequest): Promise<DurablePage> => {
    counts.logCalls++
    const height = heightAt(Date.now())
    const head = { height, time: startMs + height * BLOCK_MS }
    if (from === null || from > height) return { v: 1, head, parts: [] }
    const last = Math.min(height, from + 500)
    const lines = Array.from({ length: last - from + 1 }, (_, at) => lineOf(from + at)).join('\n')
    return { v: 1, head, parts: [{ first: from, last, lines: toChunks(lines) }] }
  },
}
const counted = new WeakSet<object>()
/** Counts the rows of an object from its first call on. */
function countRowsOf(object: object, as: 'rows' | 'meterRows') {
  const { storage } = (object as { ctx: DurableObjectState }).ctx
  if (counted.has(storage)) return
  counted.add(storage)
  countRows(storage, (rows) => {
    counts[as] += rows
  })
}
const pokes = new Set<Promise<unknown>>()

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  Object.assign(env, { PIPELINE_MINUTE_CREDITS: '0.05' })
  startMs = Date.now() - 1_000_000
  vi.stubGlobal('fetch', async (input: URL | string) => {
    const isName = new URL(input).pathname === '/dns-query'
    if (!isName) counts.batches++
    return isName ? Response.json({ Answer: [{ type: 1, data: '9.9.9.9' }] }) : new Response('ok')
  })
  vi.spyOn(Objects.prototype, 'log').mockReturnValue(log as unknown as ReturnType<Objects['log']>)
  const { sink, follower } = Objects.prototype
  vi.spyOn(Objects.prototype, 'sink').mockImplementation(function (this: Objects, id) {
    const stub = sink.call(this, id)
    const poke: typeof stub.poke = (request) => {
      counts.pokes++
      const call = stub.poke(request)
      pokes.add(call.catch(() => undefined))
      return call
    }
    return new Proxy(stub, { get: (of, name) => (name === 'poke' ? poke : Reflect.get(of, name)) })
  })
  vi.spyOn(Objects.prototype, 'follower').mockImplementation(function (this: Objects) {
    const stub = follower.call(this)
    const watch: typeof stub.watch = (request) => {
      counts.watches++
      return stub.watch(request)
    }
    return new Proxy(stub, { get: (of, name) => (name === 'watch' ? watch : Reflect.get(of, name)) })
  })
  await meterOf(live, PAYER, null).grantCredits('g', 1_000_000_000_000)
  const { settlePipeline } = CreditMeter.prototype
  vi.spyOn(CreditMeter.prototype, 'settlePipeline').mockImplementation(function (this: CreditMeter, report) {
    counts.meterCalls++
    countRowsOf(this, 'meterRows')
    return settlePipeline.call(this, report)
  })
  const { poke, alarm } = Sink.prototype
  vi.spyOn(Sink.prototype, 'poke').mockImplementation(function (this: Sink, request) {
    countRowsOf(this, 'rows')
    return poke.call(this, request)
  })
  vi.spyOn(Sink.prototype, 'alarm').mockImplementation(function (this: Sink) {
    countRowsOf(this, 'rows')
    return alarm.call(this)
  })
})
afterAll(() => {
  vi.useRealTimers()
  Object.assign(env, { PIPELINE_MINUTE_CREDITS: '0' })
})

const pipeline = (id: string, filter: Pipeline['filter']): Pipeline => ({
  ...DEFAULTS,
  id,
  account: PAYER,
  payer: keyHashOf('c0'.repeat(32)),
  payer_name: 'bot',
  revision: 1,
  created_at: '',
  updated_at: '',
  name: 'n',
  topic: 'fills',
  filter,
  abi_contract_addresses: [],
  destination_type: 'webhook',
  destination_config: { type: 'webhook', url: 'https://receiver.example/hook', secret: SECRET },
})

/** Lets the follower and the Sink run for this time, and returns the dollars of a month. */
async function dollarsOfMonth(id: string, forMs: number): Promise<{ dollars: number; counted: typeof counts }> {
  const stub = live.SINK.getByName(`${env.CHAIN}/${id}`)
  const before = { ...counts }
  let timers = 0
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const running = new Set<unknown>()
  vi.stubGlobal('setTimeout', (run: () => void, ms: number) => {
    const timer = set(() => {
      running.delete(timer)
      run()
    }, ms)
    // Objects of earlier test files may still run in this isolate.
    if (new Error().stack?.includes('/src/pipelines/')) running.add(timer)
    return timer
  })
  vi.stubGlobal('clearTimeout', (timer: ReturnType<typeof setTimeout>) => {
    running.delete(timer)
    clear(timer)
  })
  const endMs = Date.now() + forMs
  while (Date.now() < endMs) {
    vi.setSystemTime(Date.now() + 1_000)
    await objects.follower().advance()
    await Promise.all(pokes)
    pokes.clear()
    await runInDurableObject(stub, async (sink: Sink, { storage }) => {
      const alarmMs = await storage.getAlarm()
      if (alarmMs === null || alarmMs > Date.now()) return
      counts.alarms++
      await sink.alarm()
    })
    // A timer would keep the object awake.
    timers = Math.max(timers, running.size)
  }
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
  expect(timers).toBe(0)
  const counted = Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name, count - before[name as keyof typeof counts]]),
  ) as typeof counts
  const { logCalls, watches, pokes: poked, alarms, meterCalls, batches, rows, meterRows } = counted
  // Those of the follower do not depend on the pipeline.
  const own = logCalls - forMs / 1_000
  const dollars = dollarsOfObjects({
    requests: own + watches + poked + alarms + meterCalls,
    messages: 0,
    rowsWritten: rows + meterRows,
    objectSeconds: batches * BATCH_S + (poked + alarms + watches + meterCalls) * EVENT_S,
  })
  return { dollars: (dollars * MONTH_MS) / forMs, counted }
}

it.each([
  ['idle', { type: 'allFills', coin: 'ETH' }, 1_800_000, 0.1],
  ['of one row a minute', { type: 'allFills', coin: 'SOL' }, 900_000, 1],
  ['of all fills', null, 300_000, 6],
])('a pipeline that is %s costs at most what is said of it', async (name, filter, forMs, dollars) => {
  const id = `pipe_${name.replaceAll(' ', '_')}`
  await objects
    .sink(id)
    .apply({ v: SINK_API_VERSION, pipeline: pipeline(id, filter), sealed: `kept ${id} ${btoa(SECRET)}` })
  const stub = live.SINK.getByName(`${env.CHAIN}/${id}`)
  await runInDurableObject(stub, (sink: Sink) => sink.alarm())
  const month = await dollarsOfMonth(id, forMs)
  console.log(`${name}: $${month.dollars.toFixed(3)} a month, ${JSON.stringify(month.counted)}`)
  expect((await objects.sink(id).status()).lagBlocks).toBeLessThan(100)
  expect(month.dollars).toBeLessThanOrEqual(dollars)
  expect((await objects.sink(id).status()).minuteMicro).toBe(50_000)
  await objects.sink(id).drop()
})

it('a thousand idle pipelines make one call of the log a second, and none of a Sink', async () => {
  const from = heightAt(Date.now()) + 1
  for (let at = 0; at < 1_000; at++) {
    const filter = { type: 'allFills', coin: `X${at}` }
    const request = { id: `pipe_${at}`, account: `${at % 20}`, revision: 1, topic: 'fills', filter } as const
    await objects.follower().watch({ v: FOLLOWER_API_VERSION, ...request, from, gatherMs: 0, end: null })
  }
  // Those of before are gone.
  vi.setSystemTime(Date.now() + 3_000)
  await objects.follower().advance()
  await Promise.all(pokes)
  const before = { ...counts }
  for (let second = 0; second < 60; second++) {
    vi.setSystemTime(Date.now() + 1_000)
    await objects.follower().advance()
  }
  const calls = counts.logCalls - before.logCalls
  const month =
    dollarsOfObjects({ requests: 2, messages: 0, rowsWritten: 1 / 60, objectSeconds: SCAN_S }) * (MONTH_MS / 1_000)
  console.log(`the follower: ${calls} calls of the log in 60 s, $${month.toFixed(2)} a month`)
  expect(counts.pokes - before.pokes).toBe(0)
  expect(calls).toBeLessThan(65)
})
