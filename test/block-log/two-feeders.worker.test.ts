// Two connections at once, each correct by itself: overlapping snapshots, a dead connection next to a live one, two
// feeders that wait for each other.

import { runInDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeFeeder, hub, levelsOf, log, WAIT } from './fake-feeder.worker.ts'

const LONG_MS = 20_000

let one: FakeFeeder
let two: FakeFeeder
let base = 0
beforeEach(async () => {
  await log().reset()
  base += 1000
  one = await FakeFeeder.connect()
  two = await FakeFeeder.connect()
})
afterEach(() => {
  vi.restoreAllMocks()
  one.close()
  two.close()
})

const BTC = (px: string) => [{ coin: 'BTC', levels: levelsOf([px, '1.0', 1]) }]

async function greeted(first = base): Promise<void> {
  one.hello(first, base, 'one')
  two.hello(first, base, 'two')
  await Promise.all([one.next('welcome'), two.next('welcome')])
}

async function seeded(first = base): Promise<void> {
  await greeted(first)
  one.snapshot(base, BTC('100'))
  await one.acked(base)
}

/** Waits until everything a feeder sent so far was processed. */
async function taken(feeder: FakeFeeder): Promise<void> {
  feeder.send({ type: 'nonsense' })
  while ((await feeder.next('error')).field !== 'type');
}

const part = (at: number, books: object[], scope: 'all' | 'coins' = 'all', height = base) => {
  return { type: 'snapshot', scope, height, time: 1, books, part: at, parts: 2 }
}

/** Levels of BTC once its hub has reached `height`. */
const bidsAt = (height: number) =>
  vi.waitFor(async () => {
    const answer = await hub('BTC').snapshot('BTC')
    if (!answer.ok || answer.snapshot.height < height) throw new Error(JSON.stringify(answer))
    return (JSON.parse(answer.snapshot.levels) as { px: string }[][])[0]!.map(({ px }) => px)
  }, WAIT)

const BLIND = { type: 'block', time: 1, fills: [], ledger: [], funding: [], books: null }

const height = async () => (await log().status()).height

describe('whole books of two feeders at once', () => {
  // FEED-17
  it('are accepted from the first, and the other is rejected', async () => {
    await greeted()
    one.send(part(0, BTC('100')))
    await taken(one)
    two.send(part(0, BTC('200')))
    expect((await two.next('error')).field).toBe('height')
    two.block(base + 1, BTC('201'))
    await taken(two)
    one.send(part(1, []))
    await one.acked(base)
    two.send(part(1, []))
    one.block(base + 1, [])
    expect(await bidsAt(base + 1)).toEqual(['100'])
    expect([...one.heard, ...two.heard]).not.toContain('reseed')
  })

  // FEED-18
  it('are never mixed, even with equal heights and numbers of parts', async () => {
    await seeded()
    const low = levelsOf(['90', '1.0', 1])
    const high = levelsOf(['80', '1.0', 1])
    one.send(part(0, [{ coin: 'BTC', levels: low }], 'coins'))
    await taken(one)
    two.send(part(0, BTC('200'), 'coins'))
    await taken(two)
    one.send(part(1, [{ coin: 'BTC', levels: high }], 'coins'))
    two.send(part(1, BTC('190'), 'coins'))
    one.block(base + 1, [])
    expect(await bidsAt(base + 1)).toEqual(['90', '80'])
  })

  // FEED-17
  it('are accepted from the other if the first stops halfway, and the first is rejected when it continues', async () => {
    await greeted()
    one.send(part(0, BTC('100')))
    await taken(one)
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + LONG_MS)
    two.snapshot(base, BTC('200'))
    await two.acked(base)
    expect((await one.next('error')).message).toContain('another feeder')
    one.send(part(1, []))
    two.block(base + 1, [])
    expect(await bidsAt(base + 1)).toEqual(['200'])
  })
})

// FEED-17
it('a snapshot of a joining feeder starts no epoch while the books are known', async () => {
  await seeded()
  one.block(base + 1, [])
  await one.acked(base + 1)
  const { epoch } = await log().status()
  two.snapshot(base + 1, BTC('200'))
  expect((await two.next('error')).field).toBe('height')
  expect(await log().status()).toMatchObject({ epoch, booksKnown: true })
})

