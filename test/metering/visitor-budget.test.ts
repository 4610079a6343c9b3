import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { budgetNow, budgetWaitMs, type VisitorBudget } from '../../src/metering/visitor-budget.ts'

const HOUR = 3_600_000

it('is never exceeded in any hour, however spending is distributed, and refills exactly when predicted', () => {
  const steps = fc.array(fc.record({ passMs: fc.integer({ min: 0, max: HOUR / 3 }), amount: fc.integer({ min: 1 }) }))
  fc.assert(
    fc.property(fc.integer({ min: 1_000_000, max: 1e12 }), steps, (perHour, takes) => {
      let budget: VisitorBudget | null = null
      let now = 1_790_000_000_000
      const spent: { readonly at: number; readonly amount: number }[] = []
      for (const { passMs, amount: wish } of takes) {
        now += passMs
        const amount = 1 + (wish % Math.floor(perHour / 6))
        const found = budgetNow(budget, perHour, now)
        const waitMs = budgetWaitMs(found, perHour, amount)
        expect(Number.isSafeInteger(found.left)).toBe(true)
        if (waitMs === 0) {
          budget = { ...found, left: found.left - amount }
          spent.push({ at: now, amount })
        } else expect(budgetWaitMs(budgetNow(found, perHour, now + waitMs + 1_000), perHour, amount)).toBe(0)
      }
      for (const { at } of spent) {
        const within = spent.filter((one) => one.at >= at && one.at < at + HOUR)
        expect(within.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(perHour)
      }
    }),
    { numRuns: 50 },
  )
})

it('allows a burst of a sixth and refills the rest evenly', () => {
  const perHour = 6_000_000_000
  const first = budgetNow(null, perHour, 0)
  expect(first.left).toBe(1_000_000_000)
  const spent = { ...first, left: 0 }
  expect(budgetWaitMs(spent, perHour, 1_000_000)).toBe(1_000)
  expect(budgetNow(spent, perHour, 60_500)).toEqual({ left: 60 * 1_388_888, atMs: 60_000 })
  expect(budgetNow(spent, perHour, HOUR).left).toBe(1_000_000_000)
  expect(budgetNow({ left: -5_000, atMs: 0 }, perHour, 10 * HOUR).left).toBe(1_000_000_000)
  // A smaller budget applies immediately.
  expect(budgetNow(first, perHour / 2, 0).left).toBe(500_000_000)
})
