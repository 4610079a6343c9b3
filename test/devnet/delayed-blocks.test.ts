// Lines of a block: in order, each written once, except those that a node writes again.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openBlock } from '../../src/devnet/exchange/node-block.ts'
import { MAINNET } from '../../src/devnet/exchange/scale.ts'
import { DelayedBlocks } from '../../src/devnet/files/delayed-blocks.ts'

const MS = 1_000_000n
const BLOCK = 69n * MS
const heights = (blocks: readonly { height: number }[]) => blocks.map(({ height }) => height)

describe('delayed blocks', () => {
  it('are released in order, each only once, with the recorded delays', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 1, max: 40 }), (seed, step) => {
        const delayed = new DelayedBlocks(seed, MAINNET.writeDelayMs)
        const out: number[] = []
        for (let ms = 0n, made = 0; out.length < 100; ms += BigInt(step)) {
          while (made < 100 && BigInt(made) * BLOCK <= ms * MS) delayed.push(openBlock(++made, 0n), ms * MS)
          for (const height of heights(delayed.due(ms * MS))) {
            // At most 578 - 324 ms, plus the step in which it was detected.
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
})
