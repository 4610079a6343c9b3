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
}
const turnsOf = (turns: number, rowsWritten: number) => ({ ...NOTHING, turns, rowsWritten })

it('a month of files costs what it takes and does, and less within what the plan has', () => {
  const levels = { minute: turnsOf(10, 1_300), hour: turnsOf(10, 10_000) }
  const fixed = { levels, rowBytes: 50, keptBytes: 55, fillTableBytes: 0 }
  const small = monthOf(fixed)
  // Under 12 GB of pages.
  expect(small.kept).toBeGreaterThan(12 * 11.55 * 0.01)
  expect(small.included).toBeLessThan(1)
  // A row of an index for 128 KiB.
  const large = monthOf({ ...fixed, keptBytes: 155 })
  expect(large.kept - small.kept).toBeCloseTo(12 * (21 * 0.01 + (21e9 / 131_072) * 190e-9 * 0.75), 6)
  // Tables of fills are kept for three months.
  const full = monthOf({ ...fixed, fillTableBytes: 100 })
  expect([full.kept, full.dollars - small.dollars]).toEqual([small.kept, expect.closeTo(3 * 21 * 0.015, 6)])
  const busy = monthOf({ ...fixed, levels: { ...levels, minute: turnsOf(10, 2_300) } })
  expect(busy.dollars - small.dollars).toBeCloseTo((43_200 * 2 * 100) / 1e6, 6)
})