describe('a connection that died silently', () => {
  // FEED-11
  it('does not block a gap of its successor with the same name', async () => {
    await seeded(base - 900)
    two.hello(base + 5, base + 9, 'one')
    await two.next('welcome')
    two.send({ type: 'gone', first: base + 5 })
    two.block(base + 5, null)
    await two.acked(base + 5)
    expect((await log().status()).gaps[0]).toMatchObject({ from: base + 1, to: base + 4 })
    expect((await log().status()).feeders.filter(({ connected }) => connected)).toHaveLength(1)
  })

  // FEED-11
  it("does not block another feeder's gap after some seconds of silence", async () => {
    await seeded(base - 900)
    two.send({ type: 'gone', first: base + 5 })
    two.block(base + 5, null)
    expect(await two.next('resend')).toMatchObject({ from: base + 1 })
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + LONG_MS)
    two.hello(base + 5, base + 9, 'two')
    await two.next('welcome')
    two.send({ type: 'gone', first: base + 5 })
    two.block(base + 5, null)
    await two.acked(base + 5)
  })

  // FEED-19
  it('is not asked for books instead of its successor with the same name', async () => {
    await seeded()
    one.block(base + 1, [])
    await one.acked(base + 1)
    two.continue(one)
    two.hello(base, base + 1, 'one')
    await two.next('welcome')
    await log().reseed(['BTC'], 'why not')
    expect(await two.next('reseed')).toMatchObject({ coins: ['BTC'] })
  })
})

// FEED-11
it('a feeder that claims missing blocks without sending them delays the log for at most 30 seconds', async () => {
  await seeded(base - 900)
  const gone = () => {
    two.send({ type: 'gone', first: base + 5 })
    two.block(base + 5, null)
  }
  gone()
  expect(await two.next('resend')).toMatchObject({ from: base + 1 })
  const now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now + 31_000)
  await taken(one)
  two.hello(base + 5, base + 9, 'two')
  await two.next('welcome')
  gone()
  await two.acked(base + 5)
})

/** `one` leads with a wrong order book, and `two` reveals it. */
async function distrusted(): Promise<void> {
  await seeded()
  two.continue(one)
  one.lie(base + 1, BTC('101'))
  await one.acked(base + 1)
  two.block(base + 1, BTC('99'))
  two.verified(['BTC'])
  await two.next('reseed')
  expect((await log().status()).wrongBooks[0]).toMatchObject({ feeder: 'one', why: 'wrong_book' })
}

// FEED-31
it('a snapshot of a distrusted feeder is not accepted', async () => {
  await distrusted()
  const { epoch } = await log().status()
  two.block(base + 2, [])
  await two.acked(base + 2)
  one.snapshot(base + 2, BTC('666'))
  expect((await one.next('error')).field).toBe('height')
  expect((await log().status()).epoch).toBe(epoch)
})

// FEED-31
it('a distrusted feeder is used again when the other cannot continue', async () => {
  await distrusted()
  two.block(base + 3, [])
  expect(await two.next('resend')).toMatchObject({ from: base + 2 })
  one.block(base + 2, [])
  await vi.waitFor(async () => expect(await height()).toBe(base + 2), WAIT)
})

/** A block of the first feeder was accepted. */
async function followed(): Promise<void> {
  await seeded()
  one.block(base + 1, [])
  await one.acked(base + 1)
}

/** The first feeder is disconnected. */
async function left(): Promise<void> {
  one.close()
  await vi.waitFor(async () => {
    const { feeders } = await log().status()
    expect(feeders.find(({ name }) => name === 'one')?.connected).toBe(false)
  }, WAIT)
}

// FEED-20
it('a feeder without the changes costs no books while another is briefly away', async () => {
  await followed()
  await left()
  two.send({ ...BLIND, height: base + 2 })
  two.send({ ...BLIND, height: base + 3 })
  await taken(two)
  expect(await height()).toBe(base + 1)
  one = await FakeFeeder.connect()
  one.hello(base, base + 2, 'one')
  await one.next('welcome')
  one.block(base + 2, BTC('101'))
  expect(await bidsAt(base + 2)).toEqual(['101', '100'])
  expect([...two.heard]).not.toContain('resend')
})

// FEED-20
it('a block that no other feeder sends is requested again and accepted', async () => {
  await followed()
  await left()
  two.send({ ...BLIND, height: base + 2 })
  expect(await two.next('resend')).toMatchObject({ from: base + 2 })
  two.send({ ...BLIND, height: base + 2 })
  await two.acked(base + 2)
  expect((await log().status()).booksKnown).toBe(false)
})

// FEED-21
it('frames in flight during a reset do not start the new log', async () => {
  await seeded()
  await runInDurableObject(log(), async (instance, state) => {
    const sockets = state.getWebSockets()
    await instance.reset()
    const block = JSON.stringify({ ...BLIND, height: base + 1 })
    for (const socket of sockets) await instance.webSocketMessage(socket, block)
  })
  expect(await height()).toBeNull()
})
