import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ArchiveLine, type Cut, SegmentCutter } from '../../../src/archive/archive/segment-cutter.ts'

const MINUTE_MS = 60_000
const line = (height: number, time: number, epoch: string | null = 'a', chars = 10): ArchiveLine => {
  return { height, time, epoch, events: 'e'.repeat(chars), books: 'b'.repeat(chars) }
}
const heights = (cut: Cut) =>
  'gap' in cut ? `gap ${cut.gap.from}-${cut.gap.to}` : `${cut.segment.first}-${cut.segment.last}`

/** What is whole once all of these came. */
function cutsOf(lines: readonly ArchiveLine[], last: { height: number; time: number } | null = null): Cut[] {
  const cutter = new SegmentCutter(last)
  return lines.flatMap((one) => cutter.addBlock(one))
}

describe('segments end', () => {
  it('with the UTC minute of block time, and have their times and lines', () => {
    const cuts = cutsOf([line(1, 59_000), line(2, 59_999), line(3, 60_000), line(4, 119_999), line(5, 120_000)])
    expect(cuts.map(heights)).toEqual(['1-2', '3-4'])
    const [cut] = cuts as [Extract<Cut, { segment: unknown }>]
    expect(cut.segment).toMatchObject({ firstMs: 59_000, lastMs: 59_999, epoch: 'a', nextMs: 60_000 })
    expect([cut.segment.events.length, cut.segment.books.length]).toEqual([2, 2])
  })

  it('when the epoch of books changes or becomes unknown', () => {
    const lines = [line(1, 1), line(2, 2, null), line(3, 3, null), line(4, 4, 'b'), line(5, MINUTE_MS)]
    expect(cutsOf(lines).map(heights)).toEqual(['1-1', '2-3', '4-4'])
  })

  it('before the block that would exceed the size limit', () => {
    const cutter = new SegmentCutter(null, 100)
    const cuts = [line(1, 1, 'a', 20), line(2, 2, 'a', 20), line(3, 3, 'a', 20), line(4, 4, 'a', 60)]
    expect(cuts.flatMap((one) => cutter.addBlock(one)).map(heights)).toEqual(['1-2', '3-3'])
  })

  it('at missing heights, which are reported with the times on both sides once a later block has arrived', () => {
    const cutter = new SegmentCutter({ height: 4, time: 40 })
    const cuts = cutter.addBlock(line(5, 50)).concat(cutter.addGap(6, 7))
    expect(cuts.map(heights)).toEqual(['5-5'])
    expect(cuts[0]).toMatchObject({ segment: { nextMs: null } })
    expect(cutter.addGap(8, 9)).toEqual([])
    expect(cutter.addBlock(line(10, 100))).toEqual([{ gap: { from: 6, to: 9, afterMs: 50, beforeMs: 100 } }])
  })
})

it('known blocks are ignored, and a block in the wrong order is an error', () => {
  const cutter = new SegmentCutter({ height: 4, time: 40 })
  expect(cutter.addBlock(line(4, MINUTE_MS))).toEqual([])
  expect(() => cutter.addBlock(line(6, 60))).toThrow('block 6 instead of 5')
  expect(() => cutter.addGap(6, 7)).toThrow('gap from 6')
  expect([cutter.height, cutter.endMs]).toEqual([4, null])
})

it('no height is missing before the first block', () => {
  const cutter = new SegmentCutter(null)
  expect(cutter.addGap(0, 99)).toEqual([])
  expect([cutter.addBlock(line(100, 1)), cutter.height, cutter.endMs]).toEqual([[], 100, MINUTE_MS])
})

it('a run that is interrupted and restarted at any block yields the same segments', () => {
  const steps = fc.array(fc.record({ ms: fc.nat(25_000), epoch: fc.constantFrom('a', 'a', 'a', 'b') }), {
    minLength: 2,
  })
  fc.assert(
    fc.property(steps, fc.nat(), (blocks, at) => {
      let time = 0
      const lines = blocks.map(({ ms, epoch }, height) => {
        time += ms
        return line(height, time, epoch)
      })
      const whole = cutsOf(lines)
      const broken = cutsOf(lines.slice(0, at % lines.length))
      const last = broken.at(-1) as Extract<Cut, { segment: unknown }> | undefined
      const again = last
        ? cutsOf(lines.slice(last.segment.last), { height: last.segment.last, time: last.segment.lastMs })
        : cutsOf(lines)
      expect([...broken, ...again]).toEqual(whole)
      const told = whole.flatMap((cut) => ('segment' in cut ? [[cut.segment.first, cut.segment.last] as const] : []))
      for (const [i, [first]] of told.entries()) expect(first).toBe(i === 0 ? 0 : told[i - 1]![1] + 1)
    }),
  )
})
