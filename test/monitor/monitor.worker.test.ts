// The Monitor, and the real objects that report to it.

import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { counters } from '../../src/core/counters.ts'
import { monitorOf, Objects } from '../../src/core/objects.client.ts'
import { LiveSettings, readVariables } from '../../src/core/variables.ts'
import type { StoredTotals } from '../../src/monitor/totals.ts'
import { WAIT } from '../block-log/fake-feeder.worker.ts'
import { CREDIT, copyLate, meterOf, spend, spendCalls } from '../metering/meter.worker.ts'

const bindings = env as unknown as Cloudflare.Env
const objects = new Objects(bindings, readVariables(LiveSettings, bindings))
const monitor = () => monitorOf(bindings)
const evict = () => evictDurableObject(bindings.MONITOR.getByName('monitor'))
const sumOf = async (series: string) => new Map((await monitor().scrape()).sums).get(series) ?? 0
const report = (isolate: string, number = 0, sums: readonly (readonly [string, number])[] = []) =>
  monitor().report({ v: 1, isolate, number, sums, gauges: [] })

const { now } = Date
let passedMs = 0
function passAnHour(): void {
  passedMs += 3_600_000
  vi.spyOn(Date, 'now').mockImplementation(() => now() + passedMs)
}
afterEach(() => void vi.restoreAllMocks())

describe('the Monitor', () => {
  it('keeps its sums when it is evicted, and counts a repeated report once', async () => {
    const before = await sumOf('d1_rows_read|TEST')
    await report('repeated', 7, [['d1_rows_read|TEST', 3]])
    await evict()
    await report('repeated', 7, [['d1_rows_read|TEST', 3]])
    await report('repeated', 8, [['d1_rows_read|TEST', 4]])
    expect((await sumOf('d1_rows_read|TEST')) - before).toBe(7)
  })

  it('asks for frequent reports only while somebody reads them', async () => {
    await monitor().scrape()
    expect(await report('frequent')).toEqual({ v: 1, everyMs: 20_000 })
    await evict()
    expect(await report('after a deploy')).toEqual({ v: 1, everyMs: 20_000 })
    passAnHour()
    expect(await report('rare')).toEqual({ v: 1, everyMs: 300_000 })
  })

  it('shows the status of the log', async () => {
    const scrapes = await Promise.all(Array.from({ length: 3 }, () => monitor().scrape()))
    expect(scrapes.map(({ status }) => status?.chain)).toEqual(['hyperliquid', 'hyperliquid', 'hyperliquid'])
  })
})

const ask = {
  v: 1,
  grant: 'g',
  perMinute: 60,
  spreadMs: 1,
  weight: 1,
  least: 1,
  need: 1,
  forecast: 0,
  news: [],
  owed: 0,
}
it.each<[string, () => Promise<unknown>]>([
  ['the status cache', () => objects.statusCache().status()],
  ['a source budget', () => objects.budget('monitored').exchange(ask)],
  ['the follower', () => objects.follower().advance()],
  ['the Monitor', () => monitor().scrape()],
])('%s reports at the end of its work, not only when it starts', async (_, work) => {
  // A scrape would report, too.
  const storedSum = () =>
    runInDurableObject(bindings.MONITOR.getByName('monitor'), (_, { storage }) =>
      new Map(storage.kv.get<StoredTotals>('totals')?.sums).get('socket_closes|4999'),
    )
  await work()
  const before = (await storedSum()) ?? 0
  passAnHour()
  counters.add('socket_closes', '4999')
  await work()
  await vi.waitFor(async () => expect(await storedSum()).toBe(before + 1), WAIT)
})

describe('a meter', () => {
  it('counts its starts and its credits', async () => {
    counters.take()
    await meterOf('counted').grantCredits('g', 100 * CREDIT)
    await spend(meterOf('counted'), 'k', 4 * CREDIT)
    await spendCalls(meterOf('counted'), 'k', 1, 2 * CREDIT)
    const counted = new Map(counters.take())
    expect(counted.get('object_starts|CreditMeter')).toBe(1)
    expect(counted.get('credits_charged')).toBe(6 * CREDIT)
    expect(counted.get('credits_leased')).toBe((counted.get('credits_returned') ?? 0) + 2 * CREDIT)
  })

  it('reports what it did if it only wakes for an alarm', async () => {
    await meterOf('woken').grantCredits('g', 100 * CREDIT)
    await spend(meterOf('woken'), 'k', CREDIT)
    const starts = await sumOf('object_starts|CreditMeter')
    const failures = await sumOf('log_events|usage_copy_failed')
    // The interval is over, whatever this isolate reported before.
    passAnHour()
    await copyLate('woken', 'allFills', 'refused')
    const reported = async () => {
      const { sums, gauges } = await monitor().scrape()
      expect(new Map(sums).get('object_starts|CreditMeter')).toBeGreaterThan(starts)
      expect(new Map(sums).get('log_events|usage_copy_failed')).toBe(failures + 1)
      expect(new Map(gauges).get('usage_copy_late_seconds')).toBeGreaterThan(0)
    }
    await vi.waitFor(reported, WAIT)
    await copyLate('woken', 'refused', 'allFills')
  })

  it('knows how late a failed copy of its usage is', async () => {
    const lateSeconds = () => counters.gauges(Date.now()).find(([name]) => name === 'usage_copy_late_seconds')?.[1]
    await meterOf('late').grantCredits('g', 100 * CREDIT)
    await spend(meterOf('late'), 'k', CREDIT)
    await copyLate('late', 'allFills', 'refused')
    expect(lateSeconds()).toBeGreaterThanOrEqual(1_500)
    await copyLate('late', 'refused', 'allFills')
    expect(lateSeconds()).toBeUndefined()
  })
})
