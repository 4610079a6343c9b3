import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  HEARTBEAT_COVERAGE_MS,
  HEARTBEAT_DEAD_MS,
  HEARTBEAT_MS,
  HEARTBEAT_ROUNDS,
  Heartbeat,
} from '../../src/core/heartbeat.ts'
import { sleep } from '../../src/core/timers.client.ts'

const clock = { nowMs: () => Date.now(), sleep }
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('runs while there is work, then stops', async () => {
  const keeper = new Heartbeat()
  expect(keeper.isAlive(Date.now())).toBe(false)
  const begun = Date.now()
  const rounds: number[] = []
  const over = keeper.run(clock, async (nowMs) => rounds.push(nowMs - begun) < 3)
  expect(keeper.isAlive(Date.now())).toBe(true)
  await vi.advanceTimersByTimeAsync(60_000)
  await over
  expect(rounds).toEqual([1, 2, 3].map((round) => round * HEARTBEAT_MS))
  expect(keeper.isAlive(begun + 3 * HEARTBEAT_MS)).toBe(false)
})

it('stops before the platform ends it, however much work remains', async () => {
  const keeper = new Heartbeat()
  let rounds = 0
  void keeper.run(clock, async () => ++rounds > 0)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(rounds).toBe(HEARTBEAT_ROUNDS)
  expect(HEARTBEAT_ROUNDS * HEARTBEAT_MS).toBeLessThan(30_000)
})

it('hands over early enough to cover a late caller for the same time', async () => {
  const keeper = new Heartbeat()
  const rounds = { first: 0, second: 0 }
  void keeper.run(clock, async () => ++rounds.first > 0)
  while (keeper.isAlive(Date.now())) await vi.advanceTimersByTimeAsync(HEARTBEAT_MS)
  expect((HEARTBEAT_ROUNDS - rounds.first) * HEARTBEAT_MS).toBe(HEARTBEAT_COVERAGE_MS)
  void keeper.run(clock, async () => ++rounds.second > 0)
  const before = rounds.first
  await vi.advanceTimersByTimeAsync(HEARTBEAT_COVERAGE_MS)
  expect(rounds).toEqual({ first: before, second: HEARTBEAT_COVERAGE_MS / HEARTBEAT_MS })
})

it('counts as ended without a beat', async () => {
  const keeper = new Heartbeat()
  void keeper.run(clock, () => new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS)
  const beat = Date.now()
  expect([keeper.isAlive(beat + HEARTBEAT_DEAD_MS - 1), keeper.isAlive(beat + HEARTBEAT_DEAD_MS)]).toEqual([
    true,
    false,
  ])
})
