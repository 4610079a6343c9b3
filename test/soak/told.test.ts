// Compares what a client got with what the node wrote: every kind of wrong row, time and candle is detected. Each soak
// checks that correct data passes.

import { expect, it } from 'vitest'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { EXAMPLE_FILL } from '../../src/relay/channels/fills.ts'
import { rowsOfFills, shownTo, wrongOf } from './rows.ts'
import { Told } from './told.ts'

const [USER, FILL] = EXAMPLE_FILL
const OTHER = `0x${'b2'.repeat(20)}`
/** Both sides of a trade at each second. */
const blocks = Array.from({ length: 9 }, (_, second): UserFill[] => [
  [USER, { ...FILL, tid: second, time: second * 1000 }],
  [OTHER, { ...FILL, tid: second, time: second * 1000, side: 'A', crossed: false }],
])
const node = blocks.flatMap(rowsOfFills)
const body = { type: 'userFills', addresses: [USER] }
const truth = node.filter(shownTo(body)!)

/** A client that is acknowledged at 2 s and told of these seconds. */
function wrong(seconds: readonly number[], isLost = false): string | null {
  const told = new Told(body)
  told.live(2_000)
  for (const second of seconds) told.take({ channel: 'userFills', fills: [blocks[second]![0]!] } as never)
  if (isLost) told.lost()
  return wrongOf(told.segments()[0]!, truth)
}

it.each<[string, readonly number[], boolean, RegExp | null]>([
  ['all since the acknowledgement', [2, 3, 4, 5, 6, 7, 8], false, null],
  ['what was before it, too', [0, 1, 2, 3, 4, 5, 6, 7, 8], false, null],
  ['less where its socket ended', [2, 3], true, null],
  ['nothing where its socket ended', [], true, null],
  ['one left out', [2, 3, 5, 6, 7, 8], false, /after 2 of 6 rows 1 are missing/],
  ['one twice', [2, 3, 3, 4, 5, 6, 7, 8], false, /after 2 of 8 rows one comes again/],
  ['two exchanged', [2, 4, 3, 5, 6, 7, 8], false, /missing/],
  ['the first left out', [3, 4, 5, 6, 7, 8], false, /begins 1 rows late/],
  ['the last left out', [2, 3, 4, 5, 6, 7], false, /the last 1 rows are missing/],
  ['nothing at all', [], false, /the last 7 rows are missing/],
])('of fills: %s', (_, seconds, isLost, says) => {
  if (says === null) expect(wrong(seconds, isLost)).toBe(null)
  else expect(wrong(seconds, isLost)).toMatch(says)
})

it('sees a row that the node did not write', () => {
  const told = new Told(body)
  told.live(0)
  told.take({ channel: 'userFills', fills: [[USER, { ...FILL, tid: 77, time: 0 }]] } as never)
  expect(wrongOf(told.segments()[0]!, truth)).toMatch(/did not write/)
})

// WS-121
it.each<[string, readonly (readonly [ms: number, ageMs: number])[], number | undefined]>([
  [
    'undisturbed',
    [
      [500, 600],
      [2_999, 600],
      [3_100, 600],
      [9_000, 9_000],
    ],
    3_100,
  ],
  [
    'the feed away before it can have heard',
    [
      [500, 600],
      [2_500, 1_600],
      [5_000, 600],
      [5_600, 600],
    ],
    5_600,
  ],
  [
    'the feed away to the end',
    [
      [3_500, 3_500],
      [9_000, 9_000],
    ],
    undefined,
  ],
])('is sure of order statuses when a want has had its time on a way without a break: %s', (_, looks, sureMs) => {
  const told = new Told({ type: 'orderUpdates', user: USER })
  const row = { user: USER, status: 'open', order: { oid: 1, sz: '1' } }
  told.live(0)
  for (const [ms, ageMs] of looks) {
    told.look(ageMs, ms)
    told.take({ channel: 'orderUpdates', updates: [{ ...row, statusTimestamp: ms }] } as never)
  }
  const after = looks.filter(([ms]) => ms >= (sureMs ?? Number.POSITIVE_INFINITY))
  expect(told.segments().map((segment) => [segment.sureMs, segment.ids.length])).toEqual(
    sureMs === undefined ? [] : [[sureMs, after.length]],
  )
})

it('keeps the last state of each coin, candles that began while it looked, and what goes back', () => {
  const book = (coin: string, time: number) => ({ channel: 'l2Book', data: { coin, time, levels: [[], []] } })
  const books = new Told({ type: 'l2Book' })
  books.live(0)
  for (const [coin, time] of [
    ['A', 5],
    ['B', 3],
    ['A', 6],
    ['A', 4],
  ] as const)
    books.take(book(coin, time))
  expect(Object.keys(books.last())).toEqual(['A', 'B'])
  expect(books.back).toEqual(['l2Book: time of A: 6, then 4'])
  const candles = new Told({ type: 'candle' })
  candles.live(0)
  for (const [t, n] of [
    [60, 1],
    [120, 1],
    [120, 2],
    [180, 1],
  ])
    candles.take({ channel: 'candle', data: { t, n } })
  expect(candles.candles()).toEqual([
    { t: 120, n: 2 },
    { t: 180, n: 1 },
  ])
  candles.lost()
  expect(candles.candles()).toEqual([{ t: 120, n: 2 }])
})

const ORDER = { user: USER, coin: 'BTC', side: 'B', limitPx: '7', sz: '1', oid: 1 }
const snapshot = { Snapshot: { block_height: 5, levels: [[ORDER], []] } }
const rows = (height: number, prev: number, oid = 1) => ({
  Updates: {
    time: 1,
    block_height: height,
    prev_block_height: prev,
    order_statuses: [],
    book_diffs: [{ oid, raw_book_diff: 'remove' }],
  },
})
it.each([
  ['rows that fit', [snapshot, rows(5, 4), rows(7, 5)], []],
  ['a Snapshot anew', [snapshot, rows(7, 5), snapshot, rows(8, 5)], []],
  ['rows before it', [rows(7, 5)], ['l4Book: rows come before their Snapshot']],
  ['rows that are missing', [snapshot, rows(7, 6)], ['l4Book: rows between 5 and 6 are missing']],
  ['rows that do not fit', [snapshot, rows(7, 5, 2)], ['l4Book: order 2 is removed but does not exist']],
])('of orders: %s', (_, frames, back) => {
  const told = new Told({ type: 'l4Book', coin: 'BTC' })
  told.live(0)
  for (const data of frames) told.take({ channel: 'l4Book', data } as never)
  expect(told.back).toEqual(back)
})
