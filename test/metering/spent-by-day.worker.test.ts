// Daily cost as polled by an open page: it equals the report, no matter what was requested earlier, and is computed
// from the last few hours only.

import { runInDurableObject } from 'cloudflare:test'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import { MeterStore } from '../../src/metering/meter.store.ts'
import { UsageReports } from '../../src/metering/usage-report.store.ts'
import { stubOf } from './meter.worker.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 20, 13, 5)
const line = (type: string, amount: number) => ({ product: 'stream', type, calls: Math.sign(amount), amount })

/** The last eight days, today last. */
const daysAt = (nowMs: number) => Array.from({ length: 8 }, (_, i) => nowMs - (nowMs % DAY) - (7 - i) * DAY)

const act = fc.record({
  afterMs: fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 30 * HOUR })),
  what: fc.constantFrom('use', 'use', 'refund', 'ask', 'ask', 'prune'),
  amount: fc.integer({ min: 1, max: 9_000_000 }),
  type: fc.constantFrom('trades', 'bbo'),
})

it('equals the report, however often and late it is requested', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 60 }), async (acts) => {
      const seen = await runInDurableObject(stubOf(`spent ${run++}`), (_, { storage }) => {
        const { sql } = storage
        const store = new MeterStore(storage)
        const asked = new UsageReports(sql)
        let now = START
        const used: { readonly type: string; readonly amount: number; readonly atMs: number }[] = []
        return acts.flatMap(({ afterMs, what, amount, type }) => {
          now += afterMs
          const last = used.at(-1)
          if (what === 'use') {
            store.transact(() => store.addUsage(keyHashOf('k'), [line(type, amount)], now))
            used.push({ type, amount, atMs: now })
          } else if (what === 'refund' && last && now - last.atMs < HOUR) {
            const back = [line(last.type, -last.amount)]
            store.transact(() => store.addUsage(keyHashOf('k'), back, now, last.atMs))
            used.pop()
          } else if (what === 'prune') {
            store.markCopied(now, store.changes())
            store.transact(() => store.prune(now))
          }
          if (what !== 'ask') return []
          store.transact(() => store.settleUsage())
          const days = daysAt(now)
          const { byDay } = new UsageReports(sql).report(days[0]!, days.at(-1)! + DAY)
          const reported = days.map((each) => byDay.find(({ day }) => day === each)?.amount ?? 0)
          return [{ spent: asked.spentByDay(days, now), reported }]
        })
      })
      for (const { spent, reported } of seen) expect(spent).toEqual(reported)
    }),
    { numRuns: 100 },
  )
})

it('reads only the rows of the last hours when requested again', async () => {
  const read = await runInDurableObject(stubOf('spent again'), (_, { storage }) => {
    const { sql } = storage
    const store = new MeterStore(storage)
    for (let hour = 0; hour < 60; hour++)
      for (let key = 0; key < 20; key++)
        store.transact(() => store.addUsage(keyHashOf(`k${key}`), [line('trades', 1)], START + hour * HOUR))
    store.transact(() => store.settleUsage())
    let rows = 0
    const counted = (query: string, ...values: SqlStorageValue[]) => {
      const cursor = sql.exec(query, ...values)
      const all = cursor.toArray()
      rows += cursor.rowsRead
      return { toArray: () => all }
    }
    const reports = new UsageReports({ exec: counted } as unknown as Pick<SqlStorage, 'exec'>)
    const now = START + 59 * HOUR
    return [0, 1].map(() => {
      rows = 0
      reports.spentByDay(daysAt(now), now)
      return rows
    })
  })
  expect(read[0]).toBeGreaterThan(1_000)
  expect(read[1]).toBeLessThan(100)
})
