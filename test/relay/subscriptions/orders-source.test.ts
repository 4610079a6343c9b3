// Order subscriptions against scripted books and a scripted meter.

import { beforeEach, expect, test } from 'vitest'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { MAX_WAIT_MS } from '../../../src/relay/subscriptions/orders-source.ts'
import { World } from '../world.ts'

const BTC = { type: 'l4Book', coin: 'BTC' }
const CREDITS = 3_000_000
const settle = () => new Promise((resolve) => setImmediate(resolve))

let world: World
beforeEach(() => {
  world = new World()
})

/** A request whose snapshot is not awaited. */
const subscribe = (subscription: { type: string; coin: string }) =>
  world.subscriptions.subscribe(world.connection, { method: 'subscribe', subscription })

/** Blocks come, with a tick every ten seconds. */
async function pass(ms: number): Promise<void> {
  const untilMs = world.clock.nowMs + ms
  while (world.clock.nowMs < untilMs) {
    world.clock.nowMs += 10_000
    world.eventBlock({}, [['BTC', '']])
    world.subscriptions.tick()
    await settle()
  }
  await world.tick()
}

// WS-18, WS-150
test('is charged, acknowledged, and then waits for its book; the minute starts with the snapshot', async () => {
  world.ordersReady = false
  await subscribe(BTC)
  await pass(60_000)
  expect(world.log.filter((one) => one !== 'notification')).toEqual(['charge', 'subscriptionResponse'])
  expect(world.log).toContain('notification')
  world.ordersReady = true
  await pass(20_000)
  expect(world.log.at(-1)).toBe('Snapshot BTC')
  await world.pass(20_000)
  expect(world.meter.charges).toHaveLength(1)
  await world.pass(60_000)
  expect(world.meter.charges.map(({ amount }) => amount)).toEqual([CREDITS, CREDITS])
})

// WS-150
test('without a snapshot in time it gets the public error and a refund, and may retry', async () => {
  world.ordersReady = false
  await subscribe(BTC)
  await pass(MAX_WAIT_MS + 10_000)
  await world.pass(10_000)
  // Public servers send this text, and SDKs look for it.
  const data = expect.stringContaining('Order book not ready for streaming (waiting for snapshot)')
  expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'unavailable', data })
  expect(world.meter.refunds.map(({ amount }) => amount)).toEqual(world.meter.charges.map(({ amount }) => amount))
  expect([world.subscriptions.size, world.l4.size]).toEqual([0, 0])
  world.ordersReady = true
  await world.subscribe(BTC)
  expect(world.log.slice(-2)).toEqual(['subscriptionResponse', 'Snapshot BTC'])
})

// WS-153
test('missing rows lead to another snapshot at no cost', async () => {
  await world.subscribe(BTC)
  world.eventBlock({})
  world.eventBlock({}, [['BTC', '']])
  for (let n = 0; n < 10; n++) await settle()
  expect(world.log).toEqual(['charge', 'subscriptionResponse', 'Snapshot BTC', 'Snapshot BTC'])
})

// WS-150, WS-153
test('the minute is paused while another snapshot is awaited', async () => {
  await world.subscribe(BTC)
  world.ordersReady = false
  world.eventBlock({})
  await pass(120_000)
  expect(world.meter.charges).toHaveLength(1)
  world.ordersReady = true
  await pass(20_000)
  expect(world.log.at(-1)).toBe('Snapshot BTC')
  await world.pass(80_000)
  expect(world.meter.charges).toHaveLength(2)
})

test('event subscribers do not wait for order rows', async () => {
  await world.subscribe(BTC)
  await world.subscribe({ type: 'allFills' })
  world.log.length = 0
  world.eventBlock({ fills: [EXAMPLE_FILL] }, [['BTC', '"order_statuses":[],"book_diffs":[]']])
  expect(world.log).toEqual(['allFills', 'l4Book'])
})

test('are refused uncharged by a gateway without order-level books', async () => {
  const bare = new World(undefined, false)
  await bare.subscribe(BTC)
  expect(bare.frames.at(-1)).toMatchObject({ code: 'not_found', data: expect.stringContaining('no order-level books') })
  expect(bare.meter.charges).toEqual([])
})

test('rejects a coin without a book, uncharged; an unsubscribe while waiting leaves nothing', async () => {
  await world.subscribe({ type: 'l4Book', coin: 'btc' })
  expect(world.frames.at(-1)).toMatchObject({ code: 'not_found' })
  expect(world.meter.charges).toEqual([])
  world.ordersReady = false
  await subscribe(BTC)
  world.unsubscribe(BTC)
  expect([world.subscriptions.size, world.l4.size]).toEqual([0, 0])
  world.ordersReady = true
  await pass(20_000)
  expect(world.log).not.toContain('Snapshot BTC')
})

// WS-150
test('rejects a coin that cannot be checked, uncharged, without requesting its book', async () => {
  world.ready = false
  await subscribe({ type: 'l4Book', coin: 'junk' })
  await pass(20_000)
  expect(world.frames.at(-1)).toMatchObject({ code: 'unavailable' })
  expect([world.meter.charges, world.looks, world.subscriptions.size, world.l4.size]).toEqual([[], 0, 0, 0])
})

test('polls a missing book with backoff, at most every second', async () => {
  world.ordersReady = false
  await subscribe(BTC)
  const times: number[] = []
  for (const looks of [10, 30]) {
    while (world.looks < looks) await settle()
    times.push(world.clock.nowMs)
  }
  expect(times[1]! - times[0]!).toBe(20 * 1000)
})

// WS-150
test('accepts one coin, not a list or all', async () => {
  for (const body of [{ coin: ['BTC', 'ETH'] }, {}, { marketTypes: ['perp'] }])
    await subscribe({ type: 'l4Book', ...body } as never)
  expect(world.frames.map(({ code }) => code)).toEqual(Array(3).fill('invalid_request'))
  expect(world.frames[0].data).toContain(': coin: ')
})
