import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Levels } from '../../../src/protocol/feed/block.ts'
import { encodeFrame, PartJoiner } from '../../../src/protocol/feed/parts.ts'
import { BlockFrame } from '../../../src/protocol/feed/protocol.ts'

const sideOf = (count: number) => Array.from({ length: count }, (_, i) => ({ px: `${i}.5`, sz: '1.25', n: 1 }))
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
  const joiner = new PartJoiner()
  return texts.map((text) => joiner.push(BlockFrame.parse(JSON.parse(text))))
}

describe('a frame that is too long', () => {
  // FEED-6
  it('is sent in valid parts within the limit that join to the same frame', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9000), fc.nat(6000)), { maxLength: 4 }), (depths) => {
        const l4 = depths.map(([statuses, diffs], i) => ({
          coin: `C${i}`,
          statuses: Array.from({ length: statuses / 9 }, (_, oid) => ({ oid, cloid: '0'.repeat(900) })),
          diffs: Array.from({ length: diffs / 9 }, (_, oid) => ({ oid })),
        }))
        const books = depths.map(([bids, asks], i) => ({
          coin: `C${i}`,
          levels: [sideOf(bids), sideOf(asks)] satisfies Levels,
        }))
        const frame: BlockFrame = { ...blockOf(0), books, l4 }
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

  it('sends books before order rows', () => {
    const l4 = [{ coin: 'BTC', statuses: Array.from({ length: 900 }, () => ({ cloid: '0'.repeat(900) })), diffs: [] }]
    const [first, ...rest] = encodeFrame({ ...blockOf(5), l4 }).map((text) => BlockFrame.parse(JSON.parse(text)))
    expect([first!.books?.length, rest.length > 0, rest.flatMap(({ books }) => books)]).toEqual([5, true, []])
  })

  // FEED-6
  it('is dropped completely when a part does not fit', () => {
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
  it('are bounded in total', () => {
    const joiner = new PartJoiner()
    const part = (at: number) => ({ ...blockOf(0), part: at, parts: 100 })
    expect(joiner.push(part(0), 10 * 2 ** 20)).toBeNull()
    expect(joiner.push(part(1), 10 * 2 ** 20)).toMatchObject({ refused: expect.any(String) })
    expect(joiner.push(part(0), 10 * 2 ** 20)).toBeNull()
  })
})
