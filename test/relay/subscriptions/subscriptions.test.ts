// The order of a subscription's steps, against scripted hubs and a scripted meter.

import { beforeEach, expect, test } from 'vitest'
import { shardOf } from '../../../src/core/coin.ts'
import { keyHashOf } from '../../../src/core/ids.ts'
import { EMPTY_ACCOUNT } from '../../../src/metering/account-state.ts'
import type { CoinFragment } from '../../../src/protocol/hub/hub-link.ts'
import { Client, type Frame, identity, World } from '../world.ts'

let world: World
beforeEach(() => {
  world = new World()
})

// WS-18
test('the order is charge, ack, snapshots, then the changes that arrived meanwhile', async () => {
  world.during = () => world.block(['BTC', 'ETH'])
  await world.subscribe({ type: 'l2BookDiff', coin: ['BTC', 'ETH'] })
  world.during = () => undefined
  world.block(['BTC'])
  expect(world.log.slice(0, 2)).toEqual(['charge', 'subscriptionResponse'])
  expect(world.log.slice(2, 4).sort()).toEqual(['Snapshot BTC', 'Snapshot ETH'])
  const from = new Map(
    world.frames.flatMap(({ data }) => (data?.Snapshot ? [[data.Snapshot.coin, data.Snapshot.block_height]] : [])),
  )
  for (const [height, coins] of world.updates())
    for (const coin of coins) expect(height).toBeGreaterThan(from.get(coin))
  expect(world.updates().at(-1)).toEqual([world.height, ['BTC']])
})

test('sends each book once if they come in several replies', async () => {
  world.perAnswer = 1
  world.coins = Array.from({ length: 20 }, (_, i) => `C${i}`)
  await world.subscribe({ type: 'l2BookDiff' })
  const coins = world.frames.flatMap(({ data }) => data?.Snapshot?.coin ?? [])
  expect(coins.sort()).toEqual([...world.coins].sort())
  world.frames.length = 0
  await world.subscribe({ type: 'l2BookDiff', coin: world.coins })
  expect(world.frames.flatMap(({ data }) => data?.Snapshot?.coin ?? []).sort()).toEqual([...world.coins].sort())
})

test('waits for hubs without books, then rejects, uncharged', async () => {
  let requests = 0
  world.ready = false
  world.during = () => {
    if (++requests > 4) world.ready = true
  }
  await world.subscribe({ type: 'l2BookDiff', coin: 'BTC' })
  expect(world.log).toEqual(['charge', 'subscriptionResponse', 'Snapshot BTC'])
  world.during = () => undefined
  world.ready = false
  await world.subscribe({ type: 'l2BookDiff2', coin: 'ETH' })
  expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'unavailable' })
  expect(world.meter.charges).toHaveLength(1)
})

// WS-18
test('a rejected subscription leaves nothing behind', async () => {
  world.meter.account = EMPTY_ACCOUNT
  for (const coin of ['BTC', 'nope']) await world.subscribe({ type: 'l2BookDiff', coin })
  await world.subscribe({ type: 'allFills' })
  expect(world.frames.map(({ code }) => code)).toEqual(['credits_exhausted', 'not_found', 'credits_exhausted'])
  expect([world.subscriptions.size, world.books.size, world.events.size]).toEqual([0, 0, 0])
})

// WS-21
test('event channels reject a coin without a book, uncharged, and accept one that cannot be checked', async () => {
  for (const type of ['trades', 'allFills']) await world.subscribe({ type, coin: 'btc' })
  expect(world.frames.map(({ code }) => code)).toEqual(['not_found', 'not_found'])
  expect([world.meter.charges, world.subscriptions.size, world.events.size]).toEqual([[], 0, 0])
  world.ready = false
  await world.subscribe({ type: 'trades', coin: 'btc' })
  expect(world.log.slice(2)).toEqual(['charge', 'subscriptionResponse', 'trades'])
})

test('a key whose spending limit is used gets an error with the limit, before the ack and when a minute ends', async () => {
  world.meter.cap = 1_500_000
  await world.subscribe({ type: 'allFills' })
  await world.subscribe({ type: 'trades', coin: 'BTC' })
  const ofTheLimit = { code: 'credits_exhausted', data: expect.stringContaining('1.5') }
  expect(world.frames.at(-1)).toMatchObject(ofTheLimit)
  await world.pass(65_000)
  expect(world.closed).toBe(4402)
  expect(world.frames.at(-1)).toMatchObject(ofTheLimit)
})

