import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Levels } from '../../src/feed/block.ts'
import type { HubSeed } from '../../src/feed/log-api.ts'
import { encodeFrame, PartJoiner } from '../../src/feed/parts.ts'
import { type BlockFrame, FeederFrame, type SnapshotFrame } from '../../src/feed/protocol.ts'
import { joinSeed, seedParts } from '../../src/feed/seed-parts.ts'

const sideOf = (count: number) => Array.from({ length: count }, (_, i) => ({ px: `${i}.5`, sz: '1.25', n: 1 }))
const snapshotOf = (depths: readonly [number, number][]): SnapshotFrame => ({
  type: 'snapshot',
  scope: 'all',
  height: 5,
  time: 6,
  books: depths.map(([bids, asks], i) => ({ coin: `C${i}`, levels: [sideOf(bids), sideOf(asks)] })),
})
const blockOf = (changes: number): BlockFrame => {
  const books = Array.from({ length: changes }, (_, i) => ({ coin: `C${i}`, levels: [sideOf(9), []] as Levels }))
  return {
    type: 'block',
    height: 1,
    time: 2,
    fills: [],
    ledger: [],
    funding: [],
    events: [{ odd: 'é'.repeat(500) }],
    books,
  }
}

const join = (texts: readonly string[]) => {
  const joiner = new PartJoiner<BlockFrame | SnapshotFrame>()
  return texts.map((text) => joiner.push(FeederFrame.parse(JSON.parse(text)) as BlockFrame | SnapshotFrame))
}

describe('a frame that is too long', () => {
  // FEED-6
  it('travels in valid parts within the limit and joins to the same frame', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9000), fc.nat(6000)), { maxLength: 4 }), (depths) => {
        const frame = snapshotOf(depths)
        const texts = encodeFrame(frame)
        for (const text of texts) expect(text.length).toBeLessThanOrEqual(512 * 1024)
        const joined = join(texts)
        expect(joined.slice(0, -1).every((one) => one === null)).toBe(true)
        expect(joined.at(-1)).toEqual(frame)
      }),
      { numRuns: 20 },
    )
    const block = blockOf(200)
    const texts = encodeFrame(block, 8 * 1024)
    expect(texts.length).toBeGreaterThan(5)
    expect(join(texts).at(-1)).toEqual(block)
  })

  // FEED-6
  it('is dropped whole when a part does not belong', () => {
    const texts = encodeFrame(blockOf(200), 8 * 1024)
    const [first, , third] = texts
    expect(join([first!, third!])[1]).toEqual({
      refused: `expected part 1 of the same frame, got part 2 of ${texts.length}`,
    })
    // The joiner is clean afterwards.
    expect(join([first!, third!, ...texts]).at(-1)).toEqual(blockOf(200))
  })
})

describe('the parts of one frame', () => {
  // FEED-6
  it('are bounded together', () => {
    const joiner = new PartJoiner<BlockFrame | SnapshotFrame>()
    const part = (at: number) => ({ ...snapshotOf([]), part: at, parts: 100 })
    expect(joiner.push(part(0), 40 * 2 ** 20)).toBeNull()
    expect(joiner.begun).toMatchObject({ height: 5 })
    expect(joiner.push(part(1), 40 * 2 ** 20)).toEqual({ refused: 'the parts of one frame are over 64 MiB together' })
    expect(joiner.begun).toBeUndefined()
  })
})

describe('a seed for a hub', () => {
  it('is cut between books and levels, and joins again', () => {
    const { books } = snapshotOf([
      [20_000, 100],
      [3, 0],
      [0, 9000],
    ])
    const texts = seedParts({ v: 1, t: 'seed', scope: 'all', epoch: 'e', height: 1, time: 2 }, books)
    expect(texts.length).toBeGreaterThan(1)
    for (const text of texts) expect(text.length).toBeLessThan(1024 * 1024)
    expect(joinSeed(texts.map((text) => JSON.parse(text) as HubSeed))).toEqual(books)
    expect(seedParts({ v: 1, t: 'seed', scope: 'all', epoch: 'e', height: 1, time: 2 }, []).length).toBe(1)
  })
})
