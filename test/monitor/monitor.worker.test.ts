// The Monitor, and the real objects that report to it.

import { env, evictDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { counters } from '../../src/core/counters.ts'
import { monitorOf } from '../../src/core/objects.client.ts'
import { CREDIT, copyLate, meterOf, spend, spendCalls } from '../metering/meter.worker.ts'

const bindings = env as unknown as Cloudflare.Env
const monitor = () => monitorOf(bindings)
const evict = () => evictDurableObject(bindings.MONITOR.getByName('monitor'))
const sumOf = async (series: string) => new Map((await monitor().scrape()).sums).get(series) ?? 0
const report = (isolate: string, number = 0, sums: readonly (readonly [string, number])[] = []) =>
  monitor().report({ v: 1, isolate, number, sums, gauges: [] })

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
    expect(await report('rare')).toEqual({ v: 1, everyMs: 300_000 })
  })

  it('shows the status of the log', async () => {
    const scrapes = await Promise.all(Array.from({ length: 3 }, () => monitor().scrape()))
    expect(scrapes.map(({ status }) => status?.chain)).toEqual(['hyperliquid', 'hyperliquid', 'hyperliquid'])
  })
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
