// Types served from stored fills: rows, order and completeness.

import { beforeEach, describe, expect, it } from 'vitest'
import type { Fill, UserFill } from '../../../src/protocol/feed/block.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { fillWith } from '../../kit/fills.ts'
import { createWorld, USER, type World } from '../answer/service-world.ts'

const CREDIT = 1_000_000
const BUILDER = `0x${'cd'.repeat(20)}`
const FILL = fillWith({ px: '100.0', time: 0, hash: '0x', fee: '0.5' })
const CLOSE = { side: 'A', startPosition: '1.0', px: '110.0', closedPnl: '10.0', builder: BUILDER } as const
const block = (height: number, ...fills: Partial<Fill>[]): EventBlock => {
  const time = 1_000 + height
  return { height, time, fills: fills.map((more): UserFill => [USER, { ...FILL, time, ...more }]), funding: [] }
}
/** A round trip in BTC, two that close at once, and one on a builder-deployed DEX. */
const RUN = [
  block(10, {}, { coin: 'ETH' }, { coin: 'xyz:GOLD' }),
  block(20, CLOSE),
  block(30, {}),
  block(40, { ...CLOSE, builder: undefined }, { ...CLOSE, coin: 'ETH' }),
  block(50, { ...CLOSE, coin: 'xyz:GOLD' }),
]
const LAST = { height: 60, time: 1_060 }

let world: World
beforeEach(() => {
  world = createWorld()
  world.held = { head: LAST, since: { height: 5, time: 1_005 }, runs: [RUN] }
})

type Row = { coin: string; close_time: number; tx_index: number; time: number; tid: number; fee: string; sz: string }
async function rows(request: object): Promise<Row[]> {
  world.now += 10_000
  const reply = await world.send(request)
  if (reply.status !== 200) throw new Error(reply.body)
  return JSON.parse(reply.body)
}
const named = (trades: readonly Row[]) =>
  trades.map(({ coin, close_time, tx_index }) => `${coin} ${close_time}_${tx_index}`)
const ALL = ['BTC 1020_0', 'BTC 1040_0', 'ETH 1040_1', 'xyz:GOLD 1050_0']

describe('every response from the history', () => {
  it.each([
    ['builderFills', { builder: BUILDER }],
    ['userCompletedTrades', { user: USER }],
    ['userCompletedTradesByTime', { user: USER, startTime: 0 }],
    ['userPnlSummary', { user: USER }],
  ])('%s reports its height and completeness', async (type, more) => {
    const { headers } = await world.send({ type, ...more })
    expect(headers).toMatchObject({
      'x-block-height': '60',
      'x-history-from-height': '5',
      'x-history-from-time': '1005',
    })
    // A cached response reports the same.
    expect((await world.send({ type, ...more })).headers).toEqual({
      ...headers,
      age: '0',
      'x-credits-remaining': String(1_000 - world.charged.reduce((sum, one) => sum + one, 0) / CREDIT),
    })
    expect(world.bookCalls).toBe(1)
  })

  it('is computed only after the hold', async () => {
    world.balance = 10 * CREDIT - 1
    expect((await world.send({ type: 'userPnlSummary', user: USER })).status).toBe(402)
    expect(world.bookCalls).toBe(0)
  })

  it('is empty for a window before the stored history', async () => {
    const trades = { type: 'userCompletedTradesByTime', user: USER, startTime: 0, endTime: 900 }
    expect(await rows(trades)).toEqual([])
    expect(await rows({ type: 'builderFills', builder: BUILDER, cursor: '900' })).toEqual([])
    expect(await rows({ type: 'userPnlSummary', user: USER, endTime: 900 })).toMatchObject({
      totalTrades: 0,
      totalPnl: '0',
    })
  })
})

describe('userCompletedTradesByTime', () => {
  const ask = (more: object) => rows({ type: 'userCompletedTradesByTime', user: USER, ...more }).then(named)

  it('returns the oldest first, both ends inclusive', async () => {
    expect(await ask({ startTime: 0 })).toEqual(ALL)
    expect(await ask({ startTime: 1_020, endTime: 1_040 })).toEqual(ALL.slice(0, 3))
    expect(await ask({ startTime: 1_021, endTime: 1_039 })).toEqual([])
  })

  it('continues after a cursor, with or without a start', async () => {
    expect(await ask({ cursor: '1040_0' })).toEqual(ALL.slice(2))
    expect(await ask({ cursor: '1040_0', startTime: 1_041 })).toEqual(ALL.slice(3))
    expect(await ask({ cursor: '1050_0' })).toEqual([])
  })

  it('filters by builder, DEX and limit without changing ordinals', async () => {
    const startTime = 0
    expect(await ask({ startTime, builder: BUILDER.toUpperCase().replace('X', 'x') })).toEqual([ALL[0], ALL[2], ALL[3]])
    expect(await ask({ startTime, dex: 'main_dex' })).toEqual(ALL.slice(0, 3))
    expect(await ask({ startTime, dex: '' })).toEqual(ALL.slice(0, 3))
    expect(await ask({ startTime, dex: 'xyz' })).toEqual(ALL.slice(3))
    expect(await ask({ startTime, dex: 'ALL_DEXES' })).toEqual(ALL)
    expect(await ask({ startTime, dex: 'nope' })).toEqual([])
    expect(await ask({ startTime, limit: 2 })).toEqual(ALL.slice(0, 2))
  })

  it('requires a start or a cursor, and an end not before the start', async () => {
    const send = (more: object) => world.send({ type: 'userCompletedTradesByTime', user: USER, ...more })
    expect(JSON.parse((await send({})).body).msg).toMatch(/^startTime: /)
    expect((await send({ startTime: 2, endTime: 1 })).status).toBe(422)
    for (const cursor of ['1', '1_', '_1', '1_1_1', '-1_0', '1.5_0'])
      expect((await send({ cursor })).status, cursor).toBe(422)
    expect((await send({ cursor: '1061_0' })).status, 'of no block yet').toBe(422)
    expect((await send({ startTime: 0, limit: -1 })).status).toBe(422)
    expect(world.charged).toEqual([])
  })

  it('returns 100 rows by default and at most 500', async () => {
    const many = Array.from({ length: 600 }, (_, i) => [block(100 + 2 * i, {}), block(101 + 2 * i, CLOSE)]).flat()
    world.held = { ...world.held, runs: [many] }
    expect(await ask({ startTime: 0 })).toHaveLength(100)
    expect(await ask({ startTime: 0, limit: 10_000 })).toHaveLength(500)
  })
})

