// Reads at a bounded rate: shared values, shared failures, lost reads, and clocks that go backwards.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PacedRead } from '../../src/core/paced-read.ts'

it('starts reads at least an interval apart, also after failures', async () => {
  const calls = fc.array(fc.record({ afterMs: fc.nat(1500), fails: fc.boolean() }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(calls, async (steps) => {
      const starts: number[] = []
      let nowMs = 0
      let fails = false
      const paced = new PacedRead(
        async () => {
          starts.push(nowMs)
          if (fails) throw new Error('no answer')
          return nowMs
        },
        1000,
        5000,
      )
      for (const step of steps) {
        nowMs += step.afterMs
        fails = step.fails
        const value = await paced.value(nowMs).catch(() => null)
        expect(nowMs - (value ?? nowMs)).toBeLessThan(1000)
      }
      for (const [at, startMs] of starts.entries())
        if (at > 0) expect(startMs - starts[at - 1]!).toBeGreaterThanOrEqual(1000)
    }),
  )
})

it('joins a pending read, until it counts as lost', async () => {
  let reads = 0
  const paced = new PacedRead(
    () => (++reads === 1 ? new Promise<number>(() => {}) : Promise.resolve(reads)),
    1000,
    5000,
  )
  void paced.value(0)
  void paced.value(4_999)
  expect(reads).toBe(1)
  expect(await paced.value(5_000)).toBe(2)
})

it('reads again after the clock went backwards', async () => {
  let reads = 0
  const paced = new PacedRead(async () => ++reads, 1000, 5000)
  expect(await paced.value(10_000)).toBe(1)
  expect(await paced.value(9_000)).toBe(2)
})
