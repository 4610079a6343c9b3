// From a block's time to its lines: in order, each once, but for those that a node writes again.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openBlock } from '../../src/devnet/exchange/node-block.ts'
import { MAINNET } from '../../src/devnet/exchange/scale.ts'
import { DelayedBlocks } from '../../src/devnet/files/delayed-blocks.ts'

const MS = 1_000_000n
const BLOCK = 69n * MS
const heights = (blocks: readonly { height: number }[]) => blocks.map(({ height }) => height)

describe('delayed blocks', () => {
  it('come out in order, each once, after the delays that were recorded', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 1, max: 40 }), (seed, step) => {
        const delayed = new DelayedBlocks(seed, MAINNET.writeDelayMs)
        const out: number[] = []
        for (let ms = 0n, made = 0; out.length < 100; ms += BigInt(step)) {
          while (made < 100 && BigInt(made) * BLOCK <= ms * MS) delayed.push(openBlock(++made, 0n), ms * MS)
          for (const height of heights(delayed.due(ms * MS))) {
            // At most 578 - 324 ms, and the step in which it was seen.
            expect(Number(ms) - (height - 1) * 69).toBeLessThanOrEqual(254 + 2 * step + 1)
            out.push(height)
          }
        }
        expect(out).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
        expect(delayed.nextNs).toBeNull()
      }),
      { numRuns: 30 },
    )
  })

  it('without a delay are out at once', () => {
    const delayed = new DelayedBlocks(1, null)
    delayed.push(openBlock(1, 0n), 5n)
    expect(delayed.leastNs).toBe(0n)
    expect(heights(delayed.due(5n))).toEqual([1])
  })

  it('wait while a node is down; then the last heights come again, before those that waited', () => {
    const delayed = new DelayedBlocks(1, null)
    for (let height = 1; height <= 30; height++) delayed.push(openBlock(height, 0n), 0n)
    expect(delayed.due(0n)).toHaveLength(30)
    delayed.hold(100n, 3)
    delayed.push(openBlock(31, 0n), 50n)
    delayed.push(openBlock(32, 0n), 60n)
    expect([delayed.due(99n), delayed.nextNs, delayed.isHeld(99n)]).toEqual([[], 100n, true])
    expect(heights(delayed.due(100n))).toEqual([28, 29, 30, 31, 32])
    delayed.push(openBlock(33, 0n), 101n)
    expect(heights(delayed.due(101n))).toEqual([33])
  })
})