test('a charge without a reply is repeated with the same id', async () => {
  world.meterDown = 1
  await world.subscribe({ type: 'allFills' })
  expect(world.log).toEqual(['charge', 'subscriptionResponse'])
  world.meterDown = 2
  await world.subscribe({ type: 'allFills', coin: 'BTC' })
  expect(world.frames.at(-1)).toMatchObject({ code: 'unavailable' })
})

test('a socket that closes during the subscribe leaves nothing behind, and its minute can be resumed', async () => {
  world.during = () => world.connection.onClosed()
  await world.subscribe({ type: 'l2BookDiff', coin: 'BTC' })
  expect([world.subscriptions.size, world.books.size, world.frames.length]).toEqual([0, 0, 0])
})

// WS-22
test('another wildcard takes over minute and books; only added coins get snapshots, and nothing twice', async () => {
  await world.subscribe({ type: 'l2BookDiff' })
  world.block(['BTC'])
  world.frames.length = 0
  world.during = () => world.block(['BTC', '@1'])
  await world.subscribe({ type: 'l2BookDiff', marketTypes: ['perp', 'spot'] })
  world.during = () => undefined
  world.block(['BTC', '@1'])
  expect(world.meter.charges).toHaveLength(1)
  expect(world.frames.flatMap(({ data }) => data?.Snapshot?.coin ?? [])).toEqual(['@1'])
  const btc = world.updates().flatMap(([height, coins]) => (coins.includes('BTC') ? [height] : []))
  expect(btc).toEqual([...new Set(btc)])
  expect(btc).toEqual(Array.from({ length: world.height - 11 }, (_, i) => 12 + i))
  // Narrower again: no snapshot, and spot is gone.
  world.frames.length = 0
  await world.subscribe({ type: 'l2BookDiff', marketTypes: ['perp'] })
  world.block(['BTC', '@1'])
  expect(world.updates()).toEqual([[world.height, ['BTC']]])
  expect(world.subscriptions.size).toBe(1)
})

// WS-22
test('a block reported by one hub before a takeover is sent when the others report it', async () => {
  await world.subscribe({ type: 'l2BookDiff2' })
  world.block(['BTC'])
  const height = ++world.height
  const hub = shardOf('BTC', 2)
  const receive = (at: number, coins: CoinFragment[]) =>
    world.books.push(at, { v: 1, epoch: 'e', height, time: 0, coins }, world.clock.nowMs)
  receive(hub, [{ mark: '=', coin: 'BTC', prevSeq: height - 1, levels: '[[],[]]' }])
  await world.subscribe({ type: 'l2BookDiff2', marketTypes: ['perp', 'spot'] })
  receive(1 - hub, [])
  expect(world.updates().at(-1)).toEqual([height, ['BTC']])
})

// WS-146
test('after the acknowledgement, every change has a checksum, only for bodies that request it', async () => {
  const all = { type: 'l2BookDiff2', marketTypes: ['*'] }
  const cases: [object, string[]][] = [
    [{ type: 'l2BookDiff2', coin: 'BTC', checksum: true }, ['BTC']],
    [{ type: 'l2BookDiff2', coin: ['ETH', '@1'], checksum: true }, ['@1', 'ETH']],
    [{ type: 'l2BookDiff2', checksum: true }, ['BTC', 'ETH', 'SOL']],
    [{ type: 'l2BookDiff2', coin: 'BTC', checksum: false }, []],
    [{ type: 'l2BookDiff2', coin: ['BTC'] }, []],
    [all, []],
    // Takes over from the previous one, whose types need nothing from their hubs.
    [{ ...all, checksum: true }, ['@1', 'BTC', 'ETH', 'SOL']],
  ]
  for (const [body, checked] of cases) {
    world.frames.length = 0
    await world.subscribe(body as { type: string })
    expect(world.frames[0]).toEqual({
      channel: 'subscriptionResponse',
      data: { method: 'subscribe', subscription: body },
    })
    const before = world.frames.length
    world.block(['BTC', 'ETH', 'SOL', '@1'])
    const diffs = world.frames.slice(before).at(-1).data.Updates.book_diffs
    expect(diffs.flatMap((diff: Frame) => (diff.checksum === 7 ? [diff.coin] : [])).sort()).toEqual(checked)
    if (!(body as { marketTypes?: unknown }).marketTypes) world.unsubscribe(body as { type: string })
  }
  expect(world.meter.charges).toHaveLength(6)
})

