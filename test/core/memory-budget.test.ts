import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MemoryBudget } from '../../src/core/memory-budget.ts'

it('never has more reserved than its size, and forgets reservations that nobody frees', () => {
  const step = fc.record({ bytes: fc.integer({ min: 1, max: 60 }), afterMs: fc.nat(30), frees: fc.nat(4) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const budget = new MemoryBudget(100)
      let held: { bytes: number; endMs: number; free: () => void }[] = []
      let nowMs = 0
      for (const { bytes, afterMs, frees } of steps) {
        nowMs += afterMs
        held = held.filter(({ endMs }) => endMs > nowMs)
        for (const one of held.splice(0, frees)) {
          one.free()
          // Freeing twice has no effect.
          one.free()
        }
        const used = held.reduce((sum, one) => sum + one.bytes, 0)
        const free = budget.reserve(bytes, nowMs, 50)
        expect(free !== null).toBe(used + bytes <= 100)
        if (free) held.push({ bytes, endMs: nowMs + 50, free })
      }
    }),
  )
})
