// Order statuses end to end: client subscription, relay, log and feeders.

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FakeFeeder } from '../block-log/fake-feeder.worker.ts'
import { EXAMPLE_ORDER } from '../kit/node-order.ts'
import { Client, type Frame, meter } from './stream-client.worker.ts'

const WAIT = { timeout: 10_000, interval: 20 }
const log = () => env.BLOCK_LOG.getByName(env.CHAIN)
const updates = ({ channel }: Frame) => channel === 'orderUpdates'
const row = (user: string, status = 'open') => ({
  time: '2026-05-05T17:39:13.024084407',
  user,
  status,
  order: EXAMPLE_ORDER,
})

let feeder: FakeFeeder
let base = 0
let relay = ''
let A = ''
let B = ''

/** Each test has its own heights, relay and wallets. */
beforeEach(async () => {
  await log().reset()
  base += 1000
  relay = `${env.CHAIN}/test-orders/${base}`
  ;[A, B] = ['a', 'b'].map((letter) => `0x${letter.repeat(34)}${String(base).padStart(6, '0')}`) as [string, string]
  await meter(relay).grantCredits('g', 1_000_000_000)
  await connect('test')
  await feeder.next('welcome')
  feeder.snapshot(base, [])
  await feeder.acked(base)
})
afterEach(() => feeder.close())

async function connect(name: string): Promise<void> {
  feeder = await FakeFeeder.connect()
  feeder.hello(base, base, name)
}

/** The feeder learns that a wallet is active, or no longer. */
const hears = (wallet: string, isWanted = true) =>
  vi.waitFor(() => expect(feeder.wanted.has(wallet)).toBe(isWanted), WAIT)

const usersOf = async (client: Client) => (await client.next(updates)).updates.map(({ user }: Frame) => user)

// FEED-32, WS-120
it('a wallet is active while it has subscribers, and its statuses reach them', async () => {
  const client = await Client.connect(relay, relay)
  const body = { type: 'orderUpdates', user: A }
  await client.subscribe(body)
  await hears(A)
  feeder.block(base + 1, [], { orders: [row(A), row(B), row(A, 'filled')] })
  const { data, updates: tagged } = await client.next(updates)
  expect(data.map(({ status }: Frame) => status)).toEqual(['open', 'filled'])
  expect(tagged).toEqual(data.map((update: Frame) => ({ user: A, ...update })))
  await client.subscribe({ type: 'orderUpdates', addresses: [A, B] })
  await hears(B)
  client.send({ method: 'unsubscribe', subscription: { type: 'orderUpdates', addresses: [A, B] } })
  await hears(B, false)
  expect(feeder.wanted.has(A)).toBe(true)
})

// FEED-34, WS-121
it("interests survive the relay's hibernation and lost links", async () => {
  const client = await Client.connect(relay, relay)
  await client.subscribe({ type: 'orderUpdates', addresses: [A] })
  await hears(A)
  await evictDurableObject(env.RELAY.getByName(relay))
  feeder.block(base + 1, [], { orders: [row(A)] })
  expect(await usersOf(client)).toEqual([A])
  await client.subscribe({ type: 'orderUpdates', addresses: [B] })
  await hears(B)
  expect(feeder.wanted.has(A)).toBe(true)
})

// FEED-34, WS-121
it('a restarting log gets the interests from relays and sends them to feeders', async () => {
  const client = await Client.connect(relay, relay)
  await client.subscribe({ type: 'orderUpdates', addresses: [A] })
  await hears(A)
  await runInDurableObject(log(), (_, state) => state.abort('test')).catch(() => undefined)
  await connect('test')
  await hears(A)
  await vi.waitFor(async () => expect((await log().status()).readers.map(({ name }) => name)).toContain(relay), WAIT)
  feeder.block(base + 1, [], { orders: [row(A)] })
  expect(await usersOf(client)).toEqual([A])
})

// FEED-32, FEED-33
it('a late feeder gets the interests before its welcome; a feeder without statuses changes nothing', async () => {
  const client = await Client.connect(relay, relay)
  await client.subscribe({ type: 'orderUpdates', addresses: [A] })
  await hears(A)
  const first = feeder
  await connect('later')
  await feeder.next('welcome')
  expect(feeder.heard.indexOf('want')).toBeLessThan(feeder.heard.indexOf('welcome'))
  expect(feeder.wanted).toContain(A)
  const before = (await log().status()).disagreements
  first.block(base + 1, [], { orders: [row(A)] })
  await first.acked(base + 1)
  feeder.block(base + 1, [])
  await feeder.acked(base + 1)
  expect((await log().status()).disagreements).toBe(before)
  first.close()
})

// FEED-33
it('statuses of a block from a feeder without them come with the next block', async () => {
  const client = await Client.connect(relay, relay)
  await client.subscribe({ type: 'orderUpdates', user: A })
  await hears(A)
  const bare = await FakeFeeder.connect()
  bare.hello(base, base, 'bare')
  await bare.next('welcome')
  const blocks = [[row(A)], [row(A, 'filled')], []]
  for (const [at, orders] of blocks.entries()) {
    bare.block(base + 1 + at, [])
    await bare.acked(base + 1 + at)
    for (let copies = 0; copies < 2; copies++) feeder.block(base + 1 + at, [], { orders })
    await feeder.acked(base + 1 + at)
  }
  const updateFrames = [await client.next(updates), await client.next(updates)]
  expect(updateFrames.flatMap(({ data }) => data.map(({ status }: Frame) => status))).toEqual(['open', 'filled'])
  bare.block(base + 4, [])
  await bare.acked(base + 4)
  expect(client.frames.filter(updates)).toEqual([])
  bare.close()
})