test('the same body on two sockets: after one unsubscribes, the other is still served', async () => {
  await world.subscribe({ type: 'l2BookDiff2', coin: 'BTC' })
  await world.subscribe({ type: 'l2BookDiff2', coin: ['BTC'] })
  world.unsubscribe({ type: 'l2BookDiff2', coin: 'BTC' } as { type: string })
  world.block(['BTC'])
  expect(world.updates()).toEqual([[world.height, ['BTC']]])
})

// WS-37
test('further minutes are charged as they start; due ones are paid at the end, and the rest serves one resubscribe', async () => {
  await world.subscribe({ type: 'allFills' })
  await world.pass(60_000)
  expect(world.meter.charges).toHaveLength(1)
  await world.pass(5_000)
  expect(world.meter.charges.map(({ subscription, ordinal }) => [subscription, ordinal])).toEqual([
    ['relay/s0', 0],
    ['relay/s0', 1],
  ])
  await world.pass(55_000)
  // A tenth of a second into the third minute, before any tick.
  world.clock.nowMs += 100
  world.unsubscribe({ type: 'allFills' })
  await world.accounts.settled()
  expect(world.meter.charges).toHaveLength(3)
  world.clock.nowMs += 59_000
  await world.subscribe({ type: 'allFills' })
  expect(world.meter.charges).toHaveLength(3)
  // The rest is used from here on, and not stored again.
  await world.pass(55_000)
  expect(world.meter.charges).toHaveLength(3)
  world.unsubscribe({ type: 'allFills' })
  await world.subscribe({ type: 'allFills' })
  expect(world.meter.charges).toHaveLength(4)
})

// WS-38
test('the rest of a minute is valid once, for the same body, within a minute', async () => {
  await world.subscribe({ type: 'allFills' })
  world.unsubscribe({ type: 'allFills' })
  await world.subscribe({ type: 'allFills', aggregateByTime: false })
  expect(world.meter.charges).toHaveLength(2)
  world.clock.nowMs += 60_000
  await world.subscribe({ type: 'allFills' })
  expect(world.meter.charges).toHaveLength(3)
})

test('a wildcard that took over leaves its rest under its own body', async () => {
  await world.subscribe({ type: 'l2BookDiff2' })
  await world.subscribe({ type: 'l2BookDiff2', marketTypes: ['spot'] })
  world.unsubscribe({ type: 'l2BookDiff2', marketTypes: ['spot'] } as { type: string })
  await world.subscribe({ type: 'l2BookDiff2', marketTypes: ['spot'] })
  expect(world.meter.charges).toHaveLength(1)
})

const channels = () => world.frames.map(({ channel }: Frame) => channel)
const warnings = () => world.frames.filter(({ channel }: Frame) => channel === 'notification')

// WS-39
test('warnings at a tenth and at the last minute, each once, then an error and 4402', async () => {
  world.meter.account = EMPTY_ACCOUNT
  world.meter.grant(20_500_000)
  await world.subscribe({ type: 'allFills' })
  await world.pass(17 * 60_000)
  expect(world.meter.charges).toHaveLength(17)
  expect(warnings()).toEqual([])
  await world.pass(60_000)
  expect(warnings()).toEqual([])
  await world.pass(60_000)
  expect(warnings()).toHaveLength(1)
  await world.pass(60_000)
  expect(warnings()).toHaveLength(2)
  expect(world.closed).toBeNull()
  await world.pass(60_000)
  expect(warnings()).toHaveLength(2)
  expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'credits_exhausted' })
  expect(world.closed).toBe(4402)
  expect(world.subscriptions.size).toBe(0)
  expect(world.meter.charges).toHaveLength(20)
})

