// Books of a client at exactly one height.

import { expect, it } from 'vitest'
import { bookFrame, Capture } from './capture.ts'

interface Book {
  height: number
  levels: () => [[], []]
}

function world(height: number) {
  const books = new Map<string, Book>()
  const set = (coin: string, at: number) => books.set(coin, { height: at, levels: () => [[], []] })
  const read = (coin: string) => books.get(coin)
  // A stand-in that tells which state was hashed.
  let last = ''
  const capture = new Capture(
    height,
    (coin) => {
      last = `${coin}@${books.get(coin)?.height}`
      return read(coin)
    },
    () => last,
  )
  const frame = (at: number, coins: readonly string[]) => {
    capture.before(at, coins)
    for (const coin of coins) set(coin, at)
  }
  return { capture, set, frame }
}

it('catches each book as it was at the height, whenever it changes next', () => {
  const { capture, set, frame } = world(100)
  for (const coin of ['A', 'B', 'C']) set(coin, 90)
  frame(99, ['A'])
  frame(100, ['B'])
  frame(101, ['A'])
  frame(102, ['A', 'B'])
  // Coins of a late hub follow in frames of lower heights.
  frame(100, ['C'])
  expect(capture.finish(['A', 'B', 'C'])).toEqual({ A: 'A@99', B: 'B@100', C: 'C@100' })
})

it('leaves out what it cannot say', () => {
  const { capture, set, frame } = world(100)
  set('A', 90)
  set('B', 90)
  frame(101, ['A'])
  capture.lost()
  // Came back with a Snapshot above the height.
  set('B', 105)
  frame(106, ['B'])
  expect(capture.finish(['A', 'B', 'C'])).toEqual({ A: 'A@90' })
})

it('says nothing of a stream that never came beyond the height', () => {
  const { capture, set, frame } = world(100)
  set('A', 90)
  frame(100, ['A'])
  expect(capture.finish(['A'])).toEqual({})
})

it('reads the frames of both channels of books, and no others', () => {
  const snapshot = {
    channel: 'l2BookDiff',
    data: { Snapshot: { coin: 'BTC', time: 1, block_height: 7, levels: [[], []] } },
  }
  const diffs = [
    { coin: 'BTC', levels: [[], []] },
    { coin: 'ETH', levels: [[], []] },
  ]
  const updates = {
    channel: 'l2BookDiff2',
    data: { Updates: { time: 1, block_height: 8, epoch: 'e', book_diffs: diffs } },
  }
  expect(bookFrame(JSON.stringify(snapshot))).toEqual({ height: 7, coins: ['BTC'] })
  expect(bookFrame(JSON.stringify(updates))).toEqual({ height: 8, coins: ['BTC', 'ETH'] })
  expect(bookFrame('{"channel":"trades","data":[]}')).toBe(null)
})
