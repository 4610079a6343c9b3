// Blocks from before the archive: what a line may be, and what becomes of lines.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BackfillBlock, fillsLine, withBooks } from '../../../src/archive/archive/backfill-lines.ts'
import {
  BackfillQueue,
  backfillCuts,
  bookBreakOf,
  gapsBetween,
  type SegmentSpan,
} from '../../../src/archive/archive/backfill-queue.ts'
import { encodeBlock, hubBlockText } from '../../../src/block-log/segment.ts'
import { inTurns } from '../../../src/core/timers.client.ts'
import type { Block, Levels } from '../../../src/protocol/feed/block.ts'
import { withPayments } from '../../../src/protocol/feed/payments.ts'
import { readBackfill } from '../../kit/at-once.ts'
import { fillWith } from '../../kit/fills.ts'

const EPOCH = '5f0c1d9e-3a52-4c39-9d5f-0b8d6f7a1c11'
const USER = `0x${'1'.repeat(40)}`
const fill = fillWith({
  px: '81308.0',
  sz: '0.00033',
  time: 5,
  startPosition: '0',
  hash: `0x${'0'.repeat(64)}`,
  tid: 2,
})
const block = (height: number, more: Partial<Block> = {}): Block => {
  return { height, time: height * 1000, fills: [[USER, fill]], ledger: [], funding: [], books: null, ...more }
}
const read = (...lines: string[]) => readBackfill(lines.join('\n'))

