// Properties of every channel in the catalogue, derived from its definition and example; the counterpart of
// test/info/every-query.test.ts. A new field name adds its wrong values here.

import { readdirSync } from 'node:fs'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { CHEAPEST_MINUTE } from '../../src/metering/tariff.ts'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'
import { EXAMPLE_CANDLE } from '../../src/protocol/info/market-shapes.ts'
import { EXAMPLE_TWAP } from '../../src/protocol/info/twap-shapes.ts'
import { minutePrice } from '../../src/relay/channel.ts'
import { CHANNELS } from '../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL, EXAMPLE_LIQUIDATION } from '../../src/relay/channels/fills.ts'
import { EXAMPLE_ORDER } from '../kit/node-order.ts'
import { targetOf } from './targets.ts'
import { World } from './world.ts'

const CREDIT = 1_000_000
const USER = EXAMPLE_FILL[0]
const many = (count: number) => Array.from({ length: count }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`)

const NOT_ADDRESSES = [1, null, {}, '', '0x12', `0X${USER.slice(2)}`, `${USER}0`, `${USER} `]
const NOT_LISTS = [...NOT_ADDRESSES, USER, [], [1], [USER, '0x12'], many(1001)]

/** Another value of the same form. */
const another = (value: unknown) => {
  if (Array.isArray(value)) return [...value, many(1)[0]]
  if (value === '1m') return '5m'
  return String(value).startsWith('0x') ? many(1)[0] : 'ETH'
}

/** Values that a field of this name must reject. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  addresses: NOT_LISTS,
  users: NOT_LISTS,
  user: [...NOT_ADDRESSES, [USER]],
  builder: [...NOT_ADDRESSES, [USER]],
  aggregateByTime: [1, 'true', null, {}],
  checksum: [0, 1, 'true', null, {}, []],
  ignorePortfolioMargin: [1, 'true', null, {}],
  isPortfolioMargin: [1, 'true', null, {}],
  dex: [1, null, {}, 'a b', 'x'.repeat(65), ['main']],
  'builderLiquidations dex': [''],
  'twapStates dex': ['xyz'],
  'l4Book coin': [['BTC'], '*  '],
  coin: [1, null, {}, '', 'a\tb', 'x'.repeat(65), [], ['BTC', 'BTC'], ['BTC', 'E TH'], many(1001)],
  nSigFigs: [1, 6, 2.5, '5', {}],
  mantissa: [2, 3, '2', 1.5, {}],
  fast: [1, 'true', null, {}],
  interval: [null, {}, -1, 1.5, 60_001, '500', '7m', true],
  marketTypes: [1, null, {}, 'perp', [], ['perps'], [1], Array(9).fill('perp')],
}

/** Micro-credits of the example's minute if not one credit. */
const PRICES: Readonly<Record<string, number>> = {
  l2BookDiff: 130_000,
  l2BookDiff2: 130_000,
  l2Book: 500_000,
  l4Book: 3_000_000,
}

/**
 * Both sides of a trade, a movement of its buyer, a resting order, a TWAP order, a liquidation, an order status, a
 * settled outcome, an oracle update, a writer action, and a change of the coin's book.
 */
function block(world: World): void {
  const seller: Fill = { ...EXAMPLE_FILL[1], side: 'A', dir: 'Open Short', crossed: false, oid: 90002 }
  const resting: Fill = { ...seller, oid: 90003, tid: 7 }
  const slice: Fill = { ...EXAMPLE_FILL[1], twapId: 3, tid: 8 }
  const others: UserFill[] = [resting, slice].map((fill) => [USER, fill])
  const fills: UserFill[] = [EXAMPLE_FILL, [`0x${'b2'.repeat(20)}`, seller], ...others, EXAMPLE_LIQUIDATION]
  const ledger = [{ users: [USER], time: 1, hash: '0x', delta: { type: 'deposit', usdc: '1.0' } }]
  const twaps = [{ twap_id: 3, state: { ...EXAMPLE_TWAP, user: USER }, status: 'finished' }]
  const orders = [{ time: '2026-09-21T14:13:20.999', user: USER, status: 'open', order: EXAMPLE_ORDER }]
  const diff = { user: USER, oid: 1, coin: 'BTC', side: 'B', px: '1.0', raw_book_diff: 'remove' }
  const rows = `"order_statuses":${JSON.stringify(orders)},"book_diffs":${JSON.stringify([diff])}`
  const extras = { oracle: [ORACLE_UPDATE], writer: [{ user: USER, action: { type: 'order' } }] }
  world.eventBlock({ fills, ledger, twaps, orders, ...extras, through: [[4, EXAMPLE_FILL[1].builder as string]] }, [
    ['BTC', rows],
  ])
  world.eventBlock({ fetched: { outcomes: [{ outcomeSettled: 5 }], candles: [EXAMPLE_CANDLE] } })
  world.block(['BTC'])
}

const ORACLE_UPDATE = { update_class: 'Deployer', mark_px_inputs: [['xyz:GOLD', '4020.1']], oracle_pxs: {} }

let world: World
/** A world with the coin of the oracle update. */
function newWorld(): World {
  const made = new World()
  made.coins.push('xyz:GOLD')
  return made
}
beforeEach(() => {
  world = newWorld()
})

describe('the catalogue', () => {
  it('has every channel that a file of the folder defines', async () => {
    const folder = new URL('../../src/relay/channels/', import.meta.url)
    const files = await Promise.all(readdirSync(folder).map((name) => import(new URL(name, folder).href)))
    const isChannel = (one: unknown) => Object(one).request !== undefined && Object(one).source !== undefined
    const defined = files.flatMap((exports) => Object.values(exports).filter(isChannel))
    expect(new Set(defined)).toEqual(new Set(CHANNELS))
    expect(new Set(CHANNELS.map(({ type }) => type)).size).toBe(CHANNELS.length)
  })

  it('has no cheaper minute than the meter checks at admission', () => {
    const prices = CHANNELS.map(({ type, example }) => minutePrice(targetOf({ type, ...example.request })))
    expect(Math.min(...prices)).toBe(CHEAPEST_MINUTE)
  })

  // WS-36
  it('prices book minutes by coin, or flat', () => {
    const prices = [{ coin: 'BTC' }, { coin: ['BTC', 'ETH', 'SOL'] }, {}].map((coins) =>
      minutePrice(targetOf({ type: 'l2BookDiff2', ...coins })),
    )
    expect(prices).toEqual([130_000, 390_000, 10_000_000])
  })
})

describe.each(CHANNELS.map((channel) => [channel.type, channel] as const))('%s', (type, channel) => {
  const body = { type, ...channel.example.request }
  const fields = z.toJSONSchema(channel.request, { io: 'input' })
  const dataFrames = () => world.frames.filter((frame) => frame.channel === (channel.frameName ?? type))

  it('has an example that matches its schemas', () => {
    channel.request.parse(body)
    expect(channel.frame.parse(channel.example.frame)).toMatchObject({ channel: channel.frameName ?? type })
  })

  // WS-18, WS-19
  it('is charged its price, then acknowledged with the exact body, then sends frames of its schema', async () => {
    await world.subscribe(body)
    expect(world.log.slice(0, 2)).toEqual(['charge', 'subscriptionResponse'])
    expect(world.meter.charges.map(({ amount }) => amount)).toEqual([PRICES[type] ?? CREDIT])
    expect(JSON.stringify(world.frames[0])).toBe(
      `{"channel":"subscriptionResponse","data":{"method":"subscribe","subscription":${JSON.stringify(body)}}}`,
    )
    block(world)
    expect(dataFrames().length, 'the block of this file holds nothing for the example').toBeGreaterThan(0)
    for (const frame of dataFrames()) channel.frame.parse(frame)
  })

  // WS-17
  it('echoes and identifies the body as sent, in any key order; another value is another body', async () => {
    const reversed = { type, ...Object.fromEntries(Object.entries(body).reverse()) }
    await world.subscribe(body)
    await world.subscribe(reversed)
    expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'already_subscribed' })
    expect([world.subscriptions.size, world.meter.charges.length]).toEqual([1, 1])
    const [first] = Object.entries(channel.example.request)
    if (!first) return
    const [field, value] = first
    const other = { ...body, [field]: another(value) }
    world.coins.push('ETH:A')
    await world.subscribe(other)
    expect([world.subscriptions.size, world.meter.charges.length]).toEqual([2, 2])
  })

  // WS-14
  it('is rejected field by field, without charge and without a trace', async () => {
    const names = Object.keys(fields.properties ?? {}).filter((name) => name !== 'type')
    expect(names.length > 0).toBe(Object.keys(channel.example.request).length > 0)
    for (const field of names) {
      const values = [...(WRONG[field] ?? []), ...(WRONG[`${type} ${field}`] ?? [])]
      expect(values, `${field} has no wrong values in this file`).not.toEqual([])
      const missing = fields.required?.includes(field) ? [undefined] : []
      // One at a time, because some fields exclude each other.
      const required = Object.fromEntries(Object.entries(body).filter(([name]) => fields.required?.includes(name)))
      for (const value of [...missing, ...values]) {
        world.frames.length = 0
        await world.subscribe({ ...required, type, [field]: value })
        const label = `${field} = ${JSON.stringify(value)?.slice(0, 80)}`
        expect(world.frames, label).toMatchObject([{ channel: 'error', code: 'invalid_request' }])
        expect(world.frames[0].data, label).toMatch(new RegExp(`^Invalid subscription( .*)?: ${field}(\\.\\d+)?: .+`))
      }
    }
    await world.subscribe({ ...body, coins: ['BTC'] })
    expect(world.frames.at(-1).data).toMatch(/: coins: unknown field/)
    expect([world.subscriptions.size, world.books.size, world.events.size]).toEqual([0, 0, 0])
    expect(world.meter.charges).toEqual([])
  })

  it('accepts or rejects any field values, and is charged only when acknowledged', async () => {
    const names = Object.keys(fields.properties ?? {}).filter((name) => name !== 'type')
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(channel.example.request), ['*'], [USER]))
    const bodies = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] })
    await fc.assert(
      fc.asyncProperty(bodies, async (more) => {
        world = new World()
        await world.subscribe({ ...more, type })
        const isServed = world.log.includes('subscriptionResponse')
        expect(world.meter.charges.length).toBe(isServed ? 1 : 0)
        expect(world.subscriptions.size).toBe(isServed ? 1 : 0)
        if (!isServed) expect(world.frames).toMatchObject([{ channel: 'error' }])
      }),
      { numRuns: 50 },
    )
  })

  it('is rejected without credits, and ends only with an unsubscribe of the exact body', async () => {
    world.meter.account = { ...world.meter.account, available: 0 }
    await world.subscribe(body)
    expect(world.frames).toMatchObject([{ channel: 'error', code: 'credits_exhausted' }])
    expect(world.subscriptions.size).toBe(0)
    world = newWorld()
    await world.subscribe(body)
    world.unsubscribe({ ...body, type: `${type}x` })
    expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'already_unsubscribed' })
    world.unsubscribe(body)
    expect(world.frames.at(-1)).toEqual({
      channel: 'subscriptionResponse',
      data: { method: 'unsubscribe', subscription: body },
    })
    world.frames.length = 0
    block(world)
    expect([dataFrames(), world.subscriptions.size, world.books.size, world.events.size]).toEqual([[], 0, 0, 0])
  })
})

// WS-21
it.each(
  CHANNELS.filter(({ type, request }) => {
    return z.toJSONSchema(request, { io: 'input' }).properties?.dex && type !== 'twapStates'
  }).map(({ type, example }) => [type, { type, ...(type === 'oracleUpdates' ? {} : example.request) }]),
)('%s is rejected on an unknown DEX, without charge', async (_, body) => {
  await world.subscribe({ ...body, dex: 'XYZ' })
  const data = expect.stringContaining(': dex: ')
  expect(world.frames).toEqual([{ channel: 'error', data, code: 'invalid_request' }])
  expect(world.meter.charges).toEqual([])
  const listed = (dex: string) => {
    world.past = ({ type }) => (type === 'perpDexs' && dex ? { body: `[null,{"name":"${dex}"}]` } : null)
  }
  // Known by the sources, or by a coin; unknown until the sources respond.
  for (const [dex, coins, source] of [
    ['xyz', ['BTC'], 'xyz'],
    ['abc', ['abc:A'], ''],
    ['def', [], ''],
    ['def', ['BTC'], ''],
    ['def', ['BTC'], 'def'],
  ] as const) {
    world.coins = [...coins]
    listed(source)
    await world.subscribe({ ...body, dex })
  }
  const codes = world.frames.flatMap(({ channel, code }) => (channel === 'error' ? [code] : []))
  expect(codes).toEqual(['invalid_request', 'unavailable', 'unavailable'])
  expect(world.log.filter((what) => what === 'subscriptionResponse')).toHaveLength(3)
})
