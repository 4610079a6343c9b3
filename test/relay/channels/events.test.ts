// Event channels: the frames of a block for a body. Each frame is validated with its channel's schema.

import { describe, expect, test } from 'vitest'
import type { Fill, UserFill } from '../../../src/protocol/feed/block.ts'
import { EXAMPLE_FUNDING } from '../../../src/protocol/info/account-shapes.ts'
import { EXAMPLE_TWAP } from '../../../src/protocol/info/twap-shapes.ts'
import type { BlockEvents } from '../../../src/relay/channel.ts'
import { CHANNELS, channelOf } from '../../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL, EXAMPLE_LIQUIDATION } from '../../../src/relay/channels/fills.ts'
import { EventFanout } from '../../../src/relay/events/event-fanout.ts'
import { EXAMPLE_ORDER } from '../../kit/node-order.ts'
import { eventsTarget, framesOf, textsOf } from '../targets.ts'
import { World } from '../world.ts'

const [USER, EXAMPLE] = EXAMPLE_FILL
const OTHER = `0x${'b2'.repeat(20)}`
const THIRD = `0x${'c3'.repeat(20)}`
const TIME = 1_790_000_000_999
const inCapitals = (address: string) => address.toUpperCase().replace('0X', '0x')
const fillOf = (user: string, more: Partial<Fill> = {}): UserFill => [user, { ...EXAMPLE, ...more }]
const { builder: _, builderFee: __, ...BARE } = EXAMPLE
const bare = (coin: string, tid: number): Fill => ({ ...BARE, coin, px: '1.0', sz: '1.0', fee: '0.1', tid })
const fanoutWith = (...added: [body: { type: string }, send: (text: string) => void][]) => {
  const fanout = new EventFanout(CHANNELS)
  for (const [body, send] of added) fanout.add(JSON.stringify(body), eventsTarget(body), false, { send })
  const deliver = (block: Partial<BlockEvents>) =>
    fanout.deliver({ v: 1, t: 'events', height: 9, time: 90, fills: [], ledger: [], ...block })
  return { fanout, deliver }
}

