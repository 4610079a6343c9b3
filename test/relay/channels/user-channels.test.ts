// What happened to one user, in the public server's shapes.

import { describe, expect, test } from 'vitest'
import type { Fill, UserFill } from '../../../src/protocol/feed/block.ts'
import { EXAMPLE_FUNDING } from '../../../src/protocol/info/funding-shapes.ts'
import { EXAMPLE_TWAP } from '../../../src/protocol/info/twap-shapes.ts'
import type { ShownEvents } from '../../../src/relay/channel.ts'
import { channelOf } from '../../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { EXAMPLE_ORDER } from '../node-order.ts'
import { framesOf } from '../wanted.ts'
import { World } from '../world.ts'

const [USER, FILL] = EXAMPLE_FILL
const OTHER = `0x${'b2'.repeat(20)}`
const TIME = 1_790_000_000_999

const fillOf = (user: string, more: Partial<Fill> = {}): UserFill => [user, { ...FILL, ...more }]
const twapOf = (user: string, status: unknown, twap_id = 3) => ({
  time: '2026-09-21T14:13:20.999',
  twap_id,
  state: { ...EXAMPLE_TWAP, user },
  status,
})

const frames = (type: string, block: Partial<ShownEvents>, meta = false) =>
  framesOf({ type, user: USER.toUpperCase().replace('0X', '0x') }, { time: TIME, ...block }, meta)

// WS-104
describe('userEvents', () => {
  test('a frame of each kind and block, on the channel `user`; slices apart from other fills', () => {
    const slice = fillOf(USER, { twapId: 3, tid: 9 })
    const fills = [fillOf(USER, { tid: 1 }), fillOf(OTHER), slice, fillOf(USER, { tid: 2 })]
    const twaps = [twapOf(USER, 'finished'), twapOf(OTHER, 'finished')]
    expect(frames('userEvents', { fills, twaps })).toEqual([
      { channel: 'user', data: { fills: [fills[0]![1], fills[3]![1]] } },
      { channel: 'user', data: { twapSliceFills: [{ fill: { ...slice[1], twapId: null }, twapId: 3 }] } },
      {
        channel: 'user',
        data: {
          twapHistory: [
            { time: 1_790_000_000, state: { ...EXAMPLE_TWAP, user: USER }, status: { status: 'finished' }, twapId: 3 },
          ],
        },
      },
    ])
    expect(frames('userEvents', { fills: [fillOf(OTHER)] })).toEqual([])
    const statuses = ['open', 'canceled', 'marginCanceled', 'perpMarginRejected', 'selfTradeCanceled']
    const orders = [USER, OTHER].flatMap((user) =>
      statuses.map((status, oid) => ({ time: twaps[0]!.time, user, status, order: { ...EXAMPLE_ORDER, oid } })),
    )
    const ended = [2, 4].map((oid) => ({ coin: 'BTC', oid }))
    expect(frames('userEvents', { orders })).toEqual([{ channel: 'user', data: { nonUserCancel: ended } }])
  })

  test('each funding payment by itself; meta beside', () => {
    const rowOf = (coin: string) => ({ time: 5, coin, usdc: '-0.1', szi: '1.0', fundingRate: '0.1', nSamples: null })
    const paid = ['BTC', 'ETH'].map((coin) => ({ user: USER, id: coin, row: rowOf(coin) }))
    const meta = { block_height: 9, time: TIME }
    expect(frames('userEvents', { late: { paid } }, true)).toEqual([
      { channel: 'user', data: { funding: rowOf('BTC') }, ...meta },
      { channel: 'user', data: { funding: rowOf('ETH') }, ...meta },
    ])
  })
})

