// Points of Analytics Engine, with a fake data set: what is written, how often, and how much.

import fc from 'fast-check'
import { beforeEach, expect, it } from 'vitest'
import { countedStores } from '../../src/core/counted-stores.client.ts'
import { CounterReporter } from '../../src/core/counter-reporter.ts'
import { type CounterReport, Counters, counters as shared } from '../../src/core/counters.ts'
import { counterSink, isReported } from '../../src/monitor/counter-sink.client.ts'
import { RequestCounts, SURFACES, surfaceOf } from '../../src/monitor/request-counts.ts'

/** The platform's limits of a point. */
const INDEX_MAX_BYTES = 96
const BLOBS_MAX_BYTES = 16_384
const KEY = 'cqt_1234567890abcdefghijkLMNOP'

let points: { indexes: string[]; blobs: string[]; doubles: number[] }[] = []
let received: CounterReport[] = []
let isFull = false
let isDown = false
const METRICS = {
  writeDataPoint(point: (typeof points)[number]) {
    if (isFull) throw new TypeError('Analytics Engine write exceeded the limit')
    points.push(structuredClone(point))
  },
}
const MONITOR = {
  getByName: () => ({
    report: async (report: CounterReport) => {
      received.push(report)
      if (isDown) throw new Error('down')
      return { v: 1, everyMs: 20_000 }
    },
  }),
}
const sinkOf = (env: object) => counterSink({ MONITOR, ...env } as unknown as Cloudflare.Env)
const report = (number: number, sums: CounterReport['sums']) => ({ v: 1, isolate: 'i', number, sums, gauges: [] })

beforeEach(() => {
  points = []
  received = []
  isFull = false
  isDown = false
})

it('a point has the name as index and first blob, then the labels, and the increase', async () => {
  const sink = sinkOf({ METRICS })()
  const sums = [
    ['requests|info|200', 3],
    ['credits_leased', 2_500_000],
  ] as const
  await sink.report(report(0, sums))
  expect(points).toEqual([
    { indexes: ['requests'], blobs: ['requests', 'info', '200'], doubles: [3] },
    { indexes: ['credits_leased'], blobs: ['credits_leased'], doubles: [2_500_000] },
  ])
  expect(received).toEqual([report(0, sums)])
})

it('all requests of 20 s are one point per series, whatever the traffic', async () => {
  const counters = new Counters()
  const requests = new RequestCounts()
  counters.addSource(() => requests.take())
  let pending: Promise<unknown> = Promise.resolve()
  const context = {
    waitUntil(work: Promise<unknown>) {
      pending = work
    },
  }
  const reporter = new CounterReporter(counters, { nowMs: () => 0, sleep: async () => {}, newId: () => 'i' })
  const sink = sinkOf({ METRICS })
  for (let call = 0; call < 10_000; call++) {
    requests.count(SURFACES.indexOf('info'), 200, 7)
    reporter.schedule(sink, context, 0)
  }
  await pending
  expect(points.map(({ blobs, doubles }) => [...blobs, ...doubles])).toEqual([
    ['requests', 'info', '200', 10_000],
    ['duration', 'info', '2', 10_000],
    ['duration_ms', 'info', 70_000],
  ])
})

it('with a data set, a gateway isolate reports every 20 s, even if nobody reads the Monitor', async () => {
  expect((await sinkOf({})().report(report(0, []))).everyMs).toBe(20_000)
  expect((await sinkOf({ METRICS })().report(report(0, []))).everyMs).toBe(0)
})

it('a store that is counted is not counted twice', async () => {
  shared.take()
  const { KEYS, USAGE } = countedStores(
    countedStores({
      KEYS: { get: async () => null },
      USAGE: { prepare: () => ({ all: async () => ({ meta: { rows_read: 5 } }) }) },
    }),
  )
  await KEYS.get()
  await USAGE.prepare().all()
  expect(shared.take()).toEqual([
    ['store_operations|KEYS|get', 1],
    ['store_operations|USAGE|all', 1],
    ['d1_rows_read|USAGE', 5],
  ])
})

