// Snapshots are encoded in parts that are complete together, each in a short time.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OrderBooks } from '../../src/feeder/order-books.ts'
import { type BooksSource, SnapshotEncoder } from '../../src/feeder/snapshot-encoder.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'
import type { SnapshotFrame } from '../../src/protocol/feed/protocol.ts'

/** Order books with this many bids and asks each, and a variant that counts the levels created from them. */
function booksOf(depths: readonly (readonly [number, number])[]) {
  const books = new OrderBooks()
  for (const [index, [bids, asks]] of depths.entries()) {
    const orders = Array.from({ length: bids + asks }, (_, oid) =>
      oid < bids
        ? ({ oid, side: 'B', px: `${oid + 1}.5`, sz: '1.5' } as const)
        : ({ oid, side: 'A', px: `${1e6 - oid}`, sz: '0.1' } as const),
    )
    books.load({ coin: `C${index}`, known: true, orders })
  }
  const count = { levels: 0 }
  const counted: BooksSource = {
    depths: (coin) => books.depths(coin),
    side: (coin, side) => {
      const ladder = books.side(coin, side)
      const slice = (from?: number, to?: number): Level[] => {
        const levels = ladder.slice(from, to)
        count.levels += levels.length
        return levels
      }
      return { length: ladder.length, slice }
    },
  }
  return { books, counted, count }
}

/** Like toEqual, which needs seconds for this much data. */
const isSame = (a: Levels, b: Levels) => JSON.stringify(a) === JSON.stringify(b)

const depth = fc.oneof(fc.nat(20), fc.nat(9_000))

test('the parts add up to the books, and each has at most a few thousand levels', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(depth, depth), { maxLength: 5 }), (depths) => {
      const { books, counted, count } = booksOf(depths)
      const cut = new SnapshotEncoder({ scope: 'all', height: 1, time: 2 }, books.coins(), counted)
      const whole = new Map<string, Levels>()
      while (!cut.isDone) {
        if (cut.prepare()) expect(cut.prepare()).toBe(false)
        count.levels = 0
        const part = JSON.parse(cut.next()!) as SnapshotFrame
        expect(count.levels).toBeLessThanOrEqual(3_072)
        for (const { coin, levels } of part.books) {
          const sides = whole.get(coin) ?? [[], []]
          for (const side of [0, 1] as const) for (const level of levels[side]) sides[side].push(level)
          whole.set(coin, sides)
        }
      }
      expect([...whole.keys()]).toEqual(books.coins())
      for (const coin of books.coins()) expect(isSame(whole.get(coin)!, books.levels(coin))).toBe(true)
    }),
    { numRuns: 25 },
  )
})

test('a snapshot is not continued after its books changed', () => {
  const { books } = booksOf([[5_000, 10]])
  const cut = new SnapshotEncoder({ scope: 'all', height: 1, time: 2 }, books.coins(), books)
  expect(cut.next()).not.toBeNull()
  books.apply({ kind: 'new', oid: 9_999, coin: 'C0', side: 'A', px: '1', sz: '1' })
  books.endBlock()
  while (!cut.isDone) if (cut.next() === null) return
  throw new Error('the change was not noticed')
})
