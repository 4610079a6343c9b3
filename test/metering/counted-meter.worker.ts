// A real meter on a test clock, with its billed operations counted: calls, alarms, object rows, and rows of D1 USAGE.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { storeUsage } from '../../src/http/platform/usage-copy.store.ts'
import type { MeterApi } from '../../src/metering/meter-api.ts'
import type { UsageRow } from '../../src/metering/usage.ts'
import { countRows } from '../bench/counted/rows.worker.ts'
import { stubOf } from './meter.worker.ts'

interface MeterCounts {
  alarms: number
  objectRows: number
  d1Rows: number
}

interface CountedMeter {
  readonly meter: MeterApi
  readonly counts: MeterCounts
  /** Runs the alarm if it is due at this time. */
  readonly wake: (nowMs: number) => Promise<void>
}

/** Runs `use` inside a new meter. The clock of the meter is `Date`, which must be faked. */
export async function withCountedMeter(name: string, use: (counted: CountedMeter) => Promise<void>): Promise<void> {
  await runInDurableObject(stubOf(name), async (object, { storage }) => {
    const meter = object as unknown as MeterApi & { alarm(): Promise<void> }
    const counts = { alarms: 0, objectRows: 0, d1Rows: 0 }
    const usage = (env as unknown as Cloudflare.Env).USAGE
    const counted = {
      prepare: usage.prepare.bind(usage),
      batch: async (statements: D1PreparedStatement[]) => {
        const results = await usage.batch(statements)
        for (const { meta } of results) counts.d1Rows += meta.rows_written
        return results
      },
    } as unknown as D1Database
    const gateway = { storeUsage: (rows: readonly UsageRow[]) => storeUsage(counted, rows) }
    Object.defineProperty(object, 'env', { value: { GATEWAY: gateway }, configurable: true })
    countRows(storage, (rows) => (counts.objectRows += rows))
    const wake = async (nowMs: number) => {
      vi.setSystemTime(nowMs)
      const alarmMs = await storage.getAlarm()
      if (alarmMs === null || alarmMs > nowMs) return
      await storage.deleteAlarm()
      counts.alarms++
      await meter.alarm()
    }
    await use({ meter, counts, wake })
  })
}
