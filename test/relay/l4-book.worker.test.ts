// Order-level books end to end: client subscription, relay, log, feeder, and the object of the coin's book.

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TEXT_BYTES, textMemory } from '../../src/order-books/l4/text-memory.ts'
import { FakeFeeder, levelsOf } from '../block-log/fake-feeder.worker.ts'
import { NaiveOrders } from '../order-books/l4/naive-orders.ts'
import { Client, type Frame, meter } from './stream-client.worker.ts'

const WAIT = { timeout: 10_000, interval: 20 }
const log = () => env.BLOCK_LOG.getByName(env.CHAIN)
const ordersFrame = ({ channel }: Frame) => channel === 'l4Book'

let feeder: FakeFeeder
let bare: FakeFeeder | null = null
let node: NaiveOrders
/** Its books by height. */
const books = new Map<number, unknown>()
let base = 0
let height = 0
let relay = ''
let coin = ''

/** Each test has its own heights, relay and coin. */
beforeEach(async () => {
  await log().reset()
  base += 1000
  height = base
  relay = `${env.CHAIN}/test-l4/${base}`
  coin = `L4N${base}`
  node = new NaiveOrders(coin)
  await meter(relay).grantCredits('g', 1_000_000_000)
  await connect('test')
  await feeder.next('welcome')
  feeder.snapshot(base, [{ coin, levels: levelsOf(['1', '1', 1]) }])
  await feeder.acked(base)
})
afterEach(() => {
  feeder.close()
  bare?.close()
  bare = null
})

/** A second feeder whose node writes no order statuses. */
async function second(): Promise<FakeFeeder> {
  bare = await FakeFeeder.connect()
  bare.hello(base, height, 'bare')
  await bare.next('welcome')
  return bare
}

async function connect(name: string): Promise<void> {
  feeder = await FakeFeeder.connect()
  feeder.hello(base, height, name)
}

/** A block with one more order, and the coin's rows if requested. */
function block(isKnown = true): void {
  height++
  const rows = node.block(height, [{ kind: 3, at: 0, px: height % 9, sz: 1 }])
  const { order_statuses: statuses, book_diffs: diffs } = JSON.parse(`{${rows}}`)
  books.set(height, node.levels())
  feeder.block(height, [], isKnown && feeder.coins.has(coin) ? { l4: [{ coin, statuses, diffs }] } : {})
}

/** Sends blocks until the feeder is asked for all orders. */
async function askedForWhole(): Promise<void> {
  let isAsked = false
  const requestOrders = async () => {
    // Objects of earlier tests keep asking.
    while (!(await feeder.next('l4Reseed')).coins.includes(coin));
    isAsked = true
  }
  void requestOrders()
  await vi.waitFor(() => {
    if (isAsked) return
    block()
    throw new Error('nobody asks for whole orders')
  }, WAIT)
}

/** The feeder is asked for all orders, and sends them in parts of two orders with a block in between. */
async function answerReseed(): Promise<void> {
  await askedForWhole()
  expect(feeder.coins).toContain(coin)
  block()
  sendWhole()
}

function sendWhole(): void {
  const [bids, asks] = node.levels()
  const of = height
  const parts = Math.max(1, Math.ceil(bids.length / 2) + Math.ceil(asks.length / 2))
  const cut = (at: number) => ({ bids: bids.slice(2 * at, 2 * at + 2), asks: [] as typeof asks })
  for (let part = 0; part < parts; part++) {
    const ofAsks = 2 * (part - Math.ceil(bids.length / 2))
    const cuts = ofAsks < 0 ? cut(part) : { bids: [], asks: asks.slice(ofAsks, ofAsks + 2) }
    feeder.send({ type: 'l4', coin, height: of, time: of * 70, ...cuts, part, parts })
    if (part === 0) block()
  }
}

async function subscribed(client?: Client): Promise<Client> {
  const one = client ?? (await Client.connect(relay, relay))
  await one.subscribe({ type: 'l4Book', coin })
  return one
}

/** The client's next snapshot while blocks come. It equals the node's book of its height. */
async function snapshotOf(client: Client): Promise<Frame> {
  const isOne = (frame: Frame) => ordersFrame(frame) && frame.data.Snapshot
  await vi.waitFor(() => {
    if (client.frames.some(isOne)) return
    block()
    throw new Error('no Snapshot has come')
  }, WAIT)
  const { Snapshot } = (await client.next(isOne)).data
  expect(Snapshot.levels).toEqual(books.get(Snapshot.block_height))
  return Snapshot
}

/** The client gets the next block, after those already queued. */
async function follows(client: Client): Promise<void> {
  block()
  const updates = ({ data }: Frame) => data?.Updates?.block_height === height
  expect((await client.next(updates)).data.Updates).toMatchObject({ prev_block_height: height - 1 })
}

// FEED-32, WS-150, WS-151
it("a client is acknowledged, then gets its coin's orders, then the rows of each block", async () => {
  const client = await subscribed()
  await answerReseed()
  const { levels: _, ...place } = await snapshotOf(client)
  const at = place.block_height
  expect(place).toEqual({ coin, time: at * 70, block_height: at, epoch: (await log().status()).epoch })
  await follows(client)
  const second = await subscribed(await Client.connect(relay, relay))
  await snapshotOf(second)
  await follows(second)
})

