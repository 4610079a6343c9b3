// How bodies get their books under load: the queue, the charges, and the limits.

import { beforeEach, expect, test, vi } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
import { EMPTY_ACCOUNT } from '../../../src/metering/account-state.ts'
import { Client, type Frame, identity, World } from '../world.ts'

const ALL = { type: 'l2BookDiff', marketTypes: ['*'] }
const PERPS = { type: 'l2BookDiff' }

let world: World
beforeEach(() => {
  world = new World()
  world.meter.grant(10_000_000_000)
})

/** A socket of a separate account. */
const clientOf = (account: string) =>
  new Client(world, { account, keyHash: keyHashOf(`key of ${account}`), plan: 'enterprise' })
const snapshotsOf = ({ frames }: { readonly frames: readonly Frame[] }) =>
  frames.flatMap(({ data }) => data?.Snapshot?.coin ?? []).sort()
const isAcknowledged = ({ frames }: Client) => frames.some(({ channel }) => channel === 'subscriptionResponse')

/** Hubs that respond with books when `open` is called. */
function closedGate(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.gate = promise
  return resolve
}
/** A meter that gets reports when `open` is called. */
function closedMeter(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.meterGate = promise
  return resolve
}
const subscribe = (subscription: { type: string }) =>
  world.subscriptions.subscribe(world.connection, { method: 'subscribe', subscription })
const charges = () => world.meter.charges.length

// WS-47
test('some of many full-market bodies get a turn; the others are not charged or acknowledged, and no books are read for them', async () => {
  const open = closedGate()
  const clients = Array.from({ length: 64 }, () => clientOf('crowd'))
  for (const client of clients) await client.subscribe(PERPS)
  const other = clientOf('other')
  await other.subscribe(PERPS)
  // Half of the slots belong to the other accounts.
  await vi.waitFor(() => expect(isAcknowledged(other)).toBe(true))
  expect(clients.filter(isAcknowledged)).toHaveLength(8)
  expect(charges()).toBe(9)
  open()
  await world.subscriptions.settled()
  for (const client of [...clients, other]) {
    expect(snapshotsOf(client)).toEqual(['BTC', 'ETH', 'SOL'])
    expect(client.closed).toBeNull()
  }
  expect(charges()).toBe(65)
  // Read once for all concurrent ones.
  expect(world.reads.length).toBeLessThan(65 * 3)
})

// WS-47
test('a queued client can do everything else, cancel and return; a closing socket leaves', async () => {
  const open = closedGate()
  const clients = Array.from({ length: 8 }, () => clientOf('acme'))
  for (const client of clients) await client.subscribe(PERPS)
  await subscribe(PERPS)
  await subscribe(PERPS)
  expect(world.frames.at(-1)).toMatchObject({ code: 'already_subscribed' })
  await subscribe({ type: 'allFills' })
  expect(world.frames.at(-1)).toMatchObject({
    channel: 'subscriptionResponse',
    data: { subscription: { type: 'allFills' } },
  })
  world.unsubscribe(PERPS)
  expect(world.frames.at(-1)).toMatchObject({ channel: 'subscriptionResponse', data: { method: 'unsubscribe' } })
  world.unsubscribe(PERPS)
  expect(world.frames.at(-1)).toMatchObject({ code: 'already_unsubscribed' })
  await subscribe(PERPS)
  const closedClient = clientOf('acme')
  await closedClient.subscribe(PERPS)
  closedClient.connection.onClosed()
  open()
  await world.subscriptions.settled()
  expect(snapshotsOf(world)).toEqual(['BTC', 'ETH', 'SOL'])
  expect(closedClient.frames).toEqual([])
  expect(charges()).toBe(8 + 2)
})

// WS-47
test('a slow reader keeps its slot for half a minute', async () => {
  const open = closedGate()
  const slow = Array.from({ length: 8 }, () => clientOf('acme'))
  for (const client of slow) await client.subscribe(PERPS)
  await vi.waitFor(() => expect(charges()).toBe(8))
  const next = clientOf('acme')
  await next.subscribe(PERPS)
  for (let second = 0; second < 40; second += 10) {
    expect(isAcknowledged(next)).toBe(false)
    world.clock.nowMs += 10_000
    world.subscriptions.tick()
  }
  await vi.waitFor(() => expect(isAcknowledged(next)).toBe(true))
  open()
  await world.subscriptions.settled()
  for (const client of [...slow, next]) expect(snapshotsOf(client)).toEqual(['BTC', 'ETH', 'SOL'])
})

