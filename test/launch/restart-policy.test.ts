import { expect, test } from 'vitest'
import { restartDelayMs } from '../../src/launch/restart-policy.ts'

test('200 ms, doubled up to 2 s while the child keeps dying, 200 ms again after a steady life', () => {
  const delays = [0]
  for (let i = 0; i < 6; i++) delays.push(restartDelayMs(delays.at(-1)!, 50))
  expect(delays.slice(1)).toEqual([200, 400, 800, 1_600, 2_000, 2_000])
  expect(restartDelayMs(2_000, 5_000)).toBe(200)
})
