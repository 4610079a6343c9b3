import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { UNBILLED_LIMIT, UnbilledLimiter } from '../../src/core/unbilled-limiter.ts'

it('allows a key 20 × (t + 1) in any t seconds, and reports exact waits', () => {
  const steps = fc.array(
    fc.record({ passMs: fc.integer({ min: 0, max: 400 }), times: fc.integer({ min: 1, max: 60 }) }),
  )
  fc.assert(
    fc.property(steps, (calls) => {
      const work = new UnbilledLimiter()
      const taken: number[] = []
      let now = 1_000_000
      for (const { passMs, times } of calls) {
        now += passMs
        for (let i = 0; i < times; i++) {
          const waitMs = work.take('key', now)
          if (waitMs === 0) taken.push(now)
          else {
            expect(work.waitMs('key', now)).toBe(waitMs)
            expect(work.waitMs('key', now + waitMs)).toBe(0)
          }
        }
      }
      for (const [first, since] of taken.entries()) {
        for (const [last, until] of taken.entries()) {
          if (last < first) continue
          const most = (UNBILLED_LIMIT.quota * (until - since + 1_000)) / 1_000
          expect(last - first + 1).toBeLessThanOrEqual(most)
        }
      }
    }),
    { numRuns: 30 },
  )
})

it('counts keys separately, and a check counts nothing', () => {
  const work = new UnbilledLimiter()
  for (let i = 0; i < 100; i++) expect(work.waitMs('a', 0)).toBe(0)
  for (let i = 0; i < 20; i++) expect(work.take('a', 0)).toBe(0)
  expect([work.take('a', 0), work.waitMs('a', 49), work.waitMs('a', 50), work.take('b', 0)]).toEqual([50, 1, 0, 0])
})

it('turns excess rejected work into debt of at most half a minute', () => {
  const work = new UnbilledLimiter()
  for (let i = 0; i < 20; i++) expect(work.takeOrOwe('a', 0)).toBe(0)
  expect([work.takeOrOwe('a', 0), work.takeOrOwe('a', 0)]).toEqual([100, 150])
  expect([work.waitMs('a', 149), work.waitMs('a', 150), work.takeOrOwe('a', 150)]).toEqual([1, 0, 0])
  for (let i = 0; i < 5_000; i++) work.takeOrOwe('a', 150)
  expect(work.waitMs('a', 150)).toBe(30_050)
})
