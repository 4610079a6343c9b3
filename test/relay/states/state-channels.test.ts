// Frames of state channels from info responses.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { InfoRequest } from '../../../src/relay/channel.ts'
import { fastAssetCtxs } from '../../../src/relay/channels/asset-contexts.ts'
import { channelOf, readBody } from '../../../src/relay/channels/catalogue.ts'
import { ANSWERS, WIRES } from '../../fixtures/wire.ts'
import { StatesWorld } from './states-world.ts'

const USER = `0x${'a'.repeat(40)}`
const ctx = (markPx: string, midPx: string | null = markPx) => ({ markPx, midPx })
const contexts = (...coins: [name: string, ctx: object][]) => [
  { universe: coins.map(([name]) => ({ name })) },
  coins.map(([, one]) => one),
]

/** Responses by type, and by DEX if there is one. */
function worldOf(answers: Readonly<Record<string, unknown>>): StatesWorld & { answers: Record<string, unknown> } {
  const world = Object.assign(new StatesWorld(), { answers: { ...answers } as Record<string, unknown> })
  world.answer = ({ type, dex }: InfoRequest) => world.answers[dex ? `${type} ${dex}` : type] ?? null
  return world
}

const unpacked = (data: string) => JSON.parse(inflateRawSync(Buffer.from(data, 'base64')).toString())

// WS-141
it("a user's state is copied into its envelope byte by byte", async () => {
  const world = worldOf({
    clearinghouseState: 1,
    'clearinghouseState xyz': 2,
    frontendOpenOrders: [3],
    activeAssetData: 4,
  })
  const dataOf = async (body: { type: string; [field: string]: unknown }) => (await world.subscribe(body)).frames
  expect(await dataOf({ type: 'clearinghouseState', user: USER, dex: 'xyz' })).toEqual([
    { channel: 'clearinghouseState', data: { dex: 'xyz', user: USER, clearinghouseState: 2 } },
  ])
  expect(await dataOf({ type: 'openOrders', user: USER })).toEqual([
    { channel: 'openOrders', data: { dex: '', user: USER, orders: [3] } },
  ])
  expect(await dataOf({ type: 'activeAssetData', user: USER, coin: 'BTC' })).toEqual([
    { channel: 'activeAssetData', data: 4 },
  ])
})

// WS-141
it.each([
  [
    { type: 'clearinghouseState', user: USER.toUpperCase().replace('0X', '0x') },
    { user: USER, dex: '' },
  ],
  [
    { type: 'spotState', user: USER },
    { user: USER, ignorePortfolioMargin: false },
  ],
  [
    { type: 'spotState', user: USER, isPortfolioMargin: true },
    { user: USER, ignorePortfolioMargin: true },
  ],
  [
    { type: 'twapStates', user: USER },
    { user: USER, dex: '' },
  ],
  [{ type: 'assetCtxs' }, { dex: '' }],
])('%j is acknowledged with its defaults', (body, more) => {
  const read = readBody(body)
  if (!read.ok) throw new Error(read.error.message)
  const { channel } = read.value as { channel: { echo: (body: unknown) => unknown } }
  expect(JSON.stringify(channel.echo(read.value.body))).toBe(JSON.stringify({ type: body.type, ...more }))
})

// WS-141
it('for all DEXes, the main one has no name, and none may be missing', async () => {
  const world = worldOf({ 'clearinghouseState ALL_DEXES': { native: { n: 1 }, xyz: { n: 2 } } })
  const body = { type: 'allDexsClearinghouseState', user: USER }
  const { frames } = await world.subscribe(body)
  const states = [
    ['', { n: 1 }],
    ['xyz', { n: 2 }],
  ]
  expect(frames).toEqual([{ channel: body.type, data: { user: USER, clearinghouseStates: states } }])
  world.answers['clearinghouseState ALL_DEXES'] = { native: { n: 3 }, xyz: { error: 'upstream_error', dex: 'xyz' } }
  await world.pass(30_000)
  expect(frames).toHaveLength(1)
})