// WS-47
test('a queued client is notified before it counts as idle, and rejected after two minutes, uncharged', async () => {
  const open = closedGate()
  for (let i = 0; i < 60; i++) await clientOf('acme').subscribe(PERPS)
  await subscribe(PERPS)
  for (let second = 0; second < 130; second += 10) {
    world.clock.nowMs += 10_000
    world.subscriptions.tick()
    expect(world.connection.idleMs(world.clock.nowMs)).toBeLessThan(40_000)
  }
  await vi.waitFor(() => expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'unavailable' }))
  const notices = world.frames.filter(({ channel }) => channel === 'notification')
  expect(notices).toHaveLength(5)
  expect(world.frames.some(({ channel }) => channel === 'subscriptionResponse')).toBe(false)
  expect(world.subscriptions.size).toBeLessThan(60)
  open()
  await world.subscriptions.settled()
  expect(world.books.size).toBe(1)
})

// WS-48
test('a minute starts with the last snapshot', async () => {
  const open = closedGate()
  await subscribe(PERPS)
  await vi.waitFor(() => expect(charges()).toBe(1))
  await world.pass(40_000)
  open()
  await world.subscriptions.settled()
  await world.pass(55_000)
  expect(charges()).toBe(1)
  await world.pass(10_000)
  expect(charges()).toBe(2)
})

// WS-48
test('refunds a minute whose snapshots we could not send, but not one that the client left', async () => {
  const { available } = world.meter.account
  const open = closedGate()
  await subscribe(PERPS)
  const leaving = clientOf('leaving')
  await leaving.subscribe(PERPS)
  await vi.waitFor(() => expect(charges()).toBe(2))
  leaving.connection.onClosed()
  world.ready = false
  open()
  await world.subscriptions.settled()
  await world.accounts.settled()
  expect(world.closed).toBe(1013)
  expect(world.meter.refunds).toEqual([{ type: 'l2BookDiff', amount: 10_000_000 }])
  expect(world.meter.account.available).toBe(available - 10_000_000)
})

// WS-48
test('an unserved rest of a minute can be used again', async () => {
  await world.subscribe(PERPS)
  world.clock.nowMs += 20_000
  world.unsubscribe(PERPS)
  await world.accounts.settled()
  const back = async () => {
    const client = clientOf('acme')
    client.connection.renew(identity, 0)
    await client.subscribe(PERPS)
    await world.subscriptions.settled()
    await world.accounts.settled()
    return client
  }
  const open = closedGate()
  const before = world.reads.length
  const losing = back()
  await vi.waitFor(() => expect(world.reads.length).toBeGreaterThan(before))
  world.ready = false
  open()
  expect((await losing).closed).toBe(1013)
  world.ready = true
  expect(snapshotsOf(await back())).toEqual(['BTC', 'ETH', 'SOL'])
  expect([charges(), world.meter.refunds]).toEqual([1, []])
})

// WS-49
test('snapshots sent within the paid minute are not sent again for free', async () => {
  await world.subscribe(PERPS)
  const spot = { type: 'l2BookDiff', marketTypes: ['perp', 'spot'] }
  await world.subscribe(spot)
  expect(charges()).toBe(1)
  for (let i = 0; i < 10; i++) {
    await world.subscribe(PERPS)
    await world.subscribe(spot)
  }
  // Each snapshot of the spot coin after the first starts a minute, and its rest serves the body once.
  const sent = snapshotsOf(world).filter((coin) => coin === '@1').length
  expect(sent).toBe(11)
  expect(charges()).toBeGreaterThanOrEqual(sent / 2)
  // Free again a minute later.
  const before = charges()
  await world.subscribe(PERPS)
  await world.pass(65_000)
  expect(charges()).toBe(before + 1)
  await world.subscribe(spot)
  expect(charges()).toBe(before + 1)
})

// WS-49
test('without enough credits no book is read, and rejections are rate-limited', async () => {
  world.meter.account = EMPTY_ACCOUNT
  world.meter.grant(140_000)
  for (let i = 0; i < 100; i++) await world.subscribe({ type: 'l2BookDiff', coin: ['BTC', 'ETH'] })
  expect(world.reads).toEqual([])
  const codes = world.frames.map(({ code }) => code)
  expect(codes.filter((code) => code === 'credits_exhausted')).toHaveLength(20)
  expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(80)
  // A valid one is accepted in the same millisecond.
  await world.subscribe({ type: 'l2BookDiff', coin: 'BTC' })
  expect(world.log.slice(-2)).toEqual(['subscriptionResponse', 'Snapshot BTC'])
})

