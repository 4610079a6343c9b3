import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAILY_CREDITS, dailyGrant, utcDay } from '../../../src/cli/launch/demo-account.node.ts'
import { DAY_MS } from '../../../src/core/time.ts'

const MADE = Date.UTC(2026, 10, 27, 23)
const day = (n: number) => MADE + n * DAY_MS

test('the demo account is refilled to its daily credits, with an idempotency key of the UTC day', () => {
  expect(dailyGrant({ created: MADE, balance: '12.5' }, day(1))).toEqual({
    idempotency_key: 'npm-start-2026-11-28',
    credits: '987.5',
  })
  expect(dailyGrant({ created: MADE, balance: '0' }, MADE + 1_000)).toBeNull()
  expect(dailyGrant({ created: MADE, balance: '1000' }, day(1))).toBeNull()
  expect(dailyGrant({ created: MADE, balance: '6000' }, day(1))).toBeNull()
})

test('restarts never grant more than the daily credits on a UTC day', () => {
  const step = fc.record({ ms: fc.integer({ min: 0, max: DAY_MS }), spends: fc.integer({ min: 0, max: 3_000 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let now = MADE
      let balance = DAILY_CREDITS
      const given = new Map([[utcDay(MADE), DAILY_CREDITS]])
      const ids = new Set<string>()
      for (const { ms, spends } of steps) {
        now += ms
        balance -= Math.min(balance, spends)
        const grant = dailyGrant({ created: MADE, balance: String(balance) }, now)
        // The gateway refuses an id that it knows.
        if (grant === null || ids.has(grant.idempotency_key)) continue
        ids.add(grant.idempotency_key)
        balance += Number(grant.credits)
        given.set(utcDay(now), (given.get(utcDay(now)) ?? 0) + Number(grant.credits))
      }
      for (const credits of given.values()) expect(credits).toBeLessThanOrEqual(DAILY_CREDITS)
    }),
  )
})
