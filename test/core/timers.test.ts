import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { inTurns, takeTurn } from '../../src/core/timers.client.ts'

/** More than half of a turn. */
const STEP_CHARS = 32 * 1024
const CALLERS = 5

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('lets other work run between the steps of several callers together', async () => {
  const order: string[] = []
  const others = setInterval(() => order.push('other'), 1)
  const steps = Array.from({ length: CALLERS }, async (_, caller) => {
    for (let step = 0; step < 2; step++) {
      await takeTurn(STEP_CHARS)
      order.push(`step ${caller}`)
    }
  })
  await vi.advanceTimersByTimeAsync(CALLERS * 2)
  clearInterval(others)
  await Promise.all(steps)
  const turns = order.join(',').split('other')
  expect(order.filter((one) => one !== 'other')).toHaveLength(CALLERS * 2)
  expect(Math.max(...turns.map((turn) => turn.split('step').length - 1))).toBeLessThanOrEqual(2)
})

it('returns what the work returns, with other work in between', async () => {
  function* work() {
    for (let step = 0; step < 4; step++) yield STEP_CHARS
    return 'done'
  }
  let others = 0
  const interval = setInterval(() => others++, 1)
  const result = inTurns(work())
  await vi.advanceTimersByTimeAsync(10)
  clearInterval(interval)
  expect(await result).toBe('done')
  expect(others).toBeGreaterThan(1)
})
