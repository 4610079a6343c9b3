// The small rules of a backfill: windows, what is there, files by their paths, bodies, words.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatchBuilder } from '../../../src/cli/backfill/backfill-run.ts'
import { durationText, progressLine } from '../../../src/cli/backfill/progress-meter.node.ts'
import type { ReadBlock } from '../../../src/cli/backfill/read-blocks.ts'
import { blockFiles, type FileForm, formOf, isNeeded } from '../../../src/cli/backfill/source-files.ts'
import { billText } from '../../../src/cli/backfill/sources.node.ts'
import { ArchivedRange, BoundValue, isReversed, shareOf, sideOf } from '../../../src/cli/backfill/window.ts'

const bound = (text: string) => BoundValue.safeParse(text)

describe('a window', () => {
  it('consists of heights or times, both ends inclusive', () => {
    expect(bound('985148182').data).toEqual({ height: 985148182 })
    expect(bound('2026-11-01').data).toEqual({ timeMs: Date.UTC(2026, 10, 1) })
    expect(bound('2026-11-01T01:00+01:00').data).toEqual({ timeMs: Date.UTC(2026, 10, 1) })
    for (const text of ['-1', '0x5', '1e3', '01', '2026-13-01', '2026-11-01T00:00', 'now', ''])
      expect(bound(text).error?.issues[0]?.message).toMatch(/block height/)
    const window = { from: { height: 5 }, to: { timeMs: 90 } }
    const sides = [4, 5, 9, 10].map((height) => sideOf({ height, time: height * 10 }, window))
    expect(sides).toEqual(['before', 'in', 'in', 'behind'])
  })

  it('that ends before it starts is recognized, unless a height would be compared with a time', () => {
    expect(isReversed({ height: 5 }, { height: 4 })).toBe(true)
    expect(isReversed({ height: 5 }, { height: 5 })).toBe(false)
    expect(isReversed({ timeMs: 5 }, { timeMs: 4 })).toBe(true)
    expect(isReversed({ height: 5 }, { timeMs: 4 })).toBe(false)
  })

  it('reports the position of a block as a share', () => {
    const end = { height: 1_000, time: 1_000 }
    const shares = [100, 150, 200, 300].map((height) =>
      shareOf({ height, time: 0 }, { from: { height: 100 }, to: { height: 200 } }, end),
    )
    expect(shares).toEqual([0, 0.5, 1, 1])
    expect(shareOf({ height: 550, time: 0 }, { from: { height: 100 }, to: { timeMs: 5 } }, end)).toBe(0.5)
  })
})

/** What a gateway tells of these heights, with a block each 10 ms; the log's own begin at 100. */
function told(heights: readonly number[]): ArchivedRange {
  const all = [...heights.toSorted((a, b) => a - b), 100]
  const gaps = all.slice(1).flatMap((next, at) => {
    const last = all[at]!
    return next === last + 1
      ? []
      : [{ from: last + 1, to: next - 1, after_ms: Math.floor(last / 3) * 10, before_ms: Math.floor(next / 3) * 10 }]
  })
  const placeOf = (height: number) => ({ height, time: Math.floor(height / 3) * 10 })
  return new ArchivedRange(placeOf(all[0]!), placeOf(100), gaps)
}

describe('the archived range', () => {
  const some = fc.uniqueArray(fc.integer({ min: 0, max: 99 }))

  it('contains every height that the gateway has, and no other', () => {
    fc.assert(
      fc.property(some, fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 99 }), (heights, first, more) => {
        const held = told(heights)
        expect(held.has(first)).toBe(heights.includes(first))
        const last = Math.min(99, first + more)
        const range = Array.from({ length: last - first + 1 }, (_, at) => first + at)
        expect(held.hasAll(first, last)).toBe(range.every((height) => heights.includes(height)))
      }),
    )
  })

  it('of times is nothing that misses a block of them', () => {
    fc.assert(
      fc.property(some, fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 90 }), (heights, fromMs, more) => {
        const missing = Array.from({ length: 100 }, (_, height) => height).filter((height) => !heights.includes(height))
        const times = missing.map((height) => Math.floor(height / 3) * 10)
        if (times.some((time) => time >= fromMs && time <= fromMs + more))
          expect(told(heights).hasTimes(fromMs, fromMs + more)).toBe(false)
      }),
    )
    const all = told(Array.from({ length: 100 }, (_, height) => height))
    expect([all.hasTimes(50, 90), all.hasTimes(0, 90), all.hasTimes(50, 331)]).toEqual([true, false, false])
  })

  it('is empty if the archive has only blocks of the log', () => {
    const held = new ArchivedRange(null, { height: 9, time: 9 }, [])
    expect([held.has(3), held.hasAll(1, 2), held.hasTimes(1, 2)]).toEqual([false, false, false])
  })
})

