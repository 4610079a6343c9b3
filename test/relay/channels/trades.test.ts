import { expect, test } from 'vitest'
import type { Fill, UserFill } from '../../../src/protocol/feed/block.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { framesOf } from '../wanted.ts'

const [BUYER, FILL] = EXAMPLE_FILL
const SELLER = `0x${'b2'.repeat(20)}`
const ZERO = `0x${'0'.repeat(64)}`

const bought = (over: Partial<Fill> = {}): UserFill => [BUYER, { ...FILL, side: 'B', crossed: false, ...over }]
const sold = (over: Partial<Fill> = {}): UserFill => [SELLER, { ...FILL, side: 'A', crossed: true, ...over }]

const frames = (fills: readonly UserFill[], coin = 'BTC', meta = false) =>
  framesOf({ type: 'trades', coin }, { fills }, meta)

// WS-46
test('two fills with one tid are one trade: the taker’s side and hash, buyer before seller, keys in the public order', () => {
  const [frame] = frames([bought(), sold({ hash: ZERO })])
  const { coin, px, sz, time, tid } = FILL
  const expected = { coin, side: 'A', px, sz, time, hash: ZERO, tid, users: [BUYER, SELLER] }
  expect(JSON.stringify(frame)).toBe(JSON.stringify({ channel: 'trades', data: [expected] }))
  const [reversed] = frames([sold({ crossed: false }), bought({ crossed: true })])
  expect(reversed.data).toMatchObject([{ side: 'B', users: [BUYER, SELLER] }])
})

// WS-46
test('all trades of a block and coin come in one frame, in the order of the chain; others not at all', () => {
  const at = (tid: number, over: Partial<Fill> = {}) => [bought({ tid, ...over }), sold({ tid, ...over })]
  const sent = frames([...at(3), ...at(7, { coin: 'ETH' }), ...at(1), ...at(2)])
  expect(sent).toHaveLength(1)
  expect(sent[0].data.map(({ tid }: { tid: number }) => tid)).toEqual([3, 1, 2])
  expect(frames(at(1), 'SOL')).toEqual([])
})

// WS-46
test('the same tid on two coins is two trades, one wallet may be both sides, and half a trade is none', () => {
  expect(frames([bought(), sold({ coin: 'ETH' })])).toEqual([])
  expect(frames([bought(), [BUYER, sold()[1]]])[0].data).toMatchObject([{ users: [BUYER, BUYER] }])
  expect(frames([bought()])).toEqual([])
})

// WS-46
test('no fill is half of two trades', () => {
  const other = `0x${'d4'.repeat(20)}`
  expect(frames([bought(), sold(), sold()])[0].data).toHaveLength(1)
  const again = frames([bought(), sold(), [other, sold({ hash: ZERO })[1]], [other, bought({ hash: ZERO })[1]]])
  expect(again[0].data).toMatchObject([{ users: [BUYER, SELLER] }, { users: [other, other] }])
})

// WS-24
test('meta adds height and time beside the list', () => {
  expect(frames([bought(), sold()], 'BTC', true)).toMatchObject([{ channel: 'trades', block_height: 9, time: 90 }])
})
