// Reported feeders and gaps, across heartbeats, disconnects, resets and restarts of the log.

import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BlockLogStore } from '../../src/block-log/block-log.store.ts'
import { ZERO_COUNTERS } from '../kit/counters.ts'
import { FakeFeeder, log, WAIT } from './fake-feeder.worker.ts'

const PULSE = {
  type: 'pulse',
  now: 1,
  head: 7,
  time: 490,
  state: 'waiting for blocks',
  ...ZERO_COUNTERS,
}

let feeder: FakeFeeder
let base = 0
beforeEach(async () => {
  await log().reset()
  base += 1000
  feeder = await FakeFeeder.connect()
})
afterEach(() => feeder.close())

const feeders = async () => (await log().status()).feeders
const only = async (name: string) => (await feeders()).find((one) => one.name === name)
const gap = async () => (await log().status()).gaps[0]!

async function seeded(first = base): Promise<void> {
  feeder.hello(first, base, 'one')
  await feeder.next('welcome')
  feeder.snapshot(base, [])
  await feeder.acked(base)
}

describe('a feeder', () => {
  // FEED-27
  it('shows its pulse, which stores nothing and interrupts no parts', async () => {
    await seeded()
    const { heardMs } = (await only('one'))!
    const stored = () =>
      runInDurableObject(log(), (_, { storage }) => storage.sql.exec('SELECT total_changes() AS n').one().n)
    const before = await stored()
    const books = { height: base, time: 1, books: [], parts: 2 }
    feeder.send({ type: 'snapshot', scope: 'all', ...books, part: 0 })
    feeder.send(PULSE)
    await vi.waitFor(async () => expect((await only('one'))!.state).toBe('waiting for blocks'), WAIT)
    expect(await stored()).toBe(before)
    const view = (await only('one'))!
    expect(view).toMatchObject({ connected: true, head: base, time: 490, lagMs: -489, blockMs: null })
    expect(view.heardMs).toBeGreaterThanOrEqual(heardMs)
    expect((await log().status()).height).toBe(base)
    const { epoch } = await log().status()
    feeder.send({ type: 'snapshot', scope: 'all', ...books, part: 1 })
    await vi.waitFor(async () => expect((await log().status()).epoch).not.toBe(epoch), WAIT)
  })

  // FEED-27
  it('must send a hello before a pulse, with printable strings', async () => {
    feeder.send(PULSE)
    expect((await feeder.next('error')).field).toBe('type')
    await seeded()
    feeder.send({ ...PULSE, state: '\u001b[31m' })
    expect((await feeder.next('error')).field).toBe('state')
    feeder.send({ ...PULSE, state: 'x'.repeat(65) })
    expect((await feeder.next('error')).field).toBe('state')
  })

  // FEED-27
  it('reports stalls and late lines as valid numbers', async () => {
    await seeded()
    for (const field of ['stallMs', 'stalls', 'lateLines'] as const) {
      feeder.send({ ...PULSE, [field]: -1 })
      expect((await feeder.next('error')).field).toBe(field)
    }
    feeder.send({ ...PULSE, stallMs: 40, stalls: 2, lateLines: 3 })
    const told = { gaps: 0, stallMs: 40, stalls: 2, lateLines: 3 }
    await vi.waitFor(async () => expect((await only('one'))!.counters).toMatchObject(told), WAIT)
  })

  it('that left stays listed with time and reason until it is back', async () => {
    await seeded()
    feeder.block(base + 1, [])
    await feeder.acked(base + 1)
    feeder.close()
    await vi.waitFor(async () => expect((await only('one'))!.connected).toBe(false), WAIT)
    const view = (await only('one'))!
    expect(view).toMatchObject({ head: base + 1, why: expect.stringContaining('stopped'), state: null })
    expect(view.endedMs).toBeGreaterThanOrEqual(view.blockMs!)
    expect(await log().status()).toMatchObject({ state: 'link_down', advice: expect.stringContaining('"one"') })
    feeder = await FakeFeeder.connect()
    feeder.hello(base, base, 'one')
    await feeder.next('welcome')
    expect((await feeders()).filter(({ name }) => name === 'one')).toMatchObject([{ connected: true, why: null }])
  })

  it('that reconnected before its old connection ended has not left', async () => {
    await seeded()
    const again = await FakeFeeder.connect()
    again.hello(base, base, 'one')
    await again.next('welcome')
    feeder.close()
    await vi.waitFor(async () => expect((await feeders()).filter(({ connected }) => connected)).toHaveLength(1), WAIT)
    expect((await feeders()).filter(({ name }) => name === 'one')).toHaveLength(1)
    again.close()
  })
})