describe('fills', () => {
  // WS-25
  test('userFills: one frame with all matching fills of a block, and one string for all receivers', () => {
    const body = { type: 'userFills', addresses: [USER, OTHER] }
    const own: UserFill[] = [
      [USER, bare('BTC', 1)],
      [OTHER, bare('ETH', 2)],
    ]
    const fills = own.toSpliced(1, 0, [THIRD, bare('BTC', 1)])
    expect(textsOf(body, { fills })).toEqual([JSON.stringify({ channel: 'userFills', fills: own })])
    expect(textsOf(body, {})).toEqual([])
    const sent: string[] = []
    const fanout = new EventFanout(CHANNELS)
    for (let n = 0; n < 2; n++) fanout.add('k', eventsTarget(body), false, { send: (text) => void sent.push(text) })
    fanout.deliver({ v: 1, t: 'events', height: 9, time: 90, fills, ledger: [] })
    expect([sent.length, new Set(sent).size]).toEqual([2, 1])
  })

  // WS-24, WS-25
  test("userFills with `user`: the fills again in the public server's shape", () => {
    const fills = [bare('BTC', 1), bare('BTC', 2)]
    const block = { fills: [...fills.map((one) => [USER, one]), [OTHER, bare('ETH', 3)]] as UserFill[] }
    const specified = { channel: 'userFills', fills: fills.map((one) => [USER, one]) }
    expect(framesOf({ type: 'userFills', users: [USER] }, block)).toEqual([specified])
    const plain = { ...specified, data: { user: USER, fills } }
    expect(textsOf({ type: 'userFills', user: inCapitals(USER) }, block)).toEqual([JSON.stringify(plain)])
    const merged = { ...bare('BTC', 1), sz: '2.0', fee: '0.2' }
    const mergedFrame = { fills: [[USER, merged]], data: { user: USER, fills: [merged] }, block_height: 9 }
    const aggregated = { type: 'userFills', user: USER, aggregateByTime: true }
    expect(framesOf(aggregated, block, true)).toMatchObject([mergedFrame])
  })

  // WS-24, WS-26
  test('allFills: all markets or one coin; meta adds height and time', () => {
    const fills: UserFill[] = [
      [USER, bare('BTC', 1)],
      [OTHER, bare('ETH', 2)],
    ]
    expect(framesOf({ type: 'allFills' }, { fills })).toEqual([{ channel: 'allFills', fills }])
    const ofEth = { channel: 'allFills', fills: [fills[1]] }
    expect(framesOf({ type: 'allFills', coin: 'ETH' }, { fills })).toEqual([ofEth])
    const meta = framesOf({ type: 'allFills', coin: 'ETH' }, { fills }, true)
    expect(meta).toEqual([{ ...ofEth, block_height: 9, time: 90 }])
  })

  const BUILDER = `0x${'bb'.repeat(20)}`
  const RIVAL = `0x${'cc'.repeat(20)}`
  const liquidation = (of: string) => ({ liquidatedUser: of, markPx: '1.0', method: 'market' as const })
  const liquidationOf = (user: string, more: Partial<Fill> = {}): UserFill => [
    user,
    { ...EXAMPLE_LIQUIDATION[1], liquidation: liquidation(user), ...more },
  ]

  // WS-101
  test('builderFills: all fills of a builder in a block in one frame, in any letter case', () => {
    const fills: UserFill[] = [fillOf(USER), fillOf(OTHER), fillOf(USER, { builder: RIVAL }), [USER, BARE]]
    const body = { type: 'builderFills', builder: inCapitals(BUILDER) }
    expect(framesOf(body, { fills })).toEqual([{ channel: 'builderFills', fills: fills.slice(0, 2) }])
    const both = framesOf({ type: 'builderFills', addresses: [RIVAL, BUILDER, RIVAL] }, { fills }, true)
    expect(both).toEqual([{ channel: 'builderFills', fills: fills.slice(0, 3), block_height: 9, time: 90 }])
    expect(framesOf({ type: 'builderFills', builder: OTHER }, { fills })).toEqual([])
  })

  // WS-101
  test.each([{}, { builder: BUILDER, addresses: [RIVAL] }, { user: USER }])('builderFills rejects %o', (more) => {
    expect(channelOf('builderFills')!.request.safeParse({ type: 'builderFills', ...more }).success).toBe(false)
  })

  // WS-28, WS-101, WS-103
  test.each([
    ['builderFills', fillOf, { sz: '0.02', builderFee: '0.16', builder: BUILDER }],
    ['builderLiquidations', liquidationOf, { sz: '0.02', closedPnl: '-25.0', builder: BUILDER }],
  ])('%s: merges partial fills on request', (type, of, merged) => {
    const through = [[0, BUILDER] as const, [1, BUILDER] as const]
    const block = { fills: [of(USER, { tid: 1 }), of(USER, { tid: 2 })], through }
    const [frame] = framesOf({ type, builder: BUILDER, aggregateByTime: true }, block)
    expect(frame.fills).toMatchObject([[USER, merged]])
  })

  // Field test T7
  test('fills that are no trade are shown like others, and only the auto-deleveraging is a trade', () => {
    const kinds = (dir: string, more: Partial<Fill>, users: readonly string[]) =>
      users.map((user, at) => fillOf(user, { dir, side: at === 0 ? 'A' : 'B', oid: at, ...more }))
    const fills = [
      ...kinds('Settlement', { coin: '#40', px: '0.0', tid: 1, side: 'A' }, [USER, OTHER, THIRD]),
      ...kinds('Negate Outcome', { coin: '#41', px: '0.0', tid: 2, side: 'A' }, [OTHER]),
      ...kinds('Auto-Deleveraging', { coin: 'BTC', tid: 3 }, [USER, OTHER]),
      ...kinds('Spot Dust Conversion', { coin: '@1', tid: 0 }, [USER, OTHER]),
    ]
    const seen = (body: { type: string }) => framesOf(body, { fills }).flatMap((frame) => frame.fills)
    const everybody = { type: 'userFills', addresses: [USER, OTHER, THIRD] }
    const builders = { type: 'builderFills', builder: BUILDER }
    for (const body of [{ type: 'allFills' }, everybody, builders]) expect(seen(body)).toEqual(fills)
    const trades = ['#40', '#41', 'BTC', '@1'].flatMap((coin) => framesOf({ type: 'trades', coin }, { fills }))
    expect(trades.flatMap(({ data }) => data)).toMatchObject([{ coin: 'BTC', tid: 3 }])
  })

  // WS-102
  test('liquidationFills: both sides of every liquidation, and nothing else', () => {
    const taken = fillOf(OTHER, { ...BARE, liquidation: liquidation(USER) })
    const fills = [fillOf(USER), liquidationOf(USER), taken]
    const frame = { channel: 'liquidationFills', fills: fills.slice(1) }
    expect(framesOf({ type: 'liquidationFills' }, { fills })).toEqual([frame])
    expect(framesOf({ type: 'liquidationFills' }, { fills: [fillOf(USER)] })).toEqual([])
  })

  // WS-103
  test('builderLiquidations: liquidations that the log assigns to a builder, by DEX', () => {
    const fills = [fillOf(OTHER), liquidationOf(USER), liquidationOf(OTHER, { coin: 'xyz:GOLD' }), liquidationOf(OTHER)]
    const through = [BUILDER, BUILDER, RIVAL].map((builder, at) => [at + 1, builder] as const)
    const seen = (more: object, block: Partial<BlockEvents> = { fills, through }) =>
      framesOf({ type: 'builderLiquidations', builder: BUILDER, ...more }, block).map((frame) => frame.fills)
    const main = liquidationOf(USER, { builder: BUILDER })
    const gold = liquidationOf(OTHER, { coin: 'xyz:GOLD', builder: BUILDER })
    expect(seen({})).toEqual([[main, gold]])
    expect(seen({ dex: 'main' })).toEqual([[main]])
    expect(seen({ dex: 'xyz' })).toEqual([[gold]])
    expect([...seen({ dex: 'flx' }), ...seen({}, { fills })]).toEqual([])
  })
})

