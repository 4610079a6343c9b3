// When a meter asks for an automatic top-up.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  answered,
  atBalance,
  type TopUpAnswer,
  type TopUpWatch,
  withQuestion,
} from '../../src/metering/top-up-watch.ts'

const WATCH: TopUpWatch = { account: 'acme', below: 100, nextMs: null }

it('asks at once when the balance falls below the level, and not again before an answer', () => {
  expect(atBalance(WATCH, 100, 5)).toBe(WATCH)
  const low = atBalance(WATCH, 99, 5)
  expect(low.nextMs).toBe(5)
  expect(atBalance(withQuestion(low, 6), 1, 7).nextMs).toBe(60_006)
})

it('ends when there are no top-ups, waits as long as it is told, and asks again while the balance is low', () => {
  expect(answered(WATCH, { state: 'off' }, 1, 5)).toBeNull()
  expect(answered(WATCH, { state: 'wait', ms: 90_000 }, 1_000, 5)?.nextMs).toBe(90_005)
  expect(answered(WATCH, { state: 'idle' }, 99, 5)?.nextMs).toBe(60_005)
  expect(answered(WATCH, { state: 'idle' }, 100, 5)?.nextMs).toBeNull()
})

it('always has a next question while the balance is low, within a day', () => {
  const answer = fc.oneof(
    fc.constant<TopUpAnswer>({ state: 'idle' }),
    fc.integer({ min: 0, max: 4e9 }).map((ms): TopUpAnswer => ({ state: 'wait', ms })),
  )
  const step = fc.record({ left: fc.nat(200), passMs: fc.nat(10_000_000), answer })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let watch = WATCH
      let now = 0
      for (const { left, passMs, answer } of steps) {
        now += passMs
        watch = atBalance(watch, left, now)
        if (left < watch.below) expect(watch.nextMs).not.toBeNull()
        if (watch.nextMs !== null && watch.nextMs <= now) watch = answered(withQuestion(watch, now), answer, left, now)!
        if (left < watch.below) expect(watch.nextMs! - now).toBeLessThanOrEqual(86_400_000)
      }
    }),
  )
})
