import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs } from '../../src/core/backoff.ts'

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('doubles the delay up to its cap and randomizes only the jitter part', () => {
  fc.assert(
    fc.property(
      fc.nat(5_000),
      fc.nat(100_000),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(2_000),
      chance,
      (firstMs, capMs, jitter, attempt, random) => {
        const longest = Math.min(capMs, firstMs * 2 ** Math.min(attempt, 40))
        const wait = backoffMs({ firstMs, capMs, jitter }, attempt, random)
        expect(wait).toBeLessThanOrEqual(longest)
        expect(wait).toBeGreaterThanOrEqual(Math.floor(longest * (1 - jitter)) - 1)
      },
    ),
  )
})

test.each([
  [1, 0, [0, 0, 0, 0, 0]],
  [1, 0.5, [100, 200, 400, 500, 500]],
  [0.5, 0, [100, 200, 400, 500, 500]],
  [0, 0.9, [200, 400, 800, 1_000, 1_000]],
])('jitter %d with the draw %d', (jitter, random, waits) => {
  expect(
    [0, 1, 2, 3, 1_000].map((attempt) => backoffMs({ firstMs: 200, capMs: 1_000, jitter }, attempt, random)),
  ).toEqual(waits)
})
