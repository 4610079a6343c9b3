// The fast check of a feeder's frame gives the same result as the schema, for any frame.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseFeederFrame, readFeederFrame } from '../../src/block-log/frame-check.ts'
import { FeederFrame } from '../../src/protocol/feed/protocol.ts'

const decimal = fc.constantFrom('1', '0', '0.5', '81308.0', '000.10')
const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>('', '-1', '1e5', '1.', '٣', 'a b', 1.5, -1, 2 ** 53, true),
)
/** Usually `good`, sometimes any value. */
const mostly = <T>(good: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 40, arbitrary: good as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd })
const level = mostly(
  fc
    .record(
      { px: mostly(decimal), sz: mostly(decimal), n: mostly(fc.nat(9)), more: odd },
      { requiredKeys: ['px', 'sz', 'n'] },
    )
    .map(({ more, ...rest }) => (more === 7 ? { ...rest, more } : rest)),
)
const sides = mostly(fc.tuple(fc.array(level, { maxLength: 3 }), fc.array(level, { maxLength: 3 })))
const book = mostly(
  fc.record(
    {
      coin: mostly(fc.constantFrom('BTC', 'xyz:GOLD', '@1', 'x'.repeat(65))),
      levels: sides,
      new: fc.constantFrom(true, true, false),
    },
    { requiredKeys: ['coin', 'levels'] },
  ),
)
const envelope = {
  height: mostly(fc.nat()),
  time: mostly(fc.nat()),
  books: fc.oneof(
    { weight: 9, arbitrary: fc.array(book, { maxLength: 3 }) as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
}
const lists = { fills: fc.constant([]), ledger: fc.constant([]), funding: fc.constant([]) }
const frame = fc.oneof(
  fc.record({ type: fc.constant('block'), ...envelope, ...lists }),
  fc.record({ type: fc.constant('snapshot'), scope: mostly(fc.constantFrom('all', 'coins')), ...envelope }),
  fc.record({ type: mostly(fc.constantFrom('gone', 'hello', 'block')), ...envelope }),
  odd,
)

describe('parseFeederFrame', () => {
  it("returns the schema's result", () => {
    let taken = 0
    fc.assert(
      fc.property(frame, (value) => {
        const expected = FeederFrame.safeParse(value)
        const got = parseFeederFrame(value)
        if (expected.success) taken++
        expect(got.success).toBe(expected.success)
        expect(got.success ? got.data : got.error.issues).toEqual(
          expected.success ? expected.data : expected.error.issues,
        )
      }),
      { numRuns: 3000 },
    )
    // A generator that only produces refused frames would prove little.
    expect(taken).toBeGreaterThan(300)
  })

  // FEED-2
  it('rejects extra fields of a book or level by path', () => {
    const block = (levels: unknown, more = {}) => ({
      type: 'block',
      height: 1,
      time: 1,
      fills: [],
      ledger: [],
      funding: [],
      books: [{ coin: 'BTC', levels, ...more }],
    })
    const issue = (value: unknown) => parseFeederFrame(value).error?.issues[0]?.path.join('.')
    expect(issue(block([[{ px: '1', sz: '1', n: 1, oid: 3 }], []]))).toBe('books.0.levels.0.0')
    expect(issue(block([[], [{ px: '1', sz: 'x', n: 1 }]]))).toBe('books.0.levels.1.0.sz')
    expect(issue(block([[], []], { seq: 1 }))).toBe('books.0')
  })
})

// FEED-3, FEED-37
it('rejects an invalid order of a book by path', () => {
  const order = { user: 'u', oid: 1, side: 'B', limitPx: '1', sz: '1' }
  const fieldOf = (bids: unknown[]) => {
    const part = { type: 'l4', coin: 'BTC', height: 1, time: 1, bids, asks: [], part: 0, parts: 1 }
    const read = readFeederFrame(JSON.stringify(part))
    return read.ok ? null : read.error[0]
  }
  const odd = [null, 7, [], {}, { ...order, sz: 1 }]
  expect(odd.map((one) => fieldOf([order, one]))).toEqual(['bids.1', 'bids.1', 'bids.1', 'bids.1.oid', 'bids.1.sz'])
  expect(fieldOf([order])).toBeNull()
})