// WS-142
it('userHistoricalOrders: history oldest first, then new entries, each once', async () => {
  const row = (oid: number, status: string, statusTimestamp: number) => ({ order: { oid }, status, statusTimestamp })
  const world = worldOf({ historicalOrders: [row(2, 'open', 20), row(1, 'open', 10)] })
  const body = { type: 'userHistoricalOrders', user: USER }
  const { frames } = await world.subscribe(body)
  world.answers.historicalOrders = [row(2, 'filled', 20), row(2, 'open', 20), row(1, 'open', 10)]
  await world.pass(5_000)
  const late = await world.subscribe(body)
  world.answers.historicalOrders = [row(3, 'open', 30), row(2, 'filled', 20), row(2, 'open', 20)]
  await world.pass(10_000)
  expect(
    frames.map(({ data }) => [data.isSnapshot, data.orderHistory.map((one: typeof data) => one.order.oid)]),
  ).toEqual([
    [true, [1, 2]],
    [undefined, [2]],
    [undefined, [3]],
  ])
  expect(late.frames).toHaveLength(1)
  expect(late.frames[0].data.orderHistory).toHaveLength(3)
})

// WS-143
it('a market is sent when it changed, spot and outcome markets on their own channel', async () => {
  const spot = [
    {},
    [
      { coin: '#40', ...ctx('0.5') },
      { coin: '@1', ...ctx('7.0') },
    ],
  ]
  const world = worldOf({
    metaAndAssetCtxs: contexts(['BTC', ctx('1.0')], ['ETH', ctx('2.0')]),
    spotMetaAndAssetCtxs: spot,
  })
  world.answers['metaAndAssetCtxs xyz'] = contexts(['xyz:GOLD', ctx('3.0')])
  const [btc, eth, gold, one] = await Promise.all(
    ['BTC', 'ETH', 'xyz:GOLD', '@1'].map((coin) => world.subscribe({ type: 'activeAssetCtx', coin })),
  )
  world.answers.metaAndAssetCtxs = contexts(['BTC', ctx('1.5')], ['ETH', ctx('2.0')])
  await world.pass(3_250)
  expect(btc!.frames.map(({ data }) => data.ctx.markPx)).toEqual(['1.0', '1.5'])
  expect(eth!.frames).toEqual([{ channel: 'activeAssetCtx', data: { coin: 'ETH', ctx: ctx('2.0') } }])
  expect(gold!.frames).toMatchObject([{ data: { coin: 'xyz:GOLD', ctx: ctx('3.0') } }])
  expect(one!.frames).toEqual([
    { channel: 'activeSpotAssetCtx', data: { coin: '@1', ctx: { coin: '@1', ...ctx('7.0') } } },
  ])
})

// WS-143
it('every DEX in one frame per round, the main DEX first; a failing DEX does not stay stale forever', async () => {
  const world = worldOf({ perpDexs: [null, { name: 'xyz' }, { name: 'abcd' }] })
  for (const dex of ['', ' xyz', ' abcd']) world.answers[`metaAndAssetCtxs${dex}`] = contexts(['C', ctx('1.0')])
  const { frames } = await world.subscribe({ type: 'allDexsAssetCtxs' })
  expect(frames).toEqual([
    { channel: 'allDexsAssetCtxs', data: { ctxs: ['', 'abcd', 'xyz'].map((dex) => [dex, [ctx('1.0')]]) } },
  ])
  for (const dex of ['', ' xyz', ' abcd']) world.answers[`metaAndAssetCtxs${dex}`] = contexts(['C', ctx('2.0')])
  await world.pass(15_250)
  expect(frames).toHaveLength(2)
  delete world.answers['metaAndAssetCtxs xyz']
  await world.pass(60_000)
  world.answers.metaAndAssetCtxs = contexts(['C', ctx('3.0')])
  await world.pass(60_000)
  expect(frames.slice(2)).toMatchObject([{ channel: 'notification' }])
})