const hour = (day: number, hour: number, stream: string | null = null): FileForm => ({
  kind: 'node',
  stream,
  fromMs: Date.UTC(2026, 10, day, hour),
})
const archived = (first: number, last: number, chain: string | null = 'chain'): FileForm => {
  return { kind: 'archive', chain, first, last }
}
const SEGMENT = '2026-11-01/000000000005-000000000009.events.gz'
const file = (path: string) => ({ path, bytes: 1, open: () => expect.fail('nothing is read') })

describe('files', () => {
  it.each([
    ['/data/node_fills_by_block/hourly/20261101/7', hour(1, 7, 'node_fills_by_block')],
    ['node_fills_by_block/20261101/23.lz4', hour(1, 23, 'node_fills_by_block')],
    ['hourly/20261101/0', hour(1, 0)],
    ['20261101/0.lz4', hour(1, 0)],
    ['/home/me/fills/20261101/0', hour(1, 0)],
    [`/a/archive/chain/${SEGMENT}`, archived(5, 9)],
    [SEGMENT, archived(5, 9, null)],
    ['node_fills/hourly/20261101/7.lz4', hour(1, 7, 'node_fills')],
    ['node_raw_book_diffs_by_block/hourly/20261101/7', hour(1, 7, 'node_raw_book_diffs_by_block')],
    ['node_fills_by_block/hourly/20261101/24', null],
    ['node_fills_by_block/hourly/20261101/7.tmp', null],
    [SEGMENT.replace('events', 'books'), null],
    ['visor_child_stderr/20261101/lz4', null],
  ])('%s', (path, form) => {
    expect(formOf(path)).toEqual(form)
  })

  it('are sorted by time, not alphabetically', () => {
    const paths = ['20261102/0', '20261101/10', '20261101/9'].map((name) => file(`node_fills_by_block/${name}`))
    const planned = blockFiles('S', [...paths, file('README')], 'chain')
    expect(planned.ok && planned.value.map(({ path }) => path.slice(20))).toEqual([
      ...['20261101/9', '20261101/10', '20261102/0'],
    ])
  })

  it.each([
    [[], /^S holds no blocks.*node_fills_by_block/],
    [['notes.txt'], /^S holds no blocks/],
    [['node_fills/hourly/20261101/7'], /^S holds node_fills, .*node_fills_by_block/],
    [['node_fills_streaming/hourly/20261101/7'], /no line for blocks without fills.*--batch-by-block/],
    [['misc_events_by_block/hourly/20261101/7'], /no node_fills_by_block, only misc_events_by_block/],
    [['20261101/7', SEGMENT], /both node files and an archive/],
    [[`archive/testnet/${SEGMENT}`], /gateway \(chain\)/],
  ])('%j are rejected with a fix', (paths, message) => {
    const planned = blockFiles(
      'S',
      paths.map((path) => file(path)),
      'chain',
    )
    expect(planned).toEqual({ ok: false, error: expect.stringMatching(message) })
  })

  it('outside the window, of the log’s own time or all there are not read', () => {
    const before = { height: 10_000, time: Date.UTC(2026, 10, 3, 5, 30) }
    const none = new ArchivedRange(null, before, [])
    const window = { from: { timeMs: Date.UTC(2026, 10, 1, 6) }, to: { timeMs: Date.UTC(2026, 10, 4) } }
    const hours = [hour(1, 4), hour(1, 5), hour(1, 6), hour(3, 5), hour(3, 6), hour(4, 1)]
    expect(hours.map((form) => isNeeded(form, window, none))).toEqual([false, true, true, true, false, false])
    // What the hour before ended with may stand in the next file.
    const from = { height: 1, time: Date.UTC(2026, 10, 1, 0) }
    const gap = { from: 50, to: 60, after_ms: Date.UTC(2026, 10, 1, 8, 30), before_ms: Date.UTC(2026, 10, 1, 8, 31) }
    const held = new ArchivedRange(from, before, [gap])
    expect([7, 8, 9].map((at) => isNeeded(hour(1, at), window, held))).toEqual([false, true, false])
    const late = { ...gap, after_ms: Date.UTC(2026, 10, 1, 8, 55), before_ms: Date.UTC(2026, 10, 1, 8, 56) }
    expect([8, 9].map((at) => isNeeded(hour(1, at), window, new ArchivedRange(from, before, [late])))).toEqual([
      true,
      true,
    ])
    const heights = { from: { height: 20 }, to: { height: 90 } }
    const spans = [archived(10, 19), archived(15, 20), archived(21, 30), archived(55, 70), archived(91, 99)]
    expect(spans.map((form) => isNeeded(form, heights, held))).toEqual([false, false, false, true, false])
    expect(isNeeded(archived(15, 20), heights, none)).toBe(true)
  })
})

