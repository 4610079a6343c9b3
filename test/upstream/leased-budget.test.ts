import { expect, it } from 'vitest'
import type { BudgetAnswer, BudgetAsk } from '../../src/upstream/budget-api.ts'
import { LeasedBudget } from '../../src/upstream/leased-budget.ts'

it('forgets who waited and vanished: nothing is leased for a request that was ended', async () => {
  let now = 1_000_000
  let ids = 0
  const asked: BudgetAsk[] = []
  let exchange = (): Promise<BudgetAnswer> => new Promise(() => {})
  const budget = new LeasedBudget(1_200, 2_000, {
    api: () => ({
      exchange: (ask) => {
        asked.push(ask)
        return exchange()
      },
    }),
    now: () => now,
    // Of a request that was ended no timer rings.
    sleep: () => new Promise(() => {}),
    after: () => () => {},
    newId: () => `g${ids++}`,
    background: () => {},
  })
  for (let i = 0; i < 5; i++) void budget.take(100, '')
  now += 60_000
  exchange = async () => ({ v: 1, granted: 20, ttlMs: 3_000, waitMs: 0, left: 130 })
  expect((await budget.take(20, '')).paid).toBe(true)
  expect(asked.slice(0, 2).map(({ least, need }) => [least, need])).toEqual([
    [100, 100],
    [20, 20],
  ])
})
