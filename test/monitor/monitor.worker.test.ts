// The Monitor, and the real objects that report to it.

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../src/accounts/digest.client.ts'
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

describe('availability', () => {
  const object = () => bindings.MONITOR.getByName('monitor')
  /** A check, as the alarm makes it at this time. */
  async function checkAt(nowMs: number): Promise<void> {
    vi.spyOn(Date, 'now').mockReturnValue(nowMs)
    await runInDurableObject(object(), (_, { storage }) => storage.setAlarm(now() + 3_600_000))
    await runDurableObjectAlarm(object())
  }
  const HOUR_MS = 3_600_000
  const start = Math.floor(now() / HOUR_MS) * HOUR_MS + 30 * 24 * HOUR_MS

  it('is checked once a minute by an alarm that the first report starts', async () => {
    await runInDurableObject(object(), (_, { storage }) => storage.deleteAlarm())
    await evict()
    const begunMs = now()
    await report('first')
    const alarmMs = await runInDurableObject(object(), (_, { storage }) => storage.getAlarm())
    expect(alarmMs).toBeGreaterThan(begunMs)
    expect(alarmMs).toBeLessThanOrEqual(now() + 60_000)
  })

  it('is kept by hour, also when the object is evicted, and published with a bundle that has its SHA-256', async () => {
    const counts = (requests: number, failed: number) => [
      ['requests|info|200', requests] as const,
      ['requests|info|502', failed] as const,
      ['duration|info|4', requests + failed] as const,
    ]
    await checkAt(start)
    await report('served', 0, counts(100, 0))
    await checkAt(start + 60_000)
    await evict()
    await report('served', 1, counts(50, 50))
    await checkAt(start + 120_000)
    const during = await monitor().history()
    const apiOf = ({ components }: typeof during) => components.find(({ name }) => name === 'api')
    expect(apiOf(during)).toMatchObject({ state: 'down', checks: 2, failed: 1, uptimePercent: 50, p99Ms: 50 })
    expect(during.hour).toContainEqual({
      hour: new Date(start).toISOString(),
      component: 'api',
      checks: 2,
      failed: 1,
      times: { 50: 200 },
    })
    await checkAt(start + HOUR_MS)
    const after = await monitor().history()
    expect(apiOf(after)).toMatchObject({ checks: 2, failed: 1 })
    expect(after.bundle?.path).toBe(`/status/history.ndjson?until=${start + HOUR_MS}`)
    const text = await monitor().bundle(start + HOUR_MS)
    expect(text?.split('\n').filter((line) => line.includes('"api"'))).toEqual([
      `{"hour":"${new Date(start).toISOString()}","component":"api","checks":2,"failed":1,"times":{"50":200}}`,
    ])
    expect(await sha256(text ?? '')).toBe(after.bundle?.sha256)
    expect(await monitor().bundle(start + 2 * HOUR_MS)).toBe(null)
    // The file of an hour stays the same.
    await checkAt(start + 2 * HOUR_MS)
    expect(await monitor().bundle(start + HOUR_MS)).toBe(text)
    await checkAt(start + 95 * 24 * HOUR_MS)
    const rows = await runInDurableObject(object(), (_, { storage }) =>
      storage.sql.exec('SELECT * FROM hours WHERE hour <= ?', start).toArray(),
    )
    expect(rows).toEqual([])
  })

  it('keeps figures of the metrics every ten minutes, for a day', async () => {
    const dayMs = 24 * HOUR_MS
    const from = start + 100 * dayMs
    await report('figures', 0, [['credits_charged', 2_000_000]])
    for (const minute of [0, 1, 10, 11]) await checkAt(from + minute * 60_000)
    const figures = (await monitor().figures()).filter(({ at }) => at >= from)
    expect(figures.map(({ at }) => at - from)).toEqual([0, 600_000])
    const { sums } = await monitor().scrape()
    const charged = (new Map(sums).get('credits_charged') ?? 0) / 1e6
    expect(figures[0]?.figures).toMatchObject({ weir_credits_charged_total: charged, weir_up: 1 })
    await evict()
    await checkAt(from + dayMs + 1)
    expect((await monitor().figures()).map(({ at }) => at - from)).toEqual([600_000, dayMs + 1])
  })
})