describe('a backfilled line', () => {
  it('of another archive is stored unchanged, except for the epoch of its missing books', () => {
    const whole = block(7, {
      ledger: [{ users: [USER], time: 6, hash: '0x', delta: { type: 'send', amount: '1' } }],
      funding: [{ coin: 'BTC', perUnit: '0.1' }],
      events: [{ inner: {} }],
      twaps: [{}],
    })
    const { events } = encodeBlock(whole, 'abc', [[0, USER]])
    const answer = read(`${events}\n`)
    expect(answer).toMatchObject({ ok: true, value: [{ height: 7, time: 7000, epoch: null, known: 'events' }] })
    const [stored] = (answer as { value: readonly BackfillBlock[] }).value
    expect(stored!.events).toBe(events.replace('"epoch":"abc"', '"epoch":null'))
    expect(JSON.parse(stored!.books)).toMatchObject({ height: 7, epoch: null, books: null, px: { BTC: '81308.0' } })
  })

  it('keeps the payments of wallets', () => {
    const payments = [`${USER} 6 BTC 1.0 2.0 0.1`]
    const { events, payments: text } = encodeBlock(block(7, { payments }), null)
    const line = withPayments(events, text)
    expect(read(line)).toMatchObject({ ok: true, value: [{ events: line }] })
    expect(read(line.replace('BTC', 'BTC 1'))).toMatchObject({ ok: false, error: { field: 'payments.0' } })
  })

  it('with changes of books is stored as the log stores it, in the epoch of the archived books', () => {
    const books = [{ coin: 'BTC', levels: [[{ px: '1.5', sz: '2.0', n: 1 }], []] as Levels }]
    const logged = encodeBlock(block(7, { books }), EPOCH)
    const plain = encodeBlock(block(7), null).events
    const answer = read(withBooks(plain, EPOCH, books))
    expect(answer).toMatchObject({
      ok: true,
      value: [{ epoch: EPOCH, events: logged.events, books: hubBlockText(logged, () => true) }],
    })
    const field = 'books.changes.0.levels.0.0.px'
    expect(read(withBooks(plain, EPOCH, books).replace('1.5', 'x'))).toMatchObject({ ok: false, error: { field } })
  })

  it('with only fills is marked as such, and is stored unchanged', () => {
    const line = fillsLine(block(7))
    const answer = read(line)
    expect(answer).toMatchObject({ ok: true, value: [{ known: 'fills', events: line }] })
    expect(line).toMatch(/^{"only":"fills","epoch":null,"v":1,"t":"events","height":7,/)
  })

  const line = (change: object) => JSON.stringify({ ...JSON.parse(fillsLine(block(8))), ...change })
  it.each([
    ['cut short', fillsLine(block(8)).slice(0, -9), '', /is not complete JSON/],
    ['empty', ' ', '', /is not complete JSON/],
    ['not an object', '[]', '', /must be an object/],
    ['without a height', line({ height: undefined }), 'height', /is required/],
    ['of a negative height', line({ height: -1 }), 'height', /at least 0/],
    ['of another version', line({ v: 2 }), 'v', /must be 1/],
    ['of books', line({ t: 'block' }), 't', /must be "events"/],
    ['with an unknown field', line({ fils: [] }), 'fils', /unknown field/],
    ['with a bad fill', line({ fills: [[USER, { ...fill, side: 'X' }]] }), 'fills.0.1.side', /must be "B" or "A"/],
    ['with a bad wallet', line({ fills: [['0xABC', fill]] }), 'fills.0.0', /40 lower-case hex digits/],
    ['with a builder of a missing fill', line({ through: [[1, USER]] }), 'through', /does not exist/],
    ['too deep', line({ events: [JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`)] }), '', /nests deeper/],
    ['far above the first height', fillsLine(block(100_008)), 'height', /at most 100007/],
    ['not above the previous height', fillsLine(block(7)), 'height', /must be above 7/],
  ])('%s is rejected with line number and field', (_, text, field, message) => {
    const answer = read(fillsLine(block(7)), text)
    expect(answer).toEqual({ ok: false, error: { line: 2, field, message: expect.stringMatching(message) } })
  })
})

const stored = (height: number, time: number, known: 'fills' | 'events' = 'fills'): BackfillBlock => {
  return { height, time, epoch: null, known, events: `e${height}`, books: `b${height}` }
}
const names = (cuts: readonly { first: number; last: number }[]) => cuts.map(({ first, last }) => `${first}-${last}`)

describe('backfilled segments', () => {
  it('end with the minute, at missing or existing heights, and where the known data changes', () => {
    const minutes = [1, 2, 3].map((height) => stored(height, height * 30_000))
    expect(names(backfillCuts(minutes, [], 99))).toEqual(['1-1', '2-3'])
    const few = [1, 2, 5, 6, 7].map((height) => stored(height, 1))
    expect(names(backfillCuts(few, [{ first: 6, last: 6 }], 99))).toEqual(['1-2', '5-5', '7-7'])
    expect(names(backfillCuts(few, [], 6))).toEqual(['1-2', '5-5'])
    const mixed = [stored(1, 1), stored(2, 2, 'events'), stored(3, 3, 'events')]
    expect(backfillCuts(mixed, [], 99).map(({ first, known }) => [first, known])).toEqual([
      [1, 'fills'],
      [2, 'events'],
    ])
  })

  it('have each height once, for bodies in any order and number, and gaps have the other heights', () => {
    const bodies = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { minLength: 1 }), { minLength: 1 })
    fc.assert(
      fc.property(bodies, fc.integer({ min: 1, max: 41 }), (sent, before) => {
        const held: ReturnType<typeof backfillCuts> = []
        for (const heights of [...sent, ...sent]) {
          const blocks = heights.toSorted((a, b) => a - b).map((height) => stored(height, height * 9_000))
          held.push(...backfillCuts(blocks, held, before))
        }
        const there = held.flatMap(({ events }) => events).sort()
        const all = new Set(sent.flat().filter((height) => height < before))
        expect(there).toEqual([...all].map((height) => `e${height}`).sort())
        const missing = gapsBetween(held).flatMap(({ from, to }) =>
          Array.from({ length: to - from + 1 }, (_, at) => from + at),
        )
        const least = Math.min(...all)
        const most = Math.max(...all)
        const absent = Array.from({ length: 41 }, (_, height) => height).filter(
          (height) => height > least && height < most && !all.has(height),
        )
        expect(missing).toEqual(all.size === 0 ? [] : absent)
      }),
    )
  })

  it('have gaps with the times on both sides', () => {
    const spans = [
      { first: 9, last: 12, firstMs: 90, lastMs: 120 },
      { first: 1, last: 3, firstMs: 10, lastMs: 30 },
      { first: 4, last: 5, firstMs: 40, lastMs: 50 },
    ]
    expect(gapsBetween(spans)).toEqual([{ from: 6, to: 8, afterMs: 50, beforeMs: 90 }])
  })
})

describe('books of backfilled segments', () => {
  it('continue those of the block before, or the segments are refused', () => {
    const epoch = fc.constantFrom(null, 'a', 'b')
    fc.assert(
      fc.property(fc.array(epoch, { minLength: 1, maxLength: 12 }), epoch, fc.nat(12), (epochs, before, hole) => {
        const around = [{ first: 0, last: 9, firstMs: 0, lastMs: 9, epoch: before }]
        const blocks = epochs.map((one, at) => ({ ...stored(10 + at, 10 + at), epoch: one }))
        const cuts = backfillCuts(
          blocks.filter(({ height }) => height !== 10 + hole),
          around,
          99,
        )
        const isWrong = epochs.some((one, at) => {
          const last = at - 1 === hole ? undefined : at === 0 ? before : epochs[at - 1]
          return at !== hole && one !== null && one !== last
        })
        expect(bookBreakOf(cuts, around) !== null).toBe(isWrong)
      }),
    )
  })
})

describe('backfill bodies', () => {
  const holes = Array.from({ length: 250 }, (_, at) => {
    return { ...stored(at * 2, at), events: `{"height":${at * 2},"time":${at},"fills":[]}` }
  })
  const sent = (blocks: readonly BackfillBlock[]) => ({ source: 'test', blocks, checkpoint: null })
  const filling = (bytes: number, maxBytes: number | null, before: number | null = 900) => {
    const held: SegmentSpan[] = []
    const filling = new BackfillQueue({
      last: async () => (before === null ? null : before - 1),
      neighbors: async () => [...held],
      blocks: async () => [],
      uploaded: async () => null,
      write: async (segments) => {
        held.push(...segments)
        return segments.length
      },
      bytes,
      maxBytes: maxBytes,
      inTurns,
      addWritten: () => {},
    })
    return { held, filling }
  }

  it('with too many pieces are stored over several requests', async () => {
    const { held, filling: one } = filling(0, null)
    const nexts: (number | null)[] = []
    for (let next: number | null = 0; next !== null; nexts.push(next)) {
      const from: number = next
      const answer = await one.write(sent(holes.filter(({ height }) => height >= from)))
      next = 'next' in answer ? answer.next : null
    }
    expect(nexts).toEqual([200, 400, null])
    expect(held.length).toBe(250)
  })

  it('of a time outside of their gap are rejected, even if they touch no archived block', async () => {
    const { held, filling: one } = filling(0, null)
    held.push({ first: 1, last: 9, firstMs: 100_000, lastMs: 900_000, epoch: null })
    held.push({ first: 20, last: 29, firstMs: 2_000_000, lastMs: 2_900_000, epoch: null })
    const at = (time: number) => {
      const events = `{"height":15,"time":${time},"fills":[]}`
      return one.write(sent([{ ...stored(15, time), events }]))
    }
    expect(await at(839_999)).toMatchObject({ reason: 'block 15 has the time 839999, but block 9 has 900000' })
    expect(await at(2_060_001)).toMatchObject({ reason: 'block 20 has the time 2000000, but block 15 has 2060001' })
    expect(await at(1_500_000)).toMatchObject({ blocks: 1 })
  })

  it('of a gap are stored even if the archive is full, because a limited archive always is', async () => {
    const { held, filling: one } = filling(100, 100)
    held.push(
      { first: 100, last: 109, firstMs: 100, lastMs: 109, epoch: null },
      { first: 120, last: 129, firstMs: 120, lastMs: 129, epoch: null },
    )
    const at = (height: number) =>
      sent([{ ...stored(height, height), events: `{"height":${height},"time":${height},"fills":[]}` }])
    expect(await one.write(at(115))).toMatchObject({ blocks: 1 })
    expect(await one.write(at(99))).toEqual({ refused: 'full', bytes: 100, maxBytes: 100 })
  })

  it('are rejected if the archive is full or empty, and later bodies are accepted', async () => {
    expect(await filling(91, 100).filling.write(sent(holes))).toEqual({ refused: 'full', bytes: 91, maxBytes: 100 })
    expect(await filling(0, 100, null).filling.write(sent(holes))).toEqual({ refused: 'empty' })
    expect(await filling(89, 100).filling.write(sent(holes.slice(0, 2)))).toMatchObject({ blocks: 2 })
  })
})
