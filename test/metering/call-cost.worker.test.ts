// Operator cost of one key's calls, measured as operations of real pools and the real meter on a test clock: the table in
// docs/internals/benchmarks.md, and the unit costs of the month's bill.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { HOUR_MS } from '../../src/core/time.ts'
import { PER_1000_CALLS } from '../../src/http/platform/month-bill.ts'
import type { LeaseRequest } from '../../src/metering/lease-api.ts'
import { LeasePool } from '../../src/metering/leases.client.ts'
import { callsOf } from '../../src/metering/request-log/log-lines.ts'
import { hourOf } from '../../src/metering/usage.ts'
import { dollarsPerMillionCalls } from '../bench/cost.ts'
import { noCounts } from '../bench/counted/counts.ts'
import { ManualClock } from '../http/manual-clock.ts'
import { identityOf } from '../kit/identity.ts'
import { withCountedMeter } from './counted-meter.worker.ts'
import { CREDIT } from './meter.worker.ts'

/** Upper bound for a cached response, as benchmarked. */
const CPU_MS = 1
/** An isolate caches a key for half a minute. */
const KEY_MEMORY_MS = 30_000
const CEILING_MS = 300_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

it.each([
  // Milliseconds between calls, isolates that they reach in turn, calls, and maximum dollars per million.
  [1_000, 1, 300, 1],
  [20, 1, 1_500, 0.4],
  [20, 10, 1_500, 0.45],
  [20, 50, 3_000, 0.6],
  [10_000, 1, 30, 6],
])(
  'a call every %i ms over %i isolates, %i times, costs at most what is said of it',
  async (everyMs, isolates, calls, dollars) => {
    const name = `cost of ${everyMs} over ${isolates}`
    await withCountedMeter(name, async ({ meter, counts: inside, wake }) => {
      // In the future, so that the platform itself runs no alarm.
      const clock = new ManualClock(hourOf(Date.now()) + 2 * HOUR_MS)
      vi.setSystemTime(clock.now)
      await meter.grantCredits('g', 25_000 * CREDIT)
      const counts = noCounts()
      const lease = (request: LeaseRequest) => {
        if (request.need > 0 || (request.requests?.need ?? 0) > 0) counts.meterWaits++
        else counts.meterReports++
        return meter.lease(request)
      }
      const identity = identityOf('trial', ['info'], name)
      const context = {
        meterOf: () => ({ lease }),
        waitUntil: () => {},
        meterFailure: 'closed',
        onRevoked: () => {},
      } as const
      const pools = Array.from({ length: isolates }, () => new LeasePool(clock))
      const pass = async (ms: number) => {
        for (const endMs = clock.now + ms; clock.now < endMs; ) {
          await clock.advance(Math.min(endMs - clock.now, 10_000))
          await wake(clock.now)
        }
      }
      for (let call = 0; call < calls; call++) {
        const charging = pools[call % isolates]!.charging(context)
        const hold = await charging.hold(identity, { product: 'info', type: 'meta', amount: CREDIT })
        if (!hold.ok) throw new Error(hold.error.kind)
        hold.value.settle()
        const result = { product: 'info', type: 'meta', status: 200, code: '', micro: CREDIT } as const
        charging.log?.(identity, { ...result, requestId: `req_${String(call).padStart(16, '0')}` })
        await pass(everyMs)
      }
      counts.kvReads = isolates * Math.ceil((calls * everyMs) / KEY_MEMORY_MS)
      counts.rowsWritten = inside.objectRows
      // An alarm is billed as a request.
      counts.meterReports += inside.alarms
      counts.d1Statements = inside.d1Rows
      const cost = dollarsPerMillionCalls(calls, CPU_MS, counts)
      console.log(
        `${calls} calls, one every ${everyMs} ms over ${isolates} isolates: $${cost.toFixed(2)} per million, ${JSON.stringify(counts)}`,
      )
      expect(cost).toBeLessThanOrEqual(dollars)
      if (everyMs === 1_000) {
        const per1000 = (count: number) => (count * 1_000) / calls
        expect(per1000(counts.meterWaits + counts.meterReports)).toBeLessThanOrEqual(PER_1000_CALLS.requests)
        expect(per1000(counts.rowsWritten)).toBeLessThanOrEqual(PER_1000_CALLS.objectRows)
        expect(per1000(counts.kvReads)).toBeLessThanOrEqual(PER_1000_CALLS.kvReads)
      }
      // Everything is reported in the end.
      await pass(130_000)
      expect(await meter.balance()).toMatchObject({ spent: calls * CREDIT, held: 0 })
      const { byKey } = await meter.usage(0, clock.now + 3_600_000)
      expect(byKey).toMatchObject([{ calls, amount: calls * CREDIT }])
      const { chunks } = await meter.requestLog(0, clock.now)
      const leftOut = chunks.reduce((sum, chunk) => sum + chunk.leftOut, 0)
      expect(chunks.flatMap(({ lines }) => callsOf(lines)).length + leftOut).toBe(calls)
    })
  },
  CEILING_MS,
)
