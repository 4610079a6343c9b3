import { expect, it } from 'vitest'
import { monthOf } from './history-cost.ts'

const NOTHING = {
  questions: 0,
  rowsRead: 0,
  rowsWritten: 0,
  gets: 0,
  bytesRead: 0,
  puts: 0,
  pageBytes: 0,
  tableBytes: 0,
  byTimeBytes: 0,
}
const turnsOf = (turns: number, rowsWritten: number) => ({ ...NOTHING, turns, rowsWritten })

it('a month of files costs what it takes and does, and less within what the plan has', () => {
  const levels = { minute: turnsOf(10, 1_300), hour: turnsOf(10, 10_000) }
  const small = monthOf({ levels, rowBytes: 50, tableBytes: 0, byTimeBytes: 0 })
  // Under 12 GB of pages.
  expect(small.kept).toBeGreaterThan(12 * 11.55 * 0.01)
  expect(small.included).toBeLessThan(1)
  const large = monthOf({ levels, rowBytes: 50, tableBytes: 100, byTimeBytes: 0 })
  expect(large.kept - small.kept).toBeCloseTo(12 * 21 * 0.01, 6)
  expect(large.dollars - small.dollars).toBeCloseTo(21 * 0.015, 6)
  // Fills in the order of the chain are kept for three months.
  const full = monthOf({ levels, rowBytes: 50, tableBytes: 0, byTimeBytes: 100 })
  expect([full.kept, full.dollars - small.dollars]).toEqual([small.kept, expect.closeTo(3 * 21 * 0.015, 6)])
  const busy = monthOf({
    levels: { ...levels, minute: turnsOf(10, 2_300) },
    rowBytes: 50,
    tableBytes: 0,
    byTimeBytes: 0,
  })
  expect(busy.dollars - small.dollars).toBeCloseTo((43_200 * 2 * 100) / 1e6, 6)
})
