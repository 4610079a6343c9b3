import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { KEEP_EVERY_MS, KEEP_ROUNDS, KEEPER_DEAD_MS, KEPT_MS, Keeper } from '../../src/core/keeper.ts'
import { sleep } from '../../src/core/timers.client.ts'

const clock = { nowMs: () => Date.now(), sleep }
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('keeps while there is something to keep, and then stands down', async () => {
  const keeper = new Keeper()
  expect(keeper.isAlive(Date.now())).toBe(false)
  const begun = Date.now()
  const rounds: number[] = []
  const over = keeper.run(clock, async (nowMs) => rounds.push(nowMs - begun) < 3)
  expect(keeper.isAlive(Date.now())).toBe(true)
  await vi.advanceTimersByTimeAsync(60_000)
  await over
  expect(rounds).toEqual([1, 2, 3].map((round) => round * KEEP_EVERY_MS))
  expect(keeper.isAlive(begun + 3 * KEEP_EVERY_MS)).toBe(false)
})

it('stands down before the platform ends it, however much there is to keep', async () => {
  const keeper = new Keeper()
  let rounds = 0
  void keeper.run(clock, async () => ++rounds > 0)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(rounds).toBe(KEEP_ROUNDS)
  expect(KEEP_ROUNDS * KEEP_EVERY_MS).toBeLessThan(30_000)
})

it('hands over in good time, so that who comes late is looked after for as long', async () => {
  const keeper = new Keeper()
  const rounds = { first: 0, second: 0 }
  void keeper.run(clock, async () => ++rounds.first > 0)
  while (keeper.isAlive(Date.now())) await vi.advanceTimersByTimeAsync(KEEP_EVERY_MS)
  expect((KEEP_ROUNDS - rounds.first) * KEEP_EVERY_MS).toBe(KEPT_MS)
  void keeper.run(clock, async () => ++rounds.second > 0)
  const before = rounds.first
  await vi.advanceTimersByTimeAsync(KEPT_MS)
  expect(rounds).toEqual({ first: before, second: KEPT_MS / KEEP_EVERY_MS })
})

it('is taken for ended when it shows no sign of life', async () => {
  const keeper = new Keeper()
  void keeper.run(clock, () => new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(KEEP_EVERY_MS)
  const beat = Date.now()
  expect([keeper.isAlive(beat + KEEPER_DEAD_MS - 1), keeper.isAlive(beat + KEEPER_DEAD_MS)]).toEqual([true, false])
})