describe('userCompletedTrades', () => {
  const ask = (more: object = {}) => rows({ type: 'userCompletedTrades', user: USER, ...more }).then(named)

  it('returns the newest first', async () => {
    expect(await ask()).toEqual(ALL.toReversed())
    expect(await ask({ limit: 2 })).toEqual(ALL.slice(2).reverse())
    expect(await ask({ dex: 'main_dex', builder: BUILDER })).toEqual([ALL[2], ALL[0]])
  })

  it('carries no position across a gap', async () => {
    world.held = { ...world.held, runs: [RUN.slice(0, 3), RUN.slice(3)] }
    expect(await ask()).toEqual(['BTC 1020_0'])
  })
})

describe('positions across a gap', () => {
  const asked = [
    ['userCompletedTrades', {}, ['1040_0', '1040_1', '1050_0']],
    ['userCompletedTrades', { limit: 1 }, ['1040_0', '1040_1', '1050_0']],
    ['userCompletedTrades', { dex: 'xyz' }, ['1050_0']],
    ['userCompletedTrades', { builder: BUILDER }, ['1040_1', '1050_0']],
    ['userCompletedTradesByTime', { startTime: 0 }, ['1040_0', '1040_1', '1050_0']],
    ['userCompletedTradesByTime', { startTime: 0, limit: 1 }, []],
    ['userCompletedTradesByTime', { cursor: '1040_0' }, ['1040_1', '1050_0']],
    ['userPnlSummary', {}, ['1040_0', '1040_1', '1050_0']],
    ['userPnlSummary', { endTime: 1_049 }, ['1040_0', '1040_1']],
  ] as const

  it.each(asked)('%s with %j counts the omitted %j', async (type, more, omitted) => {
    world.held = { ...world.held, runs: [RUN.slice(0, 3), RUN.slice(3)] }
    const { status, headers, body } = await world.send({ type, user: USER, ...more })
    expect(status).toBe(200)
    const counted = type === 'userPnlSummary' ? JSON.parse(body).omittedTrades : headers['x-omitted-trades']
    expect(Number(counted)).toBe(omitted.length)
  })
})

// Field test T10
it('a position that did not continue is omitted and counted, and the others are exact', async () => {
  const runOf = (startPosition: string) =>
    RUN.toSpliced(1, 1, block(15, { startPosition }), block(20, { ...CLOSE, sz: '2.0', startPosition: '2.0' }))
  const ask = async (type: string, startPosition: string) => {
    world.held = { ...world.held, runs: [runOf(startPosition)] }
    world.now += 10_000
    const { headers, body } = await world.send({ type, user: USER })
    return { omitted: headers['x-omitted-trades'], found: JSON.parse(body) }
  }
  const { found: exact, omitted: none } = await ask('userCompletedTrades', '1.0')
  const { found, omitted } = await ask('userCompletedTrades', '1.5')
  expect([exact.length, none, omitted]).toEqual([4, '0', '1'])
  expect(found).toEqual(exact.filter(({ close_time }: Row) => close_time !== 1_020))
  const { found: whole } = await ask('userPnlSummary', '1.0')
  const { found: summary } = await ask('userPnlSummary', '1.5')
  expect(whole).toMatchObject({ totalTrades: 4, omittedTrades: 0 })
  expect(summary).toMatchObject({ totalTrades: 3, omittedTrades: 1 })
})

describe('userPnlSummary', () => {
  it('sums up the trades of a window', async () => {
    const request = { type: 'userPnlSummary', user: USER, startTime: 1_030, endTime: 1_050 }
    expect(await rows(request)).toEqual({
      user: USER,
      totalPnl: '27',
      winRate: 1,
      lossRate: 0,
      totalTrades: 3,
      omittedTrades: 0,
      volumeTraded: '430',
      totalFees: '3',
      totalFunding: '0',
      daysActive: 1,
      accountAgeDays: 0,
      tradedPairs: ['BTC', 'ETH', 'xyz:GOLD'],
    })
  })
})

describe('builderFills', () => {
  const part = { builder: BUILDER, oid: 7, fee: '0.25', sz: '0.5', builderFee: '0.1' }
  beforeEach(() => {
    world.held = {
      ...world.held,
      runs: [[block(10, { ...part, tid: 1 })], [block(20, { ...part, tid: 2 }, { ...part, tid: 3 })]],
    }
  })
  const ask = (more: object = {}) => rows({ type: 'builderFills', builder: BUILDER, ...more })

  it('merges partial fills of an order within a block', async () => {
    const merged = await ask({ aggregateByTime: true })
    expect(merged.map(({ tid, sz, fee }) => [tid, sz, fee])).toEqual([
      [2, '1.0', '0.5'],
      [1, '0.5', '0.25'],
    ])
    expect(Object.keys(merged[0]!)).not.toContain('builder')
  })
})