describe('after a restart of the log', () => {
  it('the time of its last block is known, and lost feeders are listed as departed', async () => {
    await seeded()
    feeder.block(base + 1, [])
    await feeder.acked(base + 1)
    await abortAllDurableObjects()
    const status = await log().status()
    expect(status).toMatchObject({ height: base + 1, time: (base + 1) * 70, blockMs: null, state: 'link_down' })
    expect(await only('one')).toMatchObject({ connected: false, why: expect.stringContaining('restarted') })
    const { endedMs } = (await only('one'))!
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(endedMs!), WAIT)
    await abortAllDurableObjects()
    expect((await only('one'))!.endedMs).toBe(endedMs)
    await log().reset()
    expect(await log().status()).toMatchObject({ height: null, time: null })
  })

  it('the time of a snapshot without a later block is known', async () => {
    await seeded()
    await abortAllDurableObjects()
    expect(await log().status()).toMatchObject({ height: base, time: base * 70 })
  })
})

describe('a gap', () => {
  const gone = async (first: number) => {
    feeder.send({ type: 'gone', first })
    feeder.block(first, null)
    await feeder.acked(first)
    return await gap()
  }

  // FEED-11
  it('has the reason files_gone or lines_missing', async () => {
    await seeded(base + 5)
    expect(await gone(base + 5)).toMatchObject({ from: base + 1, to: base + 4, why: 'files_gone' })
    const lacking = await gone(base + 7)
    expect(lacking).toMatchObject({ from: base + 6, to: base + 6, why: 'lines_missing' })
    expect(Math.abs(Date.now() - lacking.atMs!)).toBeLessThan(60_000)
  })

  // FEED-25
  it('has the reason refused only for a rejected block', async () => {
    await seeded()
    feeder.send({ type: 'block', height: base + 1 })
    await feeder.next('error')
    expect(await gone(base + 2)).toMatchObject({ from: base + 1, to: base + 1, why: 'refused' })
    expect(await gone(base + 4)).toMatchObject({ from: base + 3, why: 'lines_missing' })
  })

  // FEED-17
  it('has the reason seeded_above for books above the log', async () => {
    feeder.hello(base + 9, base + 9, 'one')
    await feeder.next('welcome')
    feeder.snapshot(base, [])
    await feeder.acked(base)
    feeder.snapshot(base + 9, [])
    await feeder.acked(base + 9)
    expect(await gap()).toMatchObject({ from: base + 1, to: base + 9, why: 'seeded_above' })
  })

  // FEED-21
  it('has the reason reset, as does the feeder that it disconnected', async () => {
    await seeded()
    await log().reset()
    expect(await gap()).toMatchObject({ from: base + 1, to: base + 1, why: 'reset' })
    expect(await only('one')).toMatchObject({ connected: false, why: 'the feed was reset' })
  })

  it('from before a reset does not belong to the next chain', async () => {
    await runInDurableObject(log(), (_, { storage }) => {
      storage.sql.exec('DELETE FROM gaps')
      const store = new BlockLogStore(storage)
      store.addGap({ from: 10, to: 12, why: 'files_gone', atMs: 60 })
      store.addGap({ from: 20, to: 25, why: 'files_gone', atMs: 70 })
      expect([11, 21].map((height) => store.gapAt(height))).toEqual([12, 25])
      store.addGap({ from: 31, to: 31, why: 'reset', atMs: 77 })
      expect([11, 21, 31].map((height) => store.gapAt(height))).toEqual([null, null, null])
      store.addGap({ from: 22, to: 23, why: 'refused', atMs: 77 })
      expect([21, 22, 23].map((height) => store.gapAt(height))).toEqual([null, 23, 23])
      expect(store.gaps(9)).toHaveLength(4)
    })
  })
})

it('the ages that relays report are shown by region, with the locations of the log and the hubs', async () => {
  const report = {
    v: 1,
    subscriptions: 2,
    sockets: 3,
    counts: [
      [40, 90],
      [80, 10],
    ] as const,
  }
  for (const relay of ['c/weur/0', 'c/weur/1001', 'c/apac/0']) await log().ages({ ...report, relay })
  const { feedRegion, regions } = await log().status()
  expect(feedRegion).toBeNull()
  expect(regions).toEqual([
    { region: 'apac', relays: 1, sockets: 3, subscriptions: 2, p50Ms: 31, p99Ms: 1023 },
    { region: 'weur', relays: 2, sockets: 6, subscriptions: 4, p50Ms: 31, p99Ms: 1023 },
  ])
})