describe('trades', () => {
  const ZERO = `0x${'0'.repeat(64)}`
  const bought = (over: Partial<Fill> = {}) => fillOf(USER, { side: 'B', crossed: false, ...over })
  const sold = (over: Partial<Fill> = {}, user = OTHER) => fillOf(user, { side: 'A', crossed: true, ...over })
  const frames = (fills: readonly UserFill[], coin = 'BTC', meta = false) =>
    framesOf({ type: 'trades', coin }, { fills }, meta)

  // WS-24, WS-46
  test("two fills with one tid are one trade: the taker's side and hash, buyer before seller, public key order", () => {
    const [frame] = frames([bought(), sold({ hash: ZERO })])
    const { coin, px, sz, time, tid } = EXAMPLE
    const expected = { coin, side: 'A', px, sz, time, hash: ZERO, tid, users: [USER, OTHER] }
    expect(JSON.stringify(frame)).toBe(JSON.stringify({ channel: 'trades', data: [expected] }))
    const [reversed] = frames([sold({ crossed: false }), bought({ crossed: true })])
    expect(reversed.data).toMatchObject([{ side: 'B', users: [USER, OTHER] }])
    expect(frames([bought(), sold()], 'BTC', true)).toMatchObject([{ channel: 'trades', block_height: 9, time: 90 }])
  })

  // WS-46
  test('all trades of a block and coin share one frame, in chain order', () => {
    const at = (tid: number, over: Partial<Fill> = {}) => [bought({ tid, ...over }), sold({ tid, ...over })]
    const sent = frames([...at(3), ...at(7, { coin: 'ETH' }), ...at(1), ...at(2)])
    expect(sent.map(({ data }) => data.map((trade: Fill) => trade.tid))).toEqual([[3, 1, 2]])
    expect(frames(at(1), 'SOL')).toEqual([])
  })

  // WS-46
  test('one wallet may be both sides; half a trade, or halves on two coins, are no trade', () => {
    for (const fills of [[bought()], [bought(), sold({ coin: 'ETH' })]]) expect(frames(fills)).toEqual([])
    expect(frames([bought(), sold({}, USER)])[0].data).toMatchObject([{ users: [USER, USER] }])
    expect(frames([bought(), sold(), sold()])[0].data).toHaveLength(1)
    const again = [sold({ hash: ZERO }, THIRD), fillOf(THIRD, { side: 'B', crossed: false, hash: ZERO })]
    const both = [{ users: [USER, OTHER] }, { users: [THIRD, THIRD] }]
    expect(frames([bought(), sold(), ...again])[0].data).toMatchObject(both)
  })

  // WS-46
  test('dust has no trade id, and a settlement at 0 no price: neither is a trade, whatever else the block has', () => {
    const both = (over: Partial<Fill>) => [bought(over), sold(over)]
    const dust = both({ tid: 0, dir: 'Spot Dust Conversion' })
    const settled = both({ tid: 5, px: '0.0', dir: 'Settlement' })
    expect(frames([...dust, ...settled])).toEqual([])
    const deleveraged = both({ tid: 6, dir: 'Auto-Deleveraging' })
    expect(frames([...dust, ...deleveraged, ...settled])[0].data).toMatchObject([{ tid: 6 }])
  })
})

