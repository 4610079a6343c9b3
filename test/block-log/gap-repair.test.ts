import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repairOf } from '../../src/block-log/gap-repair.ts'

const range = (from: number, to: number, source: string | null) => ({ from, to, source })

describe('the repair of a gap', () => {
  it.each([
    ['without an archive', null, null, []],
    ['of which nothing is known', [], 'open', []],
    ['of which others know', [range(1, 9, 'a'), range(21, 30, null)], 'open', []],
    ['of which a part is missing', [range(10, 14, 'a')], 'partly_repaired', ['a']],
    ['by two sources', [range(5, 14, 'b'), range(15, 30, 'a')], 'repaired', ['a', 'b']],
    ['beyond repair', [range(10, 20, null)], 'beyond_repair', []],
    ['of which the rest is beyond repair', [range(10, 14, 'a'), range(15, 20, null)], 'beyond_repair', ['a']],
    ['of which a part is beyond repair', [range(15, 20, null)], 'open', []],
  ])('%s', (_, outcomes, repair, repairedFrom) => {
    expect(repairOf({ from: 10, to: 20 }, outcomes)).toEqual({ repair, repairedFrom })
  })

  it('is complete exactly if every height is in a repaired range', () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 19 }), { maxLength: 6 })
    fc.assert(
      fc.property(cuts, fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }), (at, isRepaired) => {
        const edges = [0, ...at.toSorted((a, b) => a - b), 20]
        const pieces = edges.slice(1).map((end, index) => range((edges[index] ?? 0) + 1, end, 'a'))
        const outcomes = pieces.filter((_, index) => isRepaired[index])
        const { repair } = repairOf({ from: 1, to: 20 }, outcomes)
        expect(repair === 'repaired').toBe(outcomes.length === pieces.length)
      }),
    )
  })
})
