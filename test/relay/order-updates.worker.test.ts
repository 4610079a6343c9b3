// Order statuses on demand, from a client's subscription through relay and log to feeders, and back.

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

/** Each test has heights, a relay and wallets of its own. */
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

/** The feeder is told that a wallet is wanted, or is no more. */
const hears = (wallet: string, isWanted = true) =>
  vi.waitFor(() => expect(feeder.wanted.has(wallet)).toBe(isWanted), WAIT)

const usersOf = async (client: Client) => (await client.next(updates)).updates.map(({ user }: Frame) => user)

// FEED-32, WS-120
it('a wallet is wanted as long as somebody is subscribed to it, and its statuses reach him', async () => {
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
it('what is wanted outlives the memory of the relay, and links', async () => {
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
it('a log that begins again hears of it from relays, and tells feeders', async () => {
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
it('a feeder that comes later hears it before its welcome; one that sends none tells no other story', async () => {
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
it('statuses of a block that was taken of a feeder without any are told with the next one', async () => {
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
  const told = [await client.next(updates), await client.next(updates)]
  expect(told.flatMap(({ data }) => data.map(({ status }: Frame) => status))).toEqual(['open', 'filled'])
  bare.block(base + 4, [])
  await bare.acked(base + 4)
  expect(client.frames.filter(updates)).toEqual([])
  bare.close()
})