test('after a top-up the warnings can come again', async () => {
  world.meter.account = EMPTY_ACCOUNT
  world.meter.grant(1_900_000)
  world.connection.enqueue(() => world.subscribe({ type: 'allFills' }))
  await world.connection.drained()
  await world.connection.drained()
  expect(channels()).toEqual(['subscriptionResponse', 'notification'])
  await world.pass(55_000)
  expect(warnings()).toHaveLength(1)
  world.meter.grant(10_000_000)
  await world.pass(20_000)
  expect(warnings()).toHaveLength(1)
  await world.pass(10 * 60_000)
  expect(warnings()).toHaveLength(2)
})

// WS-41
test('with the meter down, the stream continues for less than a minute, then closes with 1013', async () => {
  await world.subscribe({ type: 'allFills' })
  world.meterDown = 1000
  await world.pass(30_000)
  expect(world.closed).toBeNull()
  await world.pass(25_000)
  expect(world.closed).toBe(1013)
})

// WS-40
test('sockets of a revoked key close with 4401 within a minute, even without a subscription; other keys survive', async () => {
  const other = new Client(world, { keyHash: keyHashOf('k2') })
  await other.subscribe({ type: 'allFills' })
  await world.tick()
  world.meter.revoked.add('k')
  await world.pass(30_000)
  expect(world.closed).toBe(4401)
  expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'unauthorized' })
  expect(other.closed).toBeNull()
  await world.pass(60_000)
  expect(other.closed).toBeNull()
})

test('a revoked key is closed within a minute even if the meter does not respond', async () => {
  await world.tick()
  world.meter.revoked.add('k')
  world.meterDown = 1000
  await world.pass(60_000)
  expect(world.closed).not.toBeNull()
})

// WS-40
test.each([false, true])('a key that expires, replaced or not (%s), is closed with 4401', async (replaced) => {
  await world.subscribe({ type: 'allFills' })
  world.connection.renew({ ...identity, expires: world.clock.nowMs + 7_000, replaced }, 1)
  await world.pass(5_000)
  expect(world.closed).toBeNull()
  await world.pass(5_000)
  expect(world.closed).toBe(4401)
  expect(world.frames.at(-1)).toMatchObject({ code: 'unauthorized' })
})

// WS-20
test('limits subscriptions to 1,000 per socket, and per account to its plan', async () => {
  world.meter.grant(10_000_000_000)
  world.connection.renew({ ...identity, plan: 'professional' }, 0)
  world.coins = Array.from({ length: 1001 }, (_, i) => `C${i}`)
  for (let i = 0; i < 1001; i++) await world.subscribe({ type: 'allFills', coin: `C${i}` })
  expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'rate_limited' })
  expect(world.subscriptions.size).toBe(1000)
  world.unsubscribe({ type: 'allFills', coin: 'C0' } as { type: string })
  // A thousand of the entry plan: two run elsewhere.
  world.connection.renew(identity, 0)
  const elsewhere = { relay: 'other', life: 1, sockets: 1, subscriptions: 2, perMinute: 0, untilMs: 1e15 }
  world.meter.putPresence(elsewhere)
  await world.subscribe({ type: 'allFills' })
  expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'rate_limited' })
  world.meter.putPresence({ ...elsewhere, sockets: 0 })
  await world.subscribe({ type: 'allFills' })
  expect(world.frames.at(-1)).toMatchObject({ channel: 'subscriptionResponse' })
})

// WS-64
test('limits wallets by memory; a rejected client is not charged, and has room when others end', async () => {
  world.meter.grant(1_000_000_000)
  const body = (index: number) => {
    const addresses = Array.from({ length: 1000 }, (_, i) => `0x${String(index * 1000 + i).padStart(40, '0')}`)
    return { type: 'userFills', addresses }
  }
  for (let i = 0; i < 250; i++) await world.subscribe(body(i))
  expect(world.frames.every(({ channel }) => channel === 'subscriptionResponse')).toBe(true)
  expect(world.subscriptions.isCrowded).toBe(true)
  await world.subscribe(body(250))
  expect(world.frames.at(-1)).toMatchObject({ code: 'unavailable' })
  await world.accounts.settled()
  expect(world.meter.refunds).toHaveLength(1)
  world.unsubscribe(body(7))
  expect(world.subscriptions.isCrowded).toBe(false)
  await world.subscribe(body(250))
  expect(world.frames.at(-1)).toMatchObject({ channel: 'subscriptionResponse' })
})