// WS-144
it('fastAssetCtxs: all markets, then changed ones', async () => {
  const main = (px: string) => contexts(['BTC', ctx(px)], ['DEAD', ctx('2.0', null)])
  const world = worldOf({ perpDexs: [null, { name: 'xyz' }], metaAndAssetCtxs: main('1.0') })
  world.answers.spotMetaAndAssetCtxs = [{}, [{ coin: '@1', ...ctx('7.0') }]]
  world.answers['metaAndAssetCtxs xyz'] = contexts(['xyz:GOLD', ctx('3.0')])
  const { frames } = await world.subscribe({ type: 'fastAssetCtxs' })
  world.answers.metaAndAssetCtxs = main('1.5')
  await world.pass(10_000)
  expect(frames.map(({ data }) => unpacked(data))).toEqual([
    { BTC: ctx('1.0'), DEAD: ctx('2.0', null), '@1': ctx('7.0'), 'xyz:GOLD': ctx('3.0') },
    { BTC: ctx('1.5') },
  ])
  const { data } = fastAssetCtxs.example.frame as { data: string }
  expect(unpacked(data)).toEqual({ BTC: ctx('81307.0', '81306.5') })
})

// WS-141
it.each([
  ['default', {}],
  ['unifiedAccount', { abstraction: 'unifiedAccount' }],
])('webData3 is combined from its sources, without defaults: %s', async (mode, expected) => {
  const account = {
    agentAddress: null,
    agentValidUntil: null,
    cumLedger: '-1.5',
    serverTime: 5,
    isVault: false,
    user: USER,
  }
  const main = { totalVaultEquity: '2.0', perpsAtOpenInterestCap: ['DOGE'], leadingVaults: [] }
  const world = worldOf({ perpDexs: [null, { name: 'xyz' }], 'perpsAtOpenInterestCap xyz': ['xyz:GOLD'] })
  Object.assign(world.answers, { webData2: { ...main, ...account, meta: {} }, userAbstraction: mode })
  world.answers.userDexAbstraction = false
  expect((await world.subscribe({ type: 'webData3', user: USER })).frames).toEqual([
    {
      channel: 'webData3',
      data: {
        userState: { ...account, dexAbstractionEnabled: false, ...expected },
        perpDexStates: [main, { totalVaultEquity: '0.0', perpsAtOpenInterestCap: ['xyz:GOLD'] }],
      },
    },
  ])
})

describe('recorded responses become frames of the published schemas', () => {
  const USER = `0x${'a'.repeat(40)}`
  /** Channels by the request that they are built from. */
  const CHANNEL_OF: Readonly<Record<string, { readonly type: string; readonly [field: string]: unknown }>> = {
    clearinghouseState: { type: 'clearinghouseState', user: USER },
    frontendOpenOrders: { type: 'openOrders', user: USER },
    spotClearinghouseState: { type: 'spotState', user: USER },
    activeAssetData: { type: 'activeAssetData', user: USER, coin: 'BTC' },
    historicalOrders: { type: 'userHistoricalOrders', user: USER },
  }

  describe.each(WIRES)('exchange responses, %s', (_, wire, isAbsent) => {
    // WS-141, WS-142
    it.skipIf(isAbsent).each(ANSWERS.filter(([type]) => type in CHANNEL_OF))('%s of %s', async (type, path) => {
      const world = new StatesWorld()
      world.answer = () => JSON.parse(readFileSync(join(wire, path), 'utf8'))
      const body = CHANNEL_OF[type]!
      const { frames } = await world.subscribe(body)
      expect(frames).toHaveLength(1)
      expect(channelOf(body.type)!.frame.safeParse(frames[0]).error).toBe(undefined)
    })
  })
})