// WS-105
describe('lists of one user', () => {
  test('userTwapSliceFills: the order’s id beside the fill, and none in it', () => {
    const slice = fillOf(USER, { twapId: 3 })
    const [frame] = frames('userTwapSliceFills', { fills: [fillOf(USER), slice, fillOf(OTHER, { twapId: 3 })] })
    const row = { fill: { ...slice[1], twapId: null }, twapId: 3 }
    expect(JSON.stringify(frame)).toBe(
      JSON.stringify({ channel: 'userTwapSliceFills', data: { user: USER, twapSliceFills: [row] } }),
    )
  })

  test('userTwapHistory: seconds, and why an order failed; what is no status is left out', () => {
    const odd = [null, 7, { twap_id: 'x' }, { ...twapOf(USER, 'activated'), state: { user: 1 } }, twapOf(USER, 5)]
    const twaps = [...odd, twapOf(USER, 'activated'), twapOf(USER, { error: 'No margin' }, 4)]
    const [{ data }, ...more] = frames('userTwapHistory', { twaps })
    expect(more).toEqual([])
    const state = { ...EXAMPLE_TWAP, user: USER }
    expect(data.history).toEqual([
      { time: 1_790_000_000, state, status: { status: 'activated' }, twapId: 3 },
      { time: 1_790_000_000, state, status: { status: 'error', description: 'No margin' }, twapId: 4 },
    ])
  })

  const sliceOf = (tid: number) => ({ fill: { ...FILL, twapId: null, tid }, twapId: 3 })
  const twapRow = (time: number) => ({ time, state: EXAMPLE_TWAP, status: { status: 'finished' }, twapId: 3 })
  const paidAt = (time: number) => ({ time, ...EXAMPLE_FUNDING })
  const payment = (time: number) => ({ time, hash: '0x', delta: { type: 'funding', ...EXAMPLE_FUNDING } })

  test.each([
    [
      'userTwapSliceFills',
      'userTwapSliceFills',
      [sliceOf(2), sliceOf(1)],
      { twapSliceFills: [sliceOf(1), sliceOf(2)] },
    ],
    ['userTwapHistory', 'twapHistory', [twapRow(2), twapRow(1)], { history: [twapRow(1), twapRow(2)] }],
    ['userFundings', 'userFunding', [payment(1), payment(2)], { fundings: [paidAt(1), paidAt(2)] }],
  ])(
    '%s begins with what was before, flagged, the oldest first, and echoes the user in lower case',
    async (type, asked, answer, list) => {
      const world = new World()
      const questions: unknown[] = []
      world.past = (question) => {
        questions.push(question)
        return { body: JSON.stringify(answer), height: 99 }
      }
      await world.subscribe({ type, user: `0x${'A1'.repeat(20)}` })
      expect(questions).toMatchObject([{ type: asked, user: USER }])
      const ack = { channel: 'subscriptionResponse', data: { method: 'subscribe', subscription: { type, user: USER } } }
      const first = { channel: type, data: { isSnapshot: true, user: USER, ...list } }
      expect(world.frames.map((frame) => JSON.stringify(frame))).toEqual([ack, first].map((one) => JSON.stringify(one)))
      channelOf(type)!.frame.parse(first)
    },
  )

  test('userFundings: what is too much for one answer is asked for from a later time on', async () => {
    const world = new World()
    world.clock.nowMs = TIME
    const starts: number[] = []
    world.past = ({ startTime }) => {
      starts.push(TIME - (startTime as number))
      const rows = Array.from({ length: starts.length < 3 ? 500 : 2 }, (_, i) => payment(i))
      return { body: JSON.stringify(rows), height: 99 }
    }
    await world.subscribe({ type: 'userFundings', user: USER })
    expect(starts[0]).toBe(24 * 3_600_000)
    expect(starts[0]! / starts[2]!).toBeCloseTo(25, 1)
    expect(world.frames.at(-1).data.fundings).toHaveLength(2)
  })
})

// WS-106
test('notification: a sentence for each resting order that was filled, its parts together, without idle zeros', () => {
  const resting = { crossed: false, px: '1907.60', sz: '0.0063', coin: 'ETH' }
  const fills = [
    fillOf(USER, { ...resting, side: 'B', sz: '0.0040', tid: 1 }),
    fillOf(USER, { ...resting, side: 'B', sz: '0.0023', tid: 2 }),
    fillOf(USER, { ...resting, side: 'A', coin: 'MON', px: '0.023038', sz: '7260.0', oid: 8 }),
    fillOf(USER, { side: 'B' }),
    fillOf(OTHER, { ...resting }),
  ]
  expect(frames('notification', { fills })).toEqual(
    ['Bought 0.0063 ETH at $1907.6', 'Sold 7260 MON at $0.023038'].map((done) => ({
      channel: 'notification',
      data: { notification: `Resting order filled: ${done}` },
    })),
  )
})