it('a report that is repeated to the Monitor is written once', async () => {
  const sink = sinkOf({ METRICS })
  isDown = true
  await expect(sink().report(report(0, [['credits_leased', 5]]))).rejects.toThrow('down')
  isDown = false
  await sink().report(report(0, [['credits_leased', 5]]))
  await sink().report(report(1, [['credits_leased', 7]]))
  expect(received).toHaveLength(3)
  expect(points.map(({ doubles }) => doubles)).toEqual([[5], [7]])
})

it('more series than the platform takes at once follow with the next report', async () => {
  const sink = sinkOf({ METRICS })
  const series = Array.from({ length: 450 }, (_, index) => `requests|info|${index}`)
  const written: number[] = []
  for (let number = 0; number < 4; number++) {
    const before = points.length
    await sink().report(report(number, number < 2 ? series.map((one) => [one, 1]) : []))
    written.push(points.length - before)
  }
  expect(Math.max(...written)).toBeLessThan(250)
  await sink().report(report(4, []))
  const sums = new Map<string, number>()
  for (const { blobs, doubles } of points)
    sums.set(blobs.join('|'), (sums.get(blobs.join('|')) ?? 0) + (doubles[0] ?? 0))
  expect(sums).toEqual(new Map(series.map((one) => [one, 2])))
})

it('a data set that refuses points keeps no report from the Monitor, and gets them later', async () => {
  const sink = sinkOf({ METRICS })
  isFull = true
  await sink().report(report(0, [['credits_leased', 5]]))
  isFull = false
  await sink().report(report(1, [['credits_leased', 7]]))
  expect(received.map(({ number }) => number)).toEqual([0, 1])
  expect(points.map(({ doubles }) => doubles)).toEqual([[12]])
})

it('without the binding nothing is written, and reports need a token', async () => {
  await sinkOf({})().report(report(0, [['credits_leased', 5]]))
  expect([points, received.length]).toEqual([[], 1])
  expect(isReported({})).toBe(false)
  expect(isReported({ METRICS_TOKEN: 'x'.repeat(31) })).toBe(false)
  expect(isReported({ METRICS_TOKEN: 'x'.repeat(32) })).toBe(true)
  expect(isReported({ METRICS: METRICS as unknown as AnalyticsEngineDataset })).toBe(true)
})

it('invariant: no point holds what a client sent, and their number does not grow with it', async () => {
  const requests = new RequestCounts()
  const sent = fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom(KEY, 'k', 'info', 'ws', 'a|b'))
  const parts = fc.array(sent, { maxLength: 5 })
  fc.assert(
    fc.property(parts, fc.integer({ min: -1, max: 9_999 }), fc.nat(1e6), (path, status, ms) => {
      const surface = surfaceOf(`https://weir.example/${path.join('/')}?key=${KEY}`)
      expect(SURFACES).toContain(surface)
      requests.count(SURFACES.indexOf(surface), status, ms)
    }),
    { numRuns: 300 },
  )
  shared.take()
  const failing = {
    get: () => Promise.reject(new Error(KEY)),
    [KEY]: async () => 1,
  }
  const { KEYS } = countedStores({ KEYS: failing })
  await expect(KEYS.get()).rejects.toThrow(KEY)
  await KEYS[KEY]?.()
  const sink = sinkOf({ METRICS })
  await sink().report(report(0, [...requests.take(), ...shared.take()]))
  for (let number = 1; number < 40; number++) await sink().report(report(number, []))
  const allowed =
    /^(requests\|\w+\|\d{1,3}|duration\|\w+\|\d{1,2}|duration_ms\|\w+|store_(operations\|KEYS\|get|errors\|KEYS))$/
  for (const { indexes, blobs, doubles } of points) {
    expect(blobs.join('|')).toMatch(allowed)
    expect(indexes[0]?.length).toBeLessThanOrEqual(INDEX_MAX_BYTES)
    expect(blobs.join('').length).toBeLessThanOrEqual(BLOBS_MAX_BYTES)
    expect([indexes.length, doubles.length]).toEqual([1, 1])
  }
  expect(new Set(points.map(({ blobs }) => blobs.join('|'))).size).toBe(points.length)
  expect(points.length).toBeGreaterThan(20)
})
