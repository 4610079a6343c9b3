// A copy of a coin's orders that takes many blocks is the orders of the last one.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CoinOrders } from '../../src/feeder/coin-orders.ts'
import { OrderCopy } from '../../src/feeder/order-books.ts'

const change = fc.record({
  do: fc.constantFrom('add', 'resize', 'remove'),
  oid: fc.nat(30),
  side: fc.constantFrom('B', 'A'),
  sz: fc.constantFrom('0', '1', '2.5'),
})
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** The orders as a plain map keeps them. */
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

test('law: the copy is the orders as they stand when its last one is taken, whatever changed meanwhile', () => {
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
