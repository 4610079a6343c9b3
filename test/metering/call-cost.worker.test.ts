// Operator cost of one key's calls, measured as operations of the real pool and meter on a test clock: the table in
// docs/internals/benchmarks.md.

import { runInDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { LeaseRequest } from '../../src/metering/lease-api.ts'
import { LeasePool } from '../../src/metering/leases.client.ts'
import type { MeterApi } from '../../src/metering/meter-api.ts'
import { dollarsPerMillionCalls } from '../bench/cost.ts'
import { noCounts } from '../bench/counted/counts.ts'
import { countRows } from '../bench/counted/rows.worker.ts'
import { ManualClock } from '../http/manual-clock.ts'
import { identityOf } from '../kit/identity.ts'
import { CREDIT, stubOf } from './meter.worker.ts'

/** Upper bound for a cached response, as benchmarked. */
const CPU_MS = 1
/** An isolate caches a key for half a minute. */
const KEY_MEMORY_MS = 30_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

it.each([
  // Milliseconds between calls, calls, and maximum dollars per million.
  [1_000, 300, 1],
  [20, 500, 0.5],
  [10_000, 30, 6],
])('a call every %i ms, %i times, costs at most what is said of it', async (everyMs, calls, dollars) => {
  const name = `cost of ${everyMs}`
  await runInDurableObject(stubOf(name), async (object, { storage }) => {
    const meter = object as unknown as MeterApi & { alarm(): Promise<void> }
    await meter.grantCredits('g', 25_000 * CREDIT)
    const counts = noCounts()
    const storeUsage = async () => void counts.d1Statements++
    Object.defineProperty(object, 'env', { value: { GATEWAY: { storeUsage } }, configurable: true })
    countRows(storage, (rows) => (counts.rowsWritten += rows))
    const lease = (request: LeaseRequest) => {
      if (request.need > 0 || (request.requests?.need ?? 0) > 0) counts.meterWaits++
      else counts.meterReports++
      return meter.lease(request)
    }
    const clock = new ManualClock(Date.now())
    const identity = identityOf('trial', ['info'], name)
    const charging = new LeasePool(clock).charging({
      meterOf: () => ({ lease }),
      waitUntil: () => {},
      meterFailure: 'closed',
      onRevoked: () => {},
    })
    const pass = async (ms: number) => {
      for (const endMs = clock.now + ms; clock.now < endMs; ) {
        await clock.advance(Math.min(endMs - clock.now, 10_000))
        vi.setSystemTime(clock.now)
        const alarmMs = await storage.getAlarm()
        if (alarmMs === null || alarmMs > clock.now) continue
        await storage.deleteAlarm()
        await meter.alarm()
      }
    }
    for (let call = 0; call < calls; call++) {
      const hold = await charging.hold(identity, { product: 'info', type: 'meta', amount: CREDIT })
      if (!hold.ok) throw new Error(hold.error.kind)
      hold.value.settle()
      await pass(everyMs)
    }
    counts.kvReads = Math.ceil((calls * everyMs) / KEY_MEMORY_MS)
    const cost = dollarsPerMillionCalls(calls, CPU_MS, counts)
    console.log(`${calls} calls, one every ${everyMs} ms: $${cost.toFixed(2)} per million, ${JSON.stringify(counts)}`)
    expect(cost).toBeLessThanOrEqual(dollars)
    // Everything is reported in the end.
    await pass(130_000)
    expect(await meter.balance()).toMatchObject({ spent: calls * CREDIT, held: 0 })
    const { byKey } = await meter.usage(0, Date.now() + 3_600_000)
    expect(byKey).toMatchObject([{ calls, amount: calls * CREDIT }])
  })
})
