// Steps of the operator's charts.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mergedBySteps, stepStart, trendStart } from '../../../src/http/platform/endpoints/trend.ts'

const NOW = Date.UTC(2026, 1, 28, 13, 45)

it.each([
  ['2d', Date.UTC(2026, 1, 26, 14)],
  ['30d', Date.UTC(2026, 0, 30)],
  ['12m', Date.UTC(2025, 2, 1)],
] as const)('%s ends with the step in progress', (period, start) => {
  expect(trendStart(period, NOW)).toBe(start)
})

it('invariant: nothing is lost or counted twice, whatever the step', () => {
  const row = fc.record({
    start: fc.integer({ min: Date.UTC(2024), max: Date.UTC(2027) }),
    name: fc.constantFrom('info', 'stream'),
    count: fc.nat(1_000),
  })
  fc.assert(
    fc.property(fc.array(row), fc.constantFrom('hour', 'day', 'month'), (rows, step) => {
      const merged = mergedBySteps(rows, ['count'], step)
      const total = (all: readonly number[]) => all.reduce((sum, count) => sum + count, 0)
      expect(total(merged.map(({ sums }) => sums.count))).toBe(total(rows.map(({ count }) => count)))
      expect(new Set(merged.map(({ start, name }) => `${start} ${name}`)).size).toBe(merged.length)
      for (const { start } of merged) expect(stepStart(step, start)).toBe(start)
    }),
  )
})
