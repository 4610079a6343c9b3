// Fills by builder, and of liquidations.

import { expect, test } from 'vitest'
import type { Fill, UserFill } from '../../../src/protocol/feed/block.ts'
import { channelOf } from '../../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL, EXAMPLE_LIQUIDATION } from '../../../src/relay/channels/fills.ts'
import { framesOf } from '../wanted.ts'

const [USER, FILL] = EXAMPLE_FILL
const OTHER = `0x${'b2'.repeat(20)}`
const BUILDER = `0x${'bb'.repeat(20)}`
const RIVAL = `0x${'cc'.repeat(20)}`

const fillOf = (user: string, more: Partial<Fill> = {}): UserFill => [user, { ...FILL, ...more }]
const { builder: _, builderFee: __, ...BARE } = FILL
const liquidationOf = (user: string, more: Partial<Fill> = {}): UserFill => [
  user,
  { ...EXAMPLE_LIQUIDATION[1], liquidation: { liquidatedUser: user, markPx: '1.0', method: 'market' }, ...more },
]

// WS-101
test('builderFills: fills of all who came through a builder, in one frame of a block, in the builder’s any case', () => {
  const fills = [fillOf(USER), fillOf(OTHER), fillOf(USER, { builder: RIVAL }), [USER, BARE] satisfies UserFill]
  const body = { type: 'builderFills', builder: BUILDER.toUpperCase().replace('0X', '0x') }
  expect(framesOf(body, { fills })).toEqual([{ channel: 'builderFills', fills: [fillOf(USER), fillOf(OTHER)] }])
  const both = framesOf({ type: 'builderFills', addresses: [RIVAL, BUILDER, RIVAL] }, { fills }, true)
  expect(both).toEqual([{ channel: 'builderFills', fills: fills.slice(0, 3), block_height: 9, time: 90 }])
  expect(framesOf({ type: 'builderFills', builder: OTHER }, { fills })).toEqual([])
})

// WS-28, WS-101
test('builderFills: parts of an order are merged for those who ask', () => {
  const fills = [fillOf(USER, { tid: 1 }), fillOf(USER, { tid: 2 })]
  const [frame] = framesOf({ type: 'builderFills', builder: BUILDER, aggregateByTime: true }, { fills })
  expect(frame.fills).toMatchObject([[USER, { sz: '0.02', builderFee: '0.16', builder: BUILDER }]])
})

// WS-101
test.each([{}, { builder: BUILDER, addresses: [RIVAL] }, { user: USER }])('builderFills refuses %o', (more) => {
  expect(channelOf('builderFills')!.request.safeParse({ type: 'builderFills', ...more }).success).toBe(false)
})

// WS-102
test('liquidationFills: both sides of every liquidation, and nothing else', () => {
  const taken = fillOf(OTHER, { ...BARE, liquidation: { liquidatedUser: USER, markPx: '1.0', method: 'market' } })
  const fills = [fillOf(USER), liquidationOf(USER), taken]
  expect(framesOf({ type: 'liquidationFills' }, { fills })).toEqual([
    { channel: 'liquidationFills', fills: [liquidationOf(USER), taken] },
  ])
  expect(framesOf({ type: 'liquidationFills' }, { fills: [fillOf(USER)] })).toEqual([])
})

// WS-103
test('builderLiquidations: liquidations that the log tells to a builder, whose name stands in the fill; by DEX', () => {
  const fills = [fillOf(OTHER), liquidationOf(USER), liquidationOf(OTHER, { coin: 'xyz:GOLD' }), liquidationOf(OTHER)]
  const through = [
    [1, BUILDER],
    [2, BUILDER],
    [3, RIVAL],
  ] as const
  const seen = (more: object) =>
    framesOf({ type: 'builderLiquidations', builder: BUILDER, ...more }, { fills, through }).map((frame) => frame.fills)
  const main = liquidationOf(USER, { builder: BUILDER })
  const gold = liquidationOf(OTHER, { coin: 'xyz:GOLD', builder: BUILDER })
  expect(seen({})).toEqual([[main, gold]])
  expect(seen({ dex: 'main' })).toEqual([[main]])
  expect(seen({ dex: 'xyz' })).toEqual([[gold]])
  expect(seen({ dex: 'flx' })).toEqual([])
  expect(framesOf({ type: 'builderLiquidations', builder: BUILDER } as never, { fills })).toEqual([])
})

// WS-28, WS-103
test('builderLiquidations: parts of one order are merged for those who ask', () => {
  const fills = [liquidationOf(USER, { tid: 1 }), liquidationOf(USER, { tid: 2 })]
  const body = { type: 'builderLiquidations', builder: BUILDER, aggregateByTime: true }
  const block = { fills, through: [[0, BUILDER] as const, [1, BUILDER] as const] }
  expect(framesOf(body, block)[0].fills).toMatchObject([[USER, { sz: '0.02', closedPnl: '-25.0', builder: BUILDER }]])
})