// WS-153
it("a block without the coin's rows leads to a new snapshot for everyone", async () => {
  const clients = [await subscribed(), await Client.connect(relay, relay)]
  await subscribed(clients[1])
  await answerReseed()
  for (const client of clients) await snapshotOf(client)
  block(false)
  block()
  await answerReseed()
  for (const client of clients) {
    await snapshotOf(client)
    await follows(client)
  }
})

it('a relay that fetches a snapshot in pieces can finish while another relay needs a newer snapshot', async () => {
  const client = await subscribed()
  await answerReseed()
  await snapshotOf(client)
  const object = env.ORDER_BOOK.getByName(`${env.CHAIN}/l4/${coin}`)
  const first = await vi.waitUntil(async () => await object.snapshot(height), WAIT)
  const of = first.height
  block()
  const newer = await vi.waitUntil(async () => await object.snapshot(of + 1), WAIT)
  expect([newer.height, newer.first]).toEqual([of + 1, JSON.stringify(books.get(of + 1))])
  const texts = await Promise.all([of, of + 1].map((at) => object.snapshotPiece(at, 0)))
  expect(texts.map((text) => JSON.parse(text!))).toEqual([books.get(of), books.get(of + 1)])
})

it('an object creates no string while those of other coins fill the memory of the isolate', async () => {
  const client = await subscribed()
  await answerReseed()
  await snapshotOf(client)
  const object = env.ORDER_BOOK.getByName(`${env.CHAIN}/l4/${coin}`)
  block()
  // The strings read before expire.
  const free = await vi.waitUntil(() => textMemory.reserve(TEXT_BYTES, Date.now(), 60_000), WAIT)
  await vi.waitUntil(async () => (await object.ready(height)).ready, WAIT)
  expect(await object.snapshot(height)).toBeNull()
  free()
  expect(await object.snapshot(height)).toMatchObject({ height })
})

// WS-153
it('clients do not notice a restart of the object', async () => {
  const client = await subscribed()
  await answerReseed()
  await snapshotOf(client)
  const object = env.ORDER_BOOK.getByName(`${env.CHAIN}/l4/${coin}`)
  await evictDurableObject(object)
  for (let n = 0; n < 3; n++) await follows(client)
  await answerReseed()
  await snapshotOf(await subscribed(await Client.connect(relay, relay)))
  expect(client.frames.some(({ data }) => data?.Snapshot)).toBe(false)
})

// FEED-32
it('a restarting log and a late feeder serve waiting clients', async () => {
  const client = await subscribed()
  await askedForWhole()
  await feeder.acked(height)
  await runInDurableObject(log(), (_, state) => state.abort('test')).catch(() => undefined)
  await connect('later')
  await vi.waitFor(() => expect(feeder.coins).toContain(coin), WAIT)
  block()
  await answerReseed()
  await snapshotOf(client)
  await follows(client)
})

// WS-153
it('rows that do not fit lead to a full refetch for everyone', async () => {
  const client = await subscribed()
  await answerReseed()
  await snapshotOf(client)
  height++
  const diffs = [{ oid: 999, coin, raw_book_diff: 'remove' }]
  feeder.block(height, [], { l4: [{ coin, statuses: [], diffs }] })
  await answerReseed()
  await snapshotOf(client)
  await follows(client)
})

// FEED-33, WS-153
it('a feeder without rows that is always first costs no snapshots', async () => {
  const other = await second()
  const leads = (): void => other.block(height + 1, [])
  leads()
  block()
  await feeder.acked(height)
  const client = await subscribed()
  await answerReseed()
  await snapshotOf(client)
  // Copies of a height arrive close together, however busy the machine is.
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now())
  try {
    for (let n = 0; n < 5; n++) {
      leads()
      await follows(client)
    }
  } finally {
    clock.mockRestore()
  }
  expect(client.frames.some(({ data }) => data?.Snapshot)).toBe(false)
})

// FEED-33
it('a block waits only a moment for missing rows, and the next block does not wait', async () => {
  const client = await subscribed()
  await answerReseed()
  await snapshotOf(client)
  const other = await second()
  other.block(height + 1, [])
  expect(await other.next('resend')).toMatchObject({ from: height + 1 })
  for (const at of [1, 2, 3]) other.block(height + at, [])
  await other.acked(height + 3)
  expect(other.heard.filter((type) => type === 'resend')).toHaveLength(1)
})

// FEED-36
it('another feeder takes over when one leaves during a book', async () => {
  const client = await subscribed()
  const other = await second()
  await askedForWhole()
  feeder.send({ type: 'l4', coin, height, time: 1, bids: [], asks: [], part: 0, parts: 2 })
  block()
  await feeder.acked(height)
  const reseeds = () => other.heard.filter((type) => type === 'l4Reseed').length
  const before = reseeds()
  feeder.close()
  feeder = other
  await vi.waitFor(() => expect(reseeds()).toBeGreaterThan(before), { timeout: 5_000, interval: 20 })
  block()
  sendWhole()
  await snapshotOf(client)
})

it('an unused object drops its log link', async () => {
  const client = await subscribed()
  await answerReseed()
  await snapshotOf(client)
  client.close(1000, '')
  const object = env.ORDER_BOOK.getByName(`${env.CHAIN}/l4/${coin}`)
  const reader = `${env.CHAIN}/l4/${coin}`
  const readers = async () => (await log().status()).readers.map(({ name }) => name)
  expect(await readers()).toContain(reader)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 60_000 })
  try {
    await runInDurableObject(object, (instance) => instance.alarm!())
  } finally {
    vi.useRealTimers()
  }
  await vi.waitFor(async () => expect(await readers()).not.toContain(reader), WAIT)
})
