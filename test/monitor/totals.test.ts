// Sums of the counters of all isolates.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CounterReport } from '../../src/core/counters.ts'
import { Totals } from '../../src/monitor/totals.ts'

const report = (over: Partial<CounterReport>): CounterReport => ({
  v: 1,
  isolate: 'a',
  number: 0,
  sums: [],
  gauges: [],
  ...over,
})
const MINUTE_MS = 60_000

it('invariant: each report counts once, however often it arrives and whatever is stored in between', () => {
  const increments = fc.array(fc.nat(9), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(
      fc.array(increments, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(3), { maxLength: 40 }),
      (isolates, repeats) => {
        let totals = new Totals()
        let before = 0
        isolates.forEach((values, index) => {
          values.forEach((value, number) => {
            const one = report({ isolate: `${index}`, number, sums: [['log_events|x', value]] })
            for (let turn = 0; turn <= (repeats[number] ?? 0); turn++) {
              totals.add(one, 0)
              if (turn % 2 === 1) totals = new Totals(structuredClone(totals.stored))
              expect(totals.sum('log_events|x')).toBeGreaterThanOrEqual(before)
              before = totals.sum('log_events|x')
            }
          })
        })
        expect(before).toBe(isolates.flat().reduce((sum, value) => sum + value, 0))
      },
    ),
  )
})

it('keeps a bounded number of series and of isolates', () => {
  const totals = new Totals()
  for (let number = 0; number < 5_000; number++)
    totals.add(report({ isolate: `${number}`, sums: [[`requests|${number}`, 1]] }), 0)
  totals.add(report({ isolate: 'long', sums: [['x'.repeat(1_000), 1]] }), 0)
  expect(totals.sums()).toHaveLength(4_000)
  expect(totals.stored.numbers).toHaveLength(2_000)
})

it('shows the highest gauge of the isolates that reported lately', () => {
  const totals = new Totals()
  totals.add(report({ isolate: 'a', gauges: [['usage_copy_late_seconds', 90]] }), 0)
  totals.add(report({ isolate: 'b', gauges: [['usage_copy_late_seconds', 30]] }), 10 * MINUTE_MS)
  expect(totals.gauges(10 * MINUTE_MS)).toEqual([['usage_copy_late_seconds', 90]])
  expect(totals.gauges(16 * MINUTE_MS)).toEqual([['usage_copy_late_seconds', 30]])
  totals.add(report({ isolate: 'b', number: 1, gauges: [['usage_copy_late_seconds', 0]] }), 17 * MINUTE_MS)
  expect(totals.gauges(17 * MINUTE_MS)).toEqual([['usage_copy_late_seconds', 0]])
})