describe('orderUpdates', () => {
  const IN_NODE = { time: '2026-05-05T17:39:13.024084407', hash: null, builder: null }
  const row = (status: string, more: object = {}, user = USER) => {
    return { ...IN_NODE, user, status, order: { ...EXAMPLE_ORDER, ...more } }
  }
  const { coin, side, limitPx, sz, oid, timestamp, origSz } = EXAMPLE_ORDER
  const SHOWN = { coin, side, limitPx, sz, oid, timestamp, origSz }
  const rowOf = (status: string, more: object = {}) => {
    return { order: { ...SHOWN, ...more }, status, statusTimestamp: 1778002753024 }
  }
  const frames = (body: object, orders: readonly unknown[], meta = false) =>
    textsOf({ type: 'orderUpdates', ...body }, { orders }, meta)

  // WS-120
  test("all statuses of one user in a block share one frame, also in the public server's shape", () => {
    const more = { sz: '0.0', cloid: `0x${'0d'.repeat(16)}`, reduceOnly: true }
    const orders = [row('open'), row('open', {}, OTHER), row('filled', more)]
    const data = [rowOf('open'), rowOf('filled', more)]
    const frame = { channel: 'orderUpdates', updates: data.map((update) => ({ user: USER, ...update })), data }
    expect(frames({ user: USER }, orders)).toEqual([JSON.stringify(frame)])
    expect(frames({ user: USER }, orders, true)).toEqual([JSON.stringify({ ...frame, block_height: 9, time: 90 })])
  })

  // WS-120
  test('for several users there is one frame without the bare list, in chain order', () => {
    const orders = [row('canceled'), row('minTradeNtlRejected', {}, OTHER), row('open', {}, THIRD)]
    const updates = [
      { user: USER, ...rowOf('canceled') },
      { user: OTHER, ...rowOf('minTradeNtlRejected') },
    ]
    expect(frames({ users: [OTHER, USER] }, orders)).toEqual([JSON.stringify({ channel: 'orderUpdates', updates })])
    expect(frames({ addresses: [USER] }, orders.slice(1))).toEqual([])
  })

  test('skips rows that do not match the schema', () => {
    const odd = [null, 7, { ...row('open'), time: 'noon' }, row('open', { oid: 'x' }), { ...row('open'), order: null }]
    expect(frames({ user: USER }, odd)).toEqual([])
  })
})

