// Wrong order books, slow readers and links without blocks, detected by the log and the hubs.

import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { linesOf } from '../../src/archive/archive/archive-runner.ts'
import { OrderInterests } from '../../src/block-log/order-interests.do.ts'
import { ReaderLinks } from '../../src/block-log/reader-links.do.ts'
import { hubBlockText } from '../../src/block-log/segment.ts'
import { Objects } from '../../src/core/objects.client.ts'
import { LOG_API_VERSION } from '../../src/protocol/feed/log-api.ts'
import { FakeFeeder, hub, levelsOf, log } from './fake-feeder.worker.ts'

const WAIT = { timeout: 60_000, interval: 20 }

let feeder: FakeFeeder
let base = 0
beforeEach(async () => {
  await log().reset()
  base += 1000
  feeder = await FakeFeeder.connect()
  feeder.hello(base, base, 'first')
  await feeder.next('welcome')
  feeder.snapshot(base, [{ coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) }])
  await feeder.acked(base)
})
afterEach(() => feeder.close())

const TRUE = levelsOf(['100', '2.0', 1])
const ROGUE = levelsOf(['101', '9.0', 1], ['100', '2.0', 1])

/** Sends empty blocks of `from` until the order book of BTC is `levels`. */
async function comesTrue(from: FakeFeeder, height: number, levels: unknown): Promise<number> {
  for (let next = height; next < height + 500; next++) {
    from.block(next, [])
    const answer = await hub('BTC').snapshot('BTC')
    if (answer.ok && answer.snapshot.levels === JSON.stringify(levels)) return next
    await scheduler.wait(20)
  }
  throw new Error('never')
}

describe('a wrong book', () => {
  it("that was repaired is named in the next block's line, even after a crash in between", async () => {
    await log().reseed(['BTC'], 'it is wrong')
    await feeder.next('reseed')
    const books = [{ coin: 'BTC', levels: TRUE }]
    feeder.send({ type: 'snapshot', scope: 'coins', height: base, time: base * 70, books, part: 0, parts: 1 })
    feeder.send({ type: 'nonsense' })
    await feeder.next('error')
    await runInDurableObject(log(), (_, { storage }) => storage.sync())
    await abortAllDurableObjects()
    const again = await FakeFeeder.connect()
    again.continue(feeder)
    again.hello(base, base + 2, 'first')
    await again.next('welcome')
    for (const height of [base + 1, base + 2]) again.block(height, [])
    await again.acked(base + 2)
    const report = { last: null, segments: 0, checkpoint: null, failure: null }
    const { parts } = await log().archive({ v: LOG_API_VERSION, archived: null, from: base + 1, report })
    const lines = parts.flatMap((part) => ('gap' in part ? [] : linesOf(part)))
    expect(lines.slice(-2).map((line) => JSON.parse(line.books).repaired)).toEqual([['BTC'], undefined])
    again.close()
  })

  // FEED-20, FEED-30, FEED-31
  it('of the leader is repaired from the feeder that verified its own, and the leader is named', async () => {
    const honest = await FakeFeeder.connect()
    honest.continue(feeder)
    honest.hello(base, base, 'second')
    await honest.next('welcome')
    feeder.lie(base + 1, [{ coin: 'BTC', levels: ROGUE }])
    await feeder.acked(base + 1)
    honest.block(base + 1, [{ coin: 'BTC', levels: TRUE }])
    honest.verified(['BTC'])
    expect(await honest.next('reseed')).toMatchObject({ coins: ['BTC'] })
    await comesTrue(honest, base + 2, TRUE)
    const { wrongBooks, disagreements } = await log().status()
    expect(wrongBooks).toMatchObject([
      { feeder: 'first', coin: 'BTC', height: base + 1, why: 'wrong_book' },
      { feeder: 'second', coin: 'BTC', height: base + 1, count: 1, why: 'other_copy' },
    ])
    expect(disagreements).toBeGreaterThan(0)
    honest.close()
  })

  // FEED-30, FEED-31
  it('of a single feeder is found by its own verification', async () => {
    feeder.lie(base + 1, [{ coin: 'BTC', levels: ROGUE }])
    feeder.block(base + 2, [{ coin: 'BTC', levels: TRUE }])
    feeder.verified(['BTC'])
    await feeder.next('reseed')
    await comesTrue(feeder, base + 3, TRUE)
    expect((await log().status()).wrongBooks).toMatchObject([{ feeder: 'first', coin: 'BTC', why: 'wrong_book' }])
  })

  // FEED-30
  it('is not reported if books are right or changed since', async () => {
    feeder.block(base + 1, [{ coin: 'BTC', levels: TRUE }])
    feeder.verified(['BTC', 'NOPE'])
    feeder.block(base + 2, [{ coin: 'BTC', levels: levelsOf(['100', '3.0', 1]) }])
    feeder.send({ type: 'verified', height: base + 9, books: [{ coin: 'BTC', digest: 1 }] })
    feeder.send({ type: 'verified', height: base + 1, books: [{ coin: 'BTC', digest: 1 }] })
    expect(await feeder.next('reseed')).toMatchObject({ coins: ['BTC'] })
    expect((await log().status()).wrongBooks).toMatchObject([{ height: base + 1, count: 1 }])
  })
})

