import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repairOf } from '../../src/block-log/gap-repair.ts'

const GAP = { from: 10, to: 20 }
const known = (repaired: number, missing: number, beyond = 0, sources: string[] = []) => ({
  last: 99,
  gaps: [{ ...GAP, repaired, missing, beyond, sources }],
})

describe('the repair of a gap', () => {
  it.each([
    ['without an archive or its report', null, null, []],
    ['above the archive', { last: 15, gaps: [] }, 'open', []],
    ['before anything is archived', { last: null, gaps: [] }, 'open', []],
    ['that the report does not have', { last: 99, gaps: [] }, null, []],
    ['that is missing', known(0, 11), 'open', []],
    ['of which a part is missing', known(5, 6, 0, ['a']), 'partly_repaired', ['a']],
    ['by two sources', known(11, 0, 0, ['a', 'b']), 'repaired', ['a', 'b']],
    ['beyond repair', known(0, 11, 11), 'beyond_repair', []],
    ['of which the rest is beyond repair', known(5, 6, 6, ['a']), 'beyond_repair', ['a']],
    ['of which a part is beyond repair', known(0, 11, 6), 'open', []],
    ['whose blocks were removed after the repair', known(0, 0), null, []],
    ['of which a repaired part was removed', known(5, 0, 0, ['a']), null, ['a']],
  ])('%s', (_, archive, repair, repairedFrom) => {
    expect(repairOf(GAP, archive)).toEqual({ repair, repairedFrom })
  })

  it('is complete exactly if every height is repaired, and open only if heights are missing', () => {
    const heights = fc.tuple(fc.nat(11), fc.nat(11), fc.nat(11)).filter(([a, b, c]) => a + b <= 11 && c <= b)
    fc.assert(
      fc.property(heights, ([repaired, missing, beyond]) => {
        const { repair } = repairOf(GAP, known(repaired, missing, beyond))
        expect(repair === 'repaired').toBe(repaired === 11)
        expect(repair === 'open' || repair === 'partly_repaired').toBe(missing > beyond)
        if (repair === 'beyond_repair') expect(repaired + beyond).toBe(11)
      }),
    )
  })
})
