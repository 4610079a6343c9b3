// Which heights backfills deliver, and what they are expected to cost.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  estimateRows,
  type HeightRange,
  hasRoomFor,
  MAX_RANGES,
  planBackfill,
  samplesOf,
  withinLimit,
  without,
  withRange,
} from '../../src/pipelines/backfill.ts'

const height = fc.integer({ min: 0, max: 60 })
const heightsOf = (ranges: readonly HeightRange[]) =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at))

describe('ranges', () => {
  it('are sets of heights', () => {
    const range = fc.tuple(height, height).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }))
    fc.assert(
      fc.property(fc.array(range, { maxLength: 8 }), range, (all, one) => {
        const joined = all.reduce<readonly HeightRange[]>(withRange, [])
        const set = new Set(heightsOf(all))
        expect(heightsOf(joined)).toEqual([...set].sort((a, b) => a - b))
        // Ranges that touch are one.
        for (const [at, each] of joined.entries()) if (at > 0) expect(each.from).toBeGreaterThan(joined[at - 1]!.to + 1)
        expect(heightsOf(without(one, joined))).toEqual(heightsOf([one]).filter((each) => !set.has(each)))
      }),
    )
  })
})

describe('the ranges of a pipeline', () => {
  it('are joined from below if they are too many, so that none is lost', () => {
    const ranges = Array.from({ length: MAX_RANGES + 2 }, (_, at) => ({ from: 5 * at, to: 5 * at + 1 }))
    expect(withinLimit(ranges)).toEqual([{ from: 0, to: 11 }, ...ranges.slice(3)])
    expect(withinLimit(ranges.slice(2))).toEqual(ranges.slice(2))
    expect(withinLimit([])).toEqual([])
  })

  it('are never more than it remembers, wherever backfills are canceled, and the gaps between them can be filled', () => {
    const span = 5 * MAX_RANGES
    const order = fc.record({ from: fc.nat(span), blocks: fc.integer({ min: 1, max: 9 }), done: fc.nat(9) })
    const full = Array.from({ length: MAX_RANGES }, (_, at) => ({ from: 5 * at, to: 5 * at + 1 }))
    fc.assert(
      fc.property(fc.array(order, { maxLength: 30 }), (orders) => {
        let ranges: readonly HeightRange[] = full
        for (const { from, blocks, done } of orders) {
          const next = { from, to: from + Math.min(blocks, done) - 1 }
          if (hasRoomFor(ranges, { from, to: from + blocks - 1 })) ranges = withRange(ranges, next)
          expect(ranges.length).toBeLessThanOrEqual(MAX_RANGES)
          for (const { to } of ranges) expect(hasRoomFor(ranges, { from: to + 1, to: span })).toBe(true)
        }
      }),
      { numRuns: 30 },
    )
    expect(hasRoomFor(full, { from: span, to: span })).toBe(false)
    expect(hasRoomFor(full.slice(1), { from: span, to: span })).toBe(true)
  })
})

describe('a backfill', () => {
  // PIPE-36: the law of the cursor.
  it('delivers no height twice, and none that the pipeline delivers, however often it is ordered and canceled', () => {
    const order = fc.record({ from: height, to: height, stopsAfter: fc.integer({ min: 0, max: 60 }) })
    fc.assert(
      fc.property(height, fc.array(order, { maxLength: 12 }), (first, orders) => {
        const delivered: number[] = []
        let backfilled: readonly HeightRange[] = []
        for (const { from, to, stopsAfter } of orders) {
          const plan = planBackfill({ from, to }, { first, height: 60, backfilled }, false)
          const missing = heightsOf([{ from, to }].filter(() => from <= to)).filter(
            (each) => each < first && !delivered.includes(each),
          )
          if (!plan.ok) {
            // It is refused only if nothing is left, or the rest is in several parts.
            const isWhole = missing.length > 0 && missing.at(-1)! - missing[0]! + 1 === missing.length
            expect(isWhole).toBe(false)
            continue
          }
          expect(heightsOf([plan.value])).toEqual(missing)
          const done = { from: plan.value.from, to: Math.min(plan.value.to, plan.value.from + stopsAfter - 1) }
          delivered.push(...heightsOf([done].filter(() => done.from <= done.to)))
          backfilled = withRange(backfilled, done)
        }
        expect(delivered).toHaveLength(new Set(delivered).size)
        expect(delivered.every((each) => each < first)).toBe(true)
      }),
    )
  })

  it('says what to order instead', () => {
    const known = { first: 1_000, height: 2_000, backfilled: [{ from: 300, to: 399 }] }
    const plan = (from: number, to: number, isAgain = false) => {
      const made = planBackfill({ from, to }, known, isAgain)
      return made.ok ? made.value : made.error
    }
    expect(plan(0, 5_000)).toMatch(/Order 0 to 299 and 400 to 999 separately/)
    expect(plan(350, 5_000)).toEqual({ from: 400, to: 999 })
    expect(plan(1_500, 5_000)).toMatch(/must be below block 1,000, .* unless "redeliver" is true/)
    expect(plan(310, 320)).toMatch(/were not delivered before, unless "redeliver" is true/)
    expect(plan(310, 5_000, true)).toEqual({ from: 310, to: 2_000 })
    expect(plan(2_001, 5_000, true)).toBe('must be at most block 2,000')
    expect(plan(20, 10)).toBe('must be at most block 10')
  })
})

describe('an estimate', () => {
  it('reads every block of a short range, and evenly spaced parts of a long one', () => {
    fc.assert(
      fc.property(height, fc.integer({ min: 1, max: 1_000_000 }), (from, blocks) => {
        const samples = samplesOf({ from, to: from + blocks - 1 })
        const heights = samples.reduce((sum, each) => sum + each.to - each.from + 1, 0)
        expect(samples.length).toBeLessThanOrEqual(16)
        expect(heights).toBe(Math.min(blocks, heights))
        if (blocks <= 4_096) expect(heights).toBe(blocks)
        const sorted = [...samples].sort((a, b) => a.from - b.from)
        expect(sorted[0]!.from).toBe(from)
        for (const [at, each] of sorted.entries()) if (at > 0) expect(each.from).toBeGreaterThan(sorted[at - 1]!.to)
        expect(sorted.at(-1)!.to).toBeLessThan(from + blocks)
      }),
    )
  })

  it('is exact if everything was read, and else has a bound above it', () => {
    expect(estimateRows([], 10)).toBeNull()
    expect(estimateRows([{ blocks: 10, rows: 7 }], 10)).toEqual({ rows: 7, most: 7, isExact: true })
    expect(estimateRows([{ blocks: 10, rows: 5 }], 100)).toEqual({ rows: 50, most: 200, isExact: false })
    const spread = [3, 5, 7].map((rows) => ({ blocks: 10, rows }))
    expect(estimateRows(spread, 1_000)).toEqual({ rows: 500, most: 847, isExact: false })
    expect(
      estimateRows(
        [1, 1, 1].map((rows) => ({ blocks: 10, rows })),
        1_000,
      ),
    ).toMatchObject({ rows: 100, most: 100 })
  })
})