describe('a reader that does not read', () => {
  // FEED-24
  it('makes the log request a pause, then accept no more blocks', async () => {
    // However long this takes, the reader must not count as one that stalled for ten seconds and is disconnected.
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now)
    await runInDurableObject(hub('BTC'), (instance) => {
      Object.assign(instance, { webSocketMessage: () => undefined })
    })
    const bids = Array.from({ length: 9000 }, (_, i) => ({ px: `${i + 1}.25`, sz: '1.000000000000000001', n: 1 }))
    for (let i = 1; i <= 80; i++) feeder.lie(base + i, [{ coin: 'BTC', levels: [bids, []] }])
    expect((await feeder.next('slow')).retryMs).toBeGreaterThan(0)
    feeder.send({ type: 'nonsense' })
    await feeder.next('error')
    const { height } = await log().status()
    expect(height).toBeGreaterThan(base + 20)
    expect(height).toBeLessThan(base + 80)
    clock.mockRestore()
    await abortAllDurableObjects()
  })
})

describe('hubs', () => {
  it('attach before a feeder is asked for books, so that none misses the first parts', async () => {
    await log().reset()
    await abortAllDurableObjects()
    feeder = await FakeFeeder.connect()
    feeder.hello(base, base)
    await feeder.next('welcome')
    expect((await log().status()).readers).toHaveLength(Number(env.BOOK_HUBS))
  })

  it('reattach by themselves after losing their link', async () => {
    await runInDurableObject(hub('BTC'), (_, state) => {
      for (const socket of state.getWebSockets()) socket.close(1011)
    })
    await vi.waitFor(async () => {
      feeder.block(((await log().status()).height ?? 0) + 1, [])
      const { readers, height } = await log().status()
      expect(readers.map((one) => one.height)).toEqual(Array(Number(env.BOOK_HUBS)).fill(height))
    }, WAIT)
  })
})

describe('a reader that is behind', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  // FEED-24
  it('catches up no faster than it reads, so that live blocks are not delayed', () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const last = 12
    const bids = Array.from({ length: 24_000 }, (_, i) => ({ px: `${i}.12345678`, sz: '1.00000001', n: 1 }))
    const text = JSON.stringify({ coin: 'BTC', levels: [bids, []] })
    const lineOf = (height: number) =>
      hubBlockText({ height, time: 1, epoch: 'e', books: [{ coin: 'BTC', text }], px: {} }, () => true)
    const links = new ReaderLinks(
      new Objects(env, { CHAIN: 'test', FEED_REGION: null }),
      {
        lookUp: (_, height) => (height <= last ? [lineOf(height)] : null),
        pending: () => [],
        gapAt: () => null,
      },
      new OrderInterests(() => undefined, 0),
      () => undefined,
    )
    let chars = 0
    let report = (_: { data: string }) => {}
    const socket = {
      addEventListener: (type: string, listener: typeof report) => {
        if (type === 'message') report = listener
      },
      send: (text: string) => (chars += text.length),
    } as unknown as WebSocket
    const hubLink = { v: 1, reader: { kind: 'hub', index: 0, shards: 1 } as const, cursor: null, follows: true }
    const link = links.open({ ...hubLink, name: 'slow' }, 1, socket)
    vi.runAllTimers()
    expect(link.height).toBeLessThan(last)
    for (let reads = 0; link.height < last && reads < last; reads++) {
      report({ data: String(chars) })
      vi.runAllTimers()
    }
    expect(link.height).toBe(last)
  })
})

describe('links without blocks', () => {
  it('get a tick before they would count as dead, each in a form that its reader knows', () => {
    const sent: string[] = []
    const links = new ReaderLinks(
      new Objects(env, { CHAIN: 'test', FEED_REGION: null }),
      { lookUp: () => null, pending: () => [], gapAt: () => null },
      new OrderInterests(() => undefined, 0),
      () => undefined,
    )
    const socket = (name: string) =>
      ({ addEventListener: () => undefined, send: (text: string) => sent.push(name + text) }) as unknown as WebSocket
    const hubLink = { v: 1, reader: { kind: 'hub', index: 0, shards: 1 } as const, cursor: null }
    links.open({ ...hubLink, name: 'new', follows: true }, 6, socket('new'))
    links.open({ ...hubLink, name: 'old' }, 6, socket('old'))
    links.open({ v: 1, name: 'relay', reader: { kind: 'relay' }, cursor: null }, 6, socket('relay'))
    links.onSent(10_000)
    links.tick(5, 350, 12_999)
    expect(sent).toEqual([])
    links.tick(5, 350, 13_000)
    links.tick(5, 350, 15_000)
    expect(sent.map((text) => text.slice(0, 20))).toEqual(['new{"v":1,"t":"tick"', 'relay{"v":1,"t":"eve'])
    expect(sent[1]).toContain('"height":5')
  })
})
