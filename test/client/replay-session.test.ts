// Replayed books: block by block, and how a replay ends.

import { expect, test } from 'vitest'
import { replayBooks } from '../../src/client/replay-session.ts'
import { FakeRuntime } from './fake-runtime.ts'

const SUBSCRIPTION = { type: 'l2BookDiff', coin: ['BTC'] }
const level = (px: string, n = 1) => ({ px, sz: n ? '1.0' : '0', n })
const frame = (data: object) => ({ channel: 'l2BookDiff', data })
const replayFrame = (event: string, more = {}) => ({
  channel: 'replay',
  data: { event, subscription: SUBSCRIPTION, ...more },
})

/** A replay of BTC with an open socket, and its events. */
function setUp() {
  const runtime = new FakeRuntime()
  const received: unknown[] = []
  const books = replayBooks(
    runtime,
    { url: 'http://g', key: 'k' },
    ['BTC'],
    { fromTime: 1, toTime: 9 },
    {
      changed: (book) => received.push([book.height, book.levels(9)[0].map(({ px }) => px)]),
      missing: (from, to) => received.push(['missing', from, to]),
      ended: (reason) => received.push(['ended', reason]),
    },
  )
  runtime.last.open()
  return { runtime, books, received, socket: runtime.last }
}

// WS-155, WS-158
test('builds the book from a replay and reports gaps', () => {
  const { socket, received } = setUp()
  expect(socket.sent.at(-1)).toEqual({
    method: 'subscribe',
    subscription: SUBSCRIPTION,
    replay: { fromTime: 1, toTime: 9 },
  })
  socket.ack()
  socket.receive(frame({ Snapshot: { coin: 'BTC', time: 1, block_height: 7, levels: [[level('2.0')], []] } }))
  const diff = { coin: 'BTC', levels: [[level('1.0'), level('2.0', 0)], []] }
  socket.receive(frame({ Updates: { time: 2, block_height: 8, book_diffs: [diff] } }))
  socket.receive(replayFrame('gap', { from: 9, to: 10 }))
  socket.receive(replayFrame('unknown', { from: 11 }))
  socket.receive(frame({ Snapshot: { coin: 'BTC', time: 4, block_height: 12, levels: [[level('3.0')], []] } }))
  socket.receive(replayFrame('ended'))
  socket.receive(replayFrame('gap', { from: 1, to: 2 }))
  expect(received).toEqual([
    [7, ['2.0']],
    [8, ['1.0']],
    ['missing', 9, 10],
    ['missing', 11, undefined],
    [12, ['3.0']],
    ['ended', null],
  ])
  expect(socket.dropped).toBe(true)
})

test('is controlled by its body', () => {
  const { socket, books } = setUp()
  books.control('pause')
  books.control('seek', { fromBlock: 8 })
  expect(socket.sent.slice(-2)).toEqual([
    { method: 'replay', action: 'pause', subscription: SUBSCRIPTION },
    { method: 'replay', action: 'seek', subscription: SUBSCRIPTION, fromBlock: 8 },
  ])
})

test.each<[string, (socket: FakeRuntime['last']) => void, RegExp]>([
  ['refuses', (socket) => socket.receive({ channel: 'error', data: 'Nothing is archived' }), /^Nothing is archived$/],
  ['ends', (socket) => socket.end({ code: 1006 }), /^close 1006$/],
  ['sends nonsense', (socket) => socket.receive('x'), /not JSON/],
])('ends once when a gateway %s', (_, does, reason) => {
  const { socket, received } = setUp()
  does(socket)
  does(socket)
  expect(received).toEqual([['ended', expect.stringMatching(reason)]])
})