describe("events of one user in the public server's shapes", () => {
  const AT = '2026-09-21T14:13:20.999'
  const stateOf = (user: string) => ({ ...EXAMPLE_TWAP, user })
  const twapOf = (user: string, status: unknown, twap_id = 3) => ({ time: AT, twap_id, state: stateOf(user), status })
  const historyOf = (status: object, twapId = 3) => ({ time: 1_790_000_000, state: stateOf(USER), status, twapId })
  const frames = (type: string, block: Partial<BlockEvents>, meta = false) =>
    framesOf({ type, user: inCapitals(USER) }, { time: TIME, ...block }, meta)

  // WS-104
  test('userEvents: one frame per kind per block on the channel `user`; slice fills separate from other fills', () => {
    const slice = fillOf(USER, { twapId: 3, tid: 9 })
    const fills = [fillOf(USER, { tid: 1 }), fillOf(OTHER), slice, fillOf(USER, { tid: 2 })]
    const twaps = [twapOf(USER, 'finished'), twapOf(OTHER, 'finished')]
    const twapSliceFills = [{ fill: { ...slice[1], twapId: null }, twapId: 3 }]
    const rowOf = [
      { fills: [fills[0]![1], fills[3]![1]] },
      { twapSliceFills },
      { twapHistory: [historyOf({ status: 'finished' })] },
    ]
    expect(frames('userEvents', { fills, twaps })).toEqual(rowOf.map((data) => ({ channel: 'user', data })))
    expect(frames('userEvents', { fills: [fillOf(OTHER)] })).toEqual([])
    const statuses = ['open', 'canceled', 'marginCanceled', 'perpMarginRejected', 'selfTradeCanceled']
    const orders = [USER, OTHER].flatMap((user) =>
      statuses.map((status, oid) => ({ time: twaps[0]!.time, user, status, order: { ...EXAMPLE_ORDER, oid } })),
    )
    const nonUserCancel = [2, 4].map((oid) => ({ coin: 'BTC', oid }))
    expect(frames('userEvents', { orders })).toEqual([{ channel: 'user', data: { nonUserCancel } }])
  })

  // WS-104
  test('userEvents: each funding payment has its own frame, with meta', () => {
    const rowOf = (coin: string) => ({ time: 5, coin, usdc: '-0.1', szi: '1.0', fundingRate: '0.1', nSamples: null })
    const funding = ['BTC', 'ETH'].map((coin) => ({ user: USER, id: coin, row: rowOf(coin) }))
    expect(frames('userEvents', { fetched: { funding } }, true)).toEqual(
      funding.map(({ row }) => ({ channel: 'user', data: { funding: row }, block_height: 9, time: TIME })),
    )
  })

  // WS-105
  test('userTwapSliceFills: the order id is next to the fill, not in it', () => {
    const slice = fillOf(USER, { twapId: 3 })
    const [frame] = frames('userTwapSliceFills', { fills: [fillOf(USER), slice, fillOf(OTHER, { twapId: 3 })] })
    const twapSliceFills = [{ fill: { ...slice[1], twapId: null }, twapId: 3 }]
    const data = { user: USER, twapSliceFills }
    expect(JSON.stringify(frame)).toBe(JSON.stringify({ channel: 'userTwapSliceFills', data }))
  })

  // WS-105
  test('userTwapHistory: seconds, and the failure of an order; skips invalid statuses', () => {
    const odd = [null, 7, { twap_id: 'x' }, { ...twapOf(USER, 'activated'), state: { user: 1 } }, twapOf(USER, 5)]
    const twaps = [...odd, twapOf(USER, 'activated'), twapOf(USER, { error: 'No margin' }, 4)]
    expect(frames('userTwapHistory', { twaps }).map(({ data }) => data.history)).toEqual([
      [historyOf({ status: 'activated' }), historyOf({ status: 'error', description: 'No margin' }, 4)],
    ])
  })

  const sliceOf = (tid: number) => ({ fill: { ...EXAMPLE, twapId: null, tid }, twapId: 3 })
  const twapRow = (time: number) => ({ time, state: EXAMPLE_TWAP, status: { status: 'finished' }, twapId: 3 })
  const paidAt = (time: number) => ({ time, ...EXAMPLE_FUNDING })
  const payment = (time: number) => ({ time, hash: '0x', delta: { type: 'funding', ...EXAMPLE_FUNDING } })
  const slices = { twapSliceFills: [sliceOf(1), sliceOf(2)] }

  // WS-105
  test.each([
    ['userTwapSliceFills', 'userTwapSliceFills', [sliceOf(2), sliceOf(1)], slices],
    ['userTwapHistory', 'twapHistory', [twapRow(2), twapRow(1)], { history: [twapRow(1), twapRow(2)] }],
    ['userFundings', 'userFunding', [payment(1), payment(2)], { fundings: [paidAt(1), paidAt(2)] }],
  ])('%s starts with flagged history, oldest first, and echoes the user in lower case', async (...row) => {
    const [type, asked, answer, list] = row
    const world = new World()
    const questions: unknown[] = []
    world.past = (question) => {
      questions.push(question)
      return { body: JSON.stringify(answer), height: 99 }
    }
    await world.subscribe({ type, user: inCapitals(USER) })
    expect(questions).toMatchObject([{ type: asked, user: USER }])
    const ack = { channel: 'subscriptionResponse', data: { method: 'subscribe', subscription: { type, user: USER } } }
    const first = { channel: type, data: { isSnapshot: true, user: USER, ...list } }
    expect(world.frames.map((frame) => JSON.stringify(frame))).toEqual([ack, first].map((one) => JSON.stringify(one)))
    channelOf(type)!.frame.parse(first)
  })

  // WS-105
  test('userFundings: requests a later start if a response is too large', async () => {
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

  // WS-106
  test('notification: one message per filled resting order, with partial fills merged and zeros trimmed', () => {
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
})

describe('userNonFundingLedgerUpdates', () => {
  const type = 'userNonFundingLedgerUpdates'
  const movement = { time: 90, hash: '0x2', delta: { type: 'send', user: USER, destination: OTHER, amount: '1.0' } }

  // WS-27
  test('one frame per affected wallet per block, without the list of wallets', () => {
    const deposit = { time: 90, hash: '0x3', delta: { type: 'deposit', usdc: '5.0' } }
    const block = {
      ledger: [
        { ...movement, users: [USER, OTHER] },
        { ...deposit, users: [USER] },
      ],
    }
    const envelope = (user: string, nonFundingLedgerUpdates: unknown[], meta = {}) => {
      return { channel: type, data: { user, isSnapshot: false, nonFundingLedgerUpdates, ...meta } }
    }
    const both = [envelope(USER, [movement, deposit]), envelope(OTHER, [movement])]
    expect(framesOf({ type, addresses: [USER, OTHER] }, block)).toEqual(both)
    const withMeta = envelope(OTHER, [movement], { block_height: 9, time: 90 })
    expect(framesOf({ type, addresses: [OTHER] }, block, true)).toEqual([withMeta])
  })

  test('a socket that ends during the send does not affect others', () => {
    const sent: string[] = []
    const { fanout, deliver } = fanoutWith([{ type, addresses: [THIRD] } as never, (text) => void sent.push(text)])
    const ending = { send: () => fanout.remove('ab', ending) }
    fanout.add('ab', eventsTarget({ type, addresses: [USER, OTHER] }), false, ending)
    deliver({ ledger: [{ ...movement, users: [USER, OTHER, THIRD] }] })
    expect(sent).toHaveLength(1)
  })
})

describe('oracleUpdates', () => {
  const type = 'oracleUpdates'
  const px = (text: string) => ({ px: text, last_update_time: '1970-01-01T00:00:00', daily_px: text })
  const oracle = [
    {
      update_class: 'Deployer',
      mark_px_inputs: [
        ['xyz:GOLD', '1.0'],
        ['xyz:GOLD', '1.1'],
        ['xyz:OIL', '2.0'],
      ],
      spot_px_inputs: [],
      external_perp_px_inputs: [['xyz:GOLD', '1.2']],
      oracle_pxs: { coin_to_mark_px: [['xyz:OIL', px('2.0')]], coin_to_oracle_px: [['xyz:TSLA', px('3.0')]] },
    },
    { update_class: 'Fallback', spot_px_inputs: [['flx:BTC', '4.0']] },
  ]
  const goldInputs = { mark_px_inputs: ['1.0', '1.1'], external_perp_px_inputs: ['1.2'] }
  const gold = { coin: 'xyz:GOLD', update_class: 'Deployer', ...goldInputs }
  const oil = { coin: 'xyz:OIL', update_class: 'Deployer', mark_px_inputs: ['2.0'], mark_px: px('2.0') }
  const tsla = { coin: 'xyz:TSLA', update_class: 'Deployer', oracle_px: px('3.0') }
  const btc = { coin: 'flx:BTC', update_class: 'Fallback', spot_px_inputs: ['4.0'] }

  // WS-109, WS-111
  test('a row per market with the fields of its update, for one market, one DEX, or all', () => {
    expect(framesOf({ type }, { oracle })).toEqual([{ channel: type, data: [gold, oil, tsla, btc] }])
    expect(framesOf({ type, dex: 'xyz' }, { oracle })).toEqual([{ channel: type, data: [gold, oil, tsla] }])
    expect(framesOf({ type, coin: 'flx:BTC' }, { oracle }, true)).toEqual([
      { channel: type, data: [btc], block_height: 9, time: 90 },
    ])
    for (const silent of [undefined, []]) expect(textsOf({ type }, { oracle: silent! })).toEqual([])
    expect(channelOf(type)!.published!.parse({ channel: type, data: [gold, oil, tsla, btc] })).toBeDefined()
  })

  test('whatever a node writes, no frame is invalid', () => {
    const odd = [null, 1, {}, { mark_px_inputs: 'x' }, { mark_px_inputs: [null, [], ['a b', '1'], [7, '1']] }]
    expect(textsOf({ type }, { oracle: [...odd, { oracle_pxs: [], spot_px_inputs: [['a:B']] }] })).toEqual([
      JSON.stringify({ channel: type, data: [{ coin: 'a:B', spot_px_inputs: [null] }] }),
    ])
  })
})

describe('writerActions', () => {
  const type = 'writerActions'
  const transfer = {
    user: OTHER,
    nonce: 1,
    evm_tx_hash: '0x',
    action: { type: 'SystemSendAssetAction', destination: USER },
  }
  const order = { user: inCapitals(USER), nonce: 2, action: { type: 'order', orders: [{ a: 1 }] }, later: true }
  const writer = [transfer, null, 'x', order, { nonce: 3, action: null }]

  // WS-110
  test('as the node wrote them: one frame per wallet that acts or receives, or one with all', () => {
    const frame = (data: object) => ({ channel: type, data })
    expect(framesOf({ type, addresses: [USER, OTHER] }, { writer })).toEqual([
      frame({ user: OTHER, actions: [transfer] }),
      frame({ user: USER, actions: [transfer, order] }),
    ])
    expect(framesOf({ type, user: inCapitals(OTHER) }, { writer }, true)).toEqual([
      frame({ user: OTHER, actions: [transfer], block_height: 9, time: 90 }),
    ])
    expect(framesOf({ type }, { writer })).toEqual([frame({ actions: [transfer, order, writer[4]] })])
    expect(textsOf({ type, user: THIRD }, { writer })).toEqual([])
  })
})

describe('the fan-out', () => {
  test("sends a block's frames in catalogue order, whatever the subscription order", () => {
    const addresses = [USER]
    const bodies = [
      { type: 'userFills', addresses },
      { type: 'allFills' },
      { type: 'userFills', addresses, aggregateByTime: true },
      { type: 'allFills', aggregateByTime: true },
      { type: 'userNonFundingLedgerUpdates', addresses },
      { type: 'trades', coin: 'BTC' },
    ]
    const fills: UserFill[] = [1, 2].map((tid) => [USER, bare('BTC', tid)])
    fills.push([OTHER, { ...bare('BTC', 1), side: 'A' }])
    const ledger = [{ users: [USER], time: 1, hash: '0x1', delta: { type: 'send' } }]
    for (const inOrder of [bodies, bodies.toReversed(), [...bodies.slice(3), ...bodies.slice(0, 3)]]) {
      const seen: string[] = []
      const send = (text: string) => void seen.push(`${JSON.parse(text).channel} ${JSON.parse(text).fills?.length}`)
      fanoutWith(...inOrder.map((body) => [body, send] as [{ type: string }, typeof send])).deliver({ fills, ledger })
      expect(seen).toEqual([
        ...['userFills 2', 'allFills 3', 'userFills 1', 'allFills 2'],
        ...['userNonFundingLedgerUpdates undefined', 'trades undefined'],
      ])
    }
  })

  test('sends nothing after the last subscriber left', () => {
    const sent: string[] = []
    const { fanout, deliver } = fanoutWith()
    const one = { send: (text: string) => void sent.push(text) }
    fanout.add('a', eventsTarget({ type: 'allFills' }), false, one)
    for (let n = 0; n < 2; n++) fanout.remove('a', one)
    deliver({ fills: [[USER, bare('BTC', 1)]] })
    expect([sent, fanout.size]).toEqual([[], 0])
  })
})