// WS-49
test('a takeover is free, and so rate-limited', async () => {
  const target = (marketTypes: string[]) => world.subscribe({ type: 'l2BookDiff2', marketTypes })
  await target(['perp'])
  for (let i = 0; i < 30; i++) await target(i % 2 === 0 ? ['*'] : ['perp'])
  const acks = world.frames.filter(({ channel }) => channel === 'subscriptionResponse')
  expect(acks).toHaveLength(1 + 20)
  expect(world.frames.some(({ code }) => code === 'rate_limited')).toBe(true)
})

test('a wildcard that ended while its successor joined does not pay for the successor', async () => {
  await world.subscribe(PERPS)
  world.during = () => {
    world.during = () => undefined
    world.unsubscribe(PERPS)
  }
  await world.subscribe(ALL)
  expect(charges()).toBe(2)
  expect(snapshotsOf(world)).toEqual(['@1', 'BTC', 'BTC', 'ETH', 'ETH', 'SOL', 'SOL'])
  world.frames.length = 0
  world.block(['BTC', '@1'])
  expect(world.updates()).toEqual([[world.height, ['@1', 'BTC']]])
})

test('a body canceled and resubscribed while its snapshots are in flight gets them again', async () => {
  const open = closedGate()
  await subscribe(PERPS)
  await vi.waitFor(() => expect(charges()).toBe(1))
  world.unsubscribe(PERPS)
  await subscribe(PERPS)
  open()
  await world.subscriptions.settled()
  expect(snapshotsOf(world)).toEqual(['BTC', 'ETH', 'SOL'])
  expect(world.subscriptions.size).toBe(1)
})

test('a body canceled and resubscribed while it is charged is served once', async () => {
  const body = { type: 'l2BookDiff', coin: 'BTC' }
  await world.accounts.of('acme').canAfford(1)
  const open = closedMeter()
  await subscribe(body)
  world.unsubscribe(body)
  await subscribe(body)
  open()
  await world.subscriptions.settled()
  expect(world.log.filter((what) => what !== 'charge')).toEqual([
    'subscriptionResponse',
    'subscriptionResponse',
    'Snapshot BTC',
  ])
  world.block(['BTC'])
  expect(world.updates()).toEqual([[11, ['BTC']]])
  expect([world.subscriptions.size, world.books.size]).toEqual([1, 1])
  await world.accounts.settled()
  expect(charges() - world.meter.refunds.length).toBe(1)
})

test('a body canceled before it is queued is not charged', async () => {
  const open = closedMeter()
  await subscribe(PERPS)
  world.unsubscribe(PERPS)
  open()
  await world.subscriptions.settled()
  expect([charges(), world.books.size]).toEqual([0, 0])
})

// WS-63
test("bounds the memory of an account's pending bodies, canceled ones included", async () => {
  const open = closedMeter()
  world.coins = Array.from({ length: 500 }, (_, i) => `C${i}`.padEnd(60, 'x'))
  const body = { type: 'l2BookDiff', coin: world.coins }
  for (let i = 0; i < 100; i++) {
    await subscribe(body)
    world.unsubscribe(body)
  }
  const codes = world.frames.map(({ code }) => code)
  expect(codes.filter((code) => code === 'rate_limited').length).toBeGreaterThan(30)
  open()
  await world.subscriptions.settled()
  world.clock.nowMs += 1000
  await world.subscribe(PERPS)
  expect(world.log.at(-1)).toMatch(/^Snapshot/)
})

test('an acknowledgement that ends its socket leaves nothing behind', async () => {
  for (const body of [{ type: 'l2BookDiff2' }, { type: 'allFills' }, PERPS]) {
    const client = clientOf('ending')
    client.onFrame = () => client.connection.onClosed()
    await client.subscribe(body)
    await world.subscriptions.settled()
    expect(client.frames).toHaveLength(1)
    expect([world.subscriptions.size, world.books.size, world.events.size]).toEqual([0, 0, 0])
  }
})

test('bodies charged together do not outlive a socket that ends with the first acknowledgement', async () => {
  const client = clientOf('ending')
  client.onFrame = () => client.connection.onClosed()
  const open = closedMeter()
  world.accounts.of('ending').report()
  for (const coin of ['BTC', 'ETH', 'SOL']) await client.subscribe({ type: 'l2BookDiff', coin })
  const events = client.subscribe({ type: 'allFills' })
  open()
  await events
  await world.subscriptions.settled()
  await world.accounts.settled()
  expect([world.subscriptions.size, world.books.size, world.events.size]).toEqual([0, 0, 0])
  const before = charges()
  await world.pass(120_000)
  expect(charges()).toBe(before)
})
