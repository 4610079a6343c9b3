// Order-level books: levels are always the sum of their orders, changes are net, contradictions are detected.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareDecimals } from '../../src/core/decimal.ts'
import { readOrder } from '../../src/feeder/checkpoint.ts'
import { CoinOrders } from '../../src/feeder/coin-orders.ts'
import { OrderBooks, OrderCopy } from '../../src/feeder/order-books.ts'
import { type RawDiff, readRawDiff } from '../../src/feeder/raw-diff.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'

const add = (oid: number, px: string, sz: string, side: 'B' | 'A' = 'B', coin = 'BTC'): RawDiff => {
  return { kind: 'new', oid, coin, side, px, sz }
}
const resize = (oid: number, px: string, origSz: string, sz: string): RawDiff => {
  return { kind: 'update', oid, coin: 'BTC', side: 'B', px, origSz, sz }
}
const remove = (oid: number, px: string): RawDiff => ({ kind: 'remove', oid, coin: 'BTC', side: 'B', px })

function block(books: OrderBooks, ...diffs: RawDiff[]) {
  for (const diff of diffs) books.apply(diff)
  return books.endBlock()
}

describe('net changes of a block', () => {
  // FEED-14
  test('a coin without a book is new only with its first entry', () => {
    const books = new OrderBooks()
    expect(block(books, add(1, '10.0', '1.5'))).toEqual([
      { coin: 'BTC', levels: [[{ px: '10.0', sz: '1.5', n: 1 }], []], new: true },
    ])
    expect(block(books, add(2, '10.0', '0.50'))).toEqual([
      { coin: 'BTC', levels: [[{ px: '10.0', sz: '2.0', n: 2 }], []] },
    ])
  })

  test('a coin whose first order was added and removed in one block is not announced yet', () => {
    const books = new OrderBooks()
    expect(block(books, add(1, '10.0', '1'), remove(1, '10.0'))).toEqual([])
    expect(block(books, add(2, '10.0', '1'))[0]!.new).toBe(true)
  })

  // FEED-13
  test('an unchanged level is not emitted; a level with a new count is', () => {
    const books = new OrderBooks()
    block(books, add(1, '10.0', '2.0'), add(2, '11.0', '2.0'))
    const again = [remove(1, '10.0'), add(3, '10.0', '2')]
    const changes = block(books, ...again, remove(2, '11.0'), add(4, '11.0', '1'), add(5, '11.0', '1'))
    expect(changes).toEqual([{ coin: 'BTC', levels: [[{ px: '11.0', sz: '2.0', n: 2 }], []] }])
  })

  test('a filled maker order that is set to zero and then removed is subtracted once', () => {
    const books = new OrderBooks()
    block(books, add(1, '10.0', '2.0'))
    expect(block(books, resize(1, '10.0', '2.0', '0.0'))).toEqual([
      { coin: 'BTC', levels: [[{ px: '10.0', sz: '0', n: 0 }], []] },
    ])
    expect(block(books, add(2, '10.0', '1.0'))).toHaveLength(1)
    expect(block(books, remove(1, '10.0'))).toEqual([])
    expect(books.levels('BTC')).toEqual([[{ px: '10.0', sz: '1.0', n: 1 }], []])
    expect(books.misfits).toBe(0)
  })

  test('levels are sorted best first, even where floats are equal', () => {
    const books = new OrderBooks()
    const low = '0.100000000000000001'
    const high = '0.100000000000000002'
    const [change] = block(books, add(1, low, '1'), add(2, high, '1'), add(3, high, '1', 'A'), add(4, low, '1', 'A'))
    expect(change!.levels.map((side) => side.map(({ px }) => px))).toEqual([
      [high, low],
      [low, high],
    ])
  })
})

describe('contradictions', () => {
  test.each([
    ['remove of an unknown order', remove(9, '10.0')],
    ['update of an unknown order', resize(9, '10.0', '1.0', '0.5')],
    ['update from another size', resize(1, '10.0', '7.0', '0.5')],
    ['new order that exists', add(1, '10.0', '3.0')],
  ])('%s: counted, the coin suspect, others not', (_, diff) => {
    const books = new OrderBooks()
    block(books, add(1, '10.0', '1.0'), add(2, '5.0', '1.0', 'B', 'ETH'))
    block(books, diff)
    expect(books.misfits).toBe(1)
    expect([...books.suspects]).toEqual(['BTC'])
    const truth = new OrderBooks()
    block(truth, add(1, '10.0', '1.0'))
    books.adopt('BTC', truth)
    expect([...books.suspects]).toEqual([])
    expect(books.levels('BTC')).toEqual(truth.levels('BTC'))
  })
})

test('equal sizes in different spellings are the same', () => {
  const books = new OrderBooks()
  block(books, add(1, '10.0', '1.50'), resize(1, '10.0', '1.5', '1.0'))
  expect(books.misfits).toBe(0)
})

