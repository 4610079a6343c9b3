// The files as far as their funding is known.

import { describe, expect, it } from 'vitest'
import { fundedCoverage, paidCoverage, seamOf } from '../../../src/archive/files/seam.ts'

const at = (height: number) => ({ height, time: 10 * height })
const stretch = (from: number, to: number) => ({ from, fromMs: 10 * from, to })
const cover = (...funded: ReturnType<typeof stretch>[]) => ({ from: at(10), to: at(50), gaps: [], funded })
const log = (since: number) => ({ head: at(99), since: at(since), runs: [] })

describe('files', () => {
  it('without known funding have no coverage', () => {
    expect(fundedCoverage(cover())).toBeNull()
    expect(fundedCoverage(cover(stretch(1, 9)))).toBeNull()
  })

  it('are covered from the first known funding, and unknown funding is a gap', () => {
    expect(fundedCoverage(cover(stretch(1, 20), stretch(31, 50)))).toMatchObject({
      from: at(10),
      to: at(50),
      gaps: [{ from: 21, to: 30 }],
    })
    expect(fundedCoverage(cover(stretch(12, 40)))).toMatchObject({ from: at(12), gaps: [{ from: 41, to: 50 }] })
    expect(fundedCoverage(cover(stretch(10, 50)))).toMatchObject({ from: at(10), gaps: [] })
  })

  it('join adjacent ranges in which payments per wallet are known', () => {
    const paid = { ...cover(), paid: [stretch(12, 20), stretch(21, 30), stretch(36, 50)] }
    expect(paidCoverage(paid)).toMatchObject({ from: at(12), gaps: [{ from: 31, to: 35 }] })
    expect(paidCoverage(cover())).toBeNull()
  })

  it('lack the heights of a damaged file, although its funding is known', () => {
    const damaged = { ...cover(stretch(10, 50)), gaps: [{ from: 21, to: 30 }] }
    const { isHole, isMissing } = seamOf(log(51), fundedCoverage(damaged))
    expect([isHole(20, 31), isMissing(21), isMissing(31)]).toEqual([true, true, false])
  })

  it('have no hole between adjacent ranges', () => {
    const { isHole, since } = seamOf(log(51), fundedCoverage(cover(stretch(10, 20), stretch(21, 50))))
    expect([isHole(20, 21), isHole(19, 20), isHole(21, 60)]).toEqual([false, false, false])
    expect(since).toEqual(at(10))
  })

  it('do not report heights as missing that the log has', () => {
    const { isHole, isMissing, since } = seamOf(log(31), fundedCoverage(cover(stretch(10, 40))))
    expect([isHole(30, 60), isMissing(45), since]).toEqual([false, false, at(10)])
  })
})