describe('batches', () => {
  it('contain every block once and in order, and end at minute boundaries within limits', () => {
    const blocks = fc.array(fc.tuple(fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: 1, max: 400_000 })))
    fc.assert(
      fc.property(blocks, (steps) => {
        let height = 0
        let time = 0
        const all = steps.map(([step, chars]): ReadBlock => {
          height += step
          time += step
          return { height, time, line: 'x'.repeat(chars) }
        })
        const bodies = new BatchBuilder()
        const sent = [...all.map((block) => bodies.push(block)), bodies.flush()].filter((body) => body !== null)
        expect(sent.flat()).toEqual(all)
        for (const body of sent) {
          const chars = body.reduce((sum, { line }) => sum + line.length + 1, 0)
          expect(chars).toBeLessThanOrEqual(2.5 * 1024 * 1024 + 1)
          expect(body.at(-1)!.height - body[0]!.height).toBeLessThanOrEqual(100_000)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('end at the first minute boundary after the target size', () => {
    const bodies = new BatchBuilder()
    const line = 'x'.repeat(600_000)
    const ends = [0, 59_000, 60_000, 61_000, 119_000, 120_000].map((time, height) =>
      bodies.push({ height, time, line }),
    )
    expect(ends.map((body) => body?.length)).toEqual([undefined, undefined, 2, undefined, undefined, 3])
  })
})

it('progress shows the rate and the remaining time', () => {
  const at = { height: 985148182, time: Date.UTC(2026, 4, 5, 17, 39, 13) }
  const progress = { share: 0.3, blocks: 20_000, at, elapsedMs: 10_000 }
  expect(progressLine(progress, 0.1, true)).toBe(
    '[======              ] 30 %, block 985148182 of 2026-05-05T17:39:13Z, 2000 blocks/s, 35 s left',
  )
  expect(progressLine({ ...progress, elapsedMs: 900 }, 0.1, false)).toBe(
    '30 %, block 985148182 of 2026-05-05T17:39:13Z',
  )
  expect([59_001, 61_000, 3_600_000, 90_061_000].map(durationText)).toEqual([
    ...['1 min 0 s', '1 min 1 s', '1 h 0 min', '25 h 1 min'],
  ])
})

it('the estimate for a month of fills matches the known cost', () => {
  expect(billText(720, 24.6 * 2 ** 30, 1)).toMatch(/^720 files, 24\.60 GiB: about \$2\.21 /)
  expect(billText(1, 5, 1)).toMatch(/less than \$0\.01/)
})
