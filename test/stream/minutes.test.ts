import { expect, test } from 'vitest'
import type { Minutes } from '../../src/stream/minutes.ts'
import { MinuteBook, nextCharge, paidUntilMs, pay, wokenMinutes } from '../../src/stream/minutes.ts'
import { streamPrice } from '../../src/stream/price.ts'

const minutes = (over: Partial<Minutes> = {}): Minutes => ({
  id: 's1',
  account: 'acme',
  keyHash: 'k',
  type: 'allFills',
  price: 1_000_000,
  sinceMs: 0,
  paid: 1,
  resumed: false,
  ...over,
})

test('prices: one credit a minute, books per coin or flat', () => {
  expect(streamPrice({ type: 'userFills', addresses: ['a', 'b'], aggregate: false })).toBe(1_000_000)
  expect(streamPrice({ type: 'allFills', coin: null, aggregate: false })).toBe(1_000_000)
  expect(streamPrice({ type: 'l2BookDiff', coins: ['BTC'], types: [] })).toBe(130_000)
  expect(streamPrice({ type: 'l2BookDiff2', coins: ['BTC', 'ETH', 'SOL'], types: [] })).toBe(390_000)
  expect(streamPrice({ type: 'l2BookDiff', coins: null, types: ['perp'] })).toBe(10_000_000)
})

test('each minute has a charge id of its own, the same however often it is asked for', () => {
  const running = minutes()
  expect(nextCharge('relay', running)).toEqual(nextCharge('relay', running))
  expect(nextCharge('relay', running)).toMatchObject({ id: 'relay/s1/1', amount: 1_000_000, keyHash: 'k' })
  pay(running)
  expect(nextCharge('relay', running).id).toBe('relay/s1/2')
  expect(paidUntilMs(running)).toBe(120_000)
})

test('nothing of an account is due until a minute ends, then all that end within five seconds', () => {
  const book = new MinuteBook()
  book.start(minutes({ id: 'a' }))
  book.start(minutes({ id: 'b', sinceMs: 4000 }))
  book.start(minutes({ id: 'c', sinceMs: 20_000 }))
  book.start(minutes({ id: 'd', account: 'other', sinceMs: 1000 }))
  expect(book.due(59_999).size).toBe(0)
  expect([...book.due(60_000)].map(([account, due]) => [account, due.map(({ id }) => id)])).toEqual([
    ['acme', ['a', 'b']],
  ])
  expect(book.nextMinuteOf('acme')).toBe(3_000_000)
})

test('the rest of a minute serves one resubscribe of the same key and body', () => {
  const book = new MinuteBook()
  const first = minutes()
  book.start(first)
  book.stop(first, 'k body', 10_000)
  expect(book.resume('k other', 11_000)).toBeNull()
  const again = book.resume('k body', 11_000)
  expect(again).toBe(first)
  expect(book.resume('k body', 11_000)).toBeNull()
  // Resumed and ended again without paying: nothing is kept.
  book.start(again!)
  book.stop(again!, 'k body', 12_000)
  expect(book.resume('k body', 13_000)).toBeNull()
  // Once it has paid a minute of its own, its rest is kept again.
  pay(again!)
  book.stop(again!, 'k body', 70_000)
  expect(book.resume('k body', 80_000)).toBe(first)
})

test('a rest that has run out is not kept and not given', () => {
  const book = new MinuteBook()
  book.stop(minutes(), 'k body', 60_000)
  expect(book.resume('k body', 60_000)).toBeNull()
  book.stop(minutes(), 'k body', 59_000)
  expect(book.resume('k body', 60_000)).toBeNull()
})

test('a relay that wakes charges the current minute again under its old id', () => {
  const { paid: _, resumed: __, ...begun } = minutes({ sinceMs: 1000 })
  const woken = wokenMinutes(begun, 1000 + 150_000)
  expect(nextCharge('relay', woken).id).toBe('relay/s1/2')
})