test('books with a different price, size, count or side have different digests', () => {
  const book = (...diffs: RawDiff[]) => {
    const books = new OrderBooks()
    block(books, ...diffs)
    return books.digest('BTC')
  }
  const digests = [
    book(),
    book(add(1, '10.0', '2.0')),
    book(add(1, '10.0', '2.000000000000000001')),
    book(add(1, '10.5', '2.0')),
    book(add(1, '10.0', '1.0'), add(2, '10.0', '1.0')),
    book(add(1, '10.0', '2.0', 'A')),
    book(add(1, '10.0', '2.0'), add(2, '10.5', '2.0')),
  ]
  expect(new Set(digests).size).toBe(digests.length)
})

// FEED-13
test('invariant: changes applied to the old levels give the new levels, whatever the diffs', () => {
  const size = fc.constantFrom('0.1', '2.5', '0.00033', '7', '1000000000000.000000000000000001')
  const diff = fc.oneof(
    fc
      .tuple(fc.integer({ min: 1, max: 12 }), fc.constantFrom('9.5', '10.0', '10.5'), size)
      .map(([oid, px, sz]) => add(oid, px, sz)),
    fc.tuple(fc.integer({ min: 1, max: 12 }), size).map(([oid, sz]) => resize(oid, '10.0', sz, sz)),
    fc.integer({ min: 1, max: 12 }).map((oid) => remove(oid, '10.0')),
  )
  fc.assert(
    fc.property(fc.array(fc.array(diff, { maxLength: 12 }), { maxLength: 12 }), (blocks) => {
      const books = new OrderBooks()
      const reader = new Map<string, Levels[0][number]>()
      for (const diffs of blocks) {
        for (const { levels } of block(books, ...diffs))
          for (const level of levels[0])
            if (level.n === 0) reader.delete(level.px)
            else reader.set(level.px, level)
        const sorted = [...reader.values()].sort((a, b) => compareDecimals(b.px, a.px))
        expect(books.levels('BTC')[0]).toEqual(sorted)
        const again = new OrderBooks()
        const copy = books.copy('BTC')
        copy?.step(Number.POSITIVE_INFINITY)
        again.load({ coin: 'BTC', known: true, orders: (copy?.texts ?? []).map(readOrder) })
        expect(again.levels('BTC')).toEqual(books.levels('BTC'))
        expect(again.digest('BTC')).toBe(books.digest('BTC'))
      }
    }),
  )
})

test.each([
  null,
  {},
  { oid: 1.5, coin: 'BTC', side: 'B', px: '1', raw_book_diff: 'remove' },
  { oid: 1, coin: 'BTC', side: 'Bid', px: '1', raw_book_diff: 'remove' },
  { oid: 1, coin: 'BTC', side: 'B', px: '1e5', raw_book_diff: 'remove' },
  { oid: 1, coin: 'BTC', side: 'B', px: '1', raw_book_diff: { new: { sz: '-1' } } },
  { oid: 1, coin: 'BTC', side: 'B', px: '1', raw_book_diff: { update: { newSz: '1' } } },
  { oid: 1, coin: 'B C', side: 'B', px: '1', raw_book_diff: 'remove' },
  { oid: 1, coin: 'B\ufffd', side: 'B', px: '1', raw_book_diff: 'remove' },
  { oid: 1, coin: 'B'.repeat(65), side: 'B', px: '1', raw_book_diff: 'remove' },
  { oid: 1, coin: 'BTC', side: 'B', px: '1', raw_book_diff: { new: { sz: '9'.repeat(31) } } },
])('%j is not a raw diff', (event) => {
  expect(readRawDiff(event)).toBeNull()
})

const change = fc.record({
  do: fc.constantFrom('add', 'resize', 'remove'),
  oid: fc.nat(30),
  side: fc.constantFrom('B', 'A'),
  sz: fc.constantFrom('0', '1', '2.5'),
})
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** The orders in a plain map. */
function apply(book: CoinOrders, truth: Map<number, string>, { do: what, oid, side, sz }: Change): void {
  const text = (from: string) => `${from} ${oid} ${from === 'B' ? 1 : 2} ${sz}`
  if (what === 'add') {
    book.add(oid, side as 'B' | 'A', side === 'B' ? '1' : '2', sz)
    truth.set(oid, text(side))
  } else if (what === 'remove') {
    book.remove(oid)
    truth.delete(oid)
  } else if (book.resize(oid, sz) !== null) truth.set(oid, text(truth.get(oid)![0]!))
}

test('invariant: the copy equals the orders at its end, whatever changed in the meantime', () => {
  const blocks = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.array(change, { maxLength: 6 })))
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), blocks, (before, then) => {
      const book = new CoinOrders('BTC', true)
      const truth = new Map<number, string>()
      for (const one of before) apply(book, truth, one)
      book.endBlock()
      const copy = new OrderCopy(book)
      let left = 0
      for (const [most, changes] of then) {
        left = copy.step(most)
        if (left > 0) break
        for (const one of changes) apply(book, truth, one)
        book.endBlock()
      }
      if (left === 0) expect(copy.step(1_000)).toBeGreaterThan(0)
      expect(copy.texts.toSorted()).toEqual([...truth.values()].sort())
    }),
  )
})
