import { abortAllDurableObjects, evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BlockRange, FillScope } from '../../src/protocol/feed/durable-api.ts'
import type { BlockLogApi } from '../../src/protocol/feed/log-api.ts'
import { fillWith } from '../kit/fills.ts'
import { FakeFeeder, hub, levelsOf, log, WAIT } from './fake-feeder.worker.ts'

/** A coin's order book in the hub's answer, once the hub has reached `height`. */
async function bookAt(coin: string, height: number, timeout = WAIT.timeout) {
  return vi.waitFor(
    async () => {
      const answer = await hub(coin).snapshot(coin)
      if (!answer.ok) throw new Error(answer.reason)
      if (answer.snapshot.height !== height) throw new Error(`at ${answer.snapshot.height}`)
      return { ...answer.snapshot, levels: JSON.parse(answer.snapshot.levels) as unknown }
    },
    { timeout, interval: 20 },
  )
}

let feeder: FakeFeeder
let base = 0

/** Each test uses its own heights on the one log in this file's storage. */
beforeEach(async () => {
  await log().reset()
  base += 1000
  feeder = await FakeFeeder.connect()
})
afterEach(() => feeder.close())

async function seeded(): Promise<string> {
  feeder.hello(base, base)
  expect(await feeder.next('welcome')).toEqual({ type: 'welcome', epoch: null, height: null })
  await vi.waitFor(async () => expect((await log().status()).readers).toHaveLength(Number(env.BOOK_HUBS)), WAIT)
  feeder.snapshot(base, [
    { coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) },
    { coin: 'ETH', levels: levelsOf(['10', '2.0', 2]) },
  ])
  await feeder.acked(base)
  return (await log().status()).epoch!
}

const ANN = `0x${'a'.repeat(40)}`

/** The frame of a block as relays get it. */
async function frameAt(height: number): Promise<string> {
  const { frames } = await (log() as unknown as BlockLogApi).events({ v: 1, from: height })
  return frames?.find((text) => (JSON.parse(text) as { height?: number }).height === height) ?? ''
}

describe('the log', () => {
  // FEED-10, FEED-16
  it('accepts blocks in order, acknowledges durable blocks, and hubs follow', async () => {
    const epoch = await seeded()
    feeder.block(base + 1, [{ coin: 'BTC', levels: levelsOf(['101', '3.0', 1]) }])
    feeder.block(base + 2, [])
    await feeder.acked(base + 2)
    expect(await bookAt('BTC', base + 2)).toMatchObject({
      epoch,
      seq: base + 1,
      levels: levelsOf(['101', '3.0', 1], ['100', '1.0', 1]),
    })
    expect(await bookAt('ETH', base + 2)).toMatchObject({ seq: base, levels: levelsOf(['10', '2.0', 2]) })
    expect(await hub('NOPE').snapshot('NOPE')).toMatchObject({ ok: false, reason: 'unknown_coin' })
  })

  // FEED-8, FEED-9
  it('requests missing blocks once, ignores other blocks until they arrive, and never applies a height twice', async () => {
    await seeded()
    const change = (sz: string) => [{ coin: 'BTC', levels: levelsOf(['100', sz, 1]) }]
    feeder.block(base + 3, change('9.0'))
    expect(await feeder.next('resend')).toEqual({ type: 'resend', from: base + 1 })
    feeder.block(base + 4, change('9.0'))
    feeder.block(base + 1, change('4.0'))
    feeder.block(base + 1, change('5.0'))
    feeder.block(base + 2, [])
    await feeder.acked(base + 2)
    expect(await bookAt('BTC', base + 2)).toMatchObject({ seq: base + 1, levels: levelsOf(['100', '4.0', 1]) })
  })

  // FEED-2, FEED-3
  it('rejects an invalid frame by field, applies nothing of it, and stays connected', async () => {
    await seeded()
    const refusal = async (frame: unknown) => {
      feeder.send(frame)
      return (await feeder.next('error')).field
    }
    expect(await refusal('{"type":')).toBe('')
    expect(await refusal('['.repeat(100) + ']'.repeat(100))).toBe('')
    expect(await refusal({ type: 'nonsense' })).toBe('type')
    const block = { type: 'block', height: base + 1, time: 1, fills: [], ledger: [], funding: [] }
    expect(await refusal({ ...block, books: [{ coin: 'BTC', levels: [[{ px: '1e5', sz: '1', n: 1 }], []] }] })).toBe(
      'books.0.levels.0.0.px',
    )
    expect(await refusal({ ...block, books: [{ coin: 'B\tC', levels: [[], []] }] })).toBe('books.0.coin')
    expect(await refusal({ ...block, fills: [['0xABC', {}]], books: [] })).toBe('fills.0.0')
    feeder.block(base + 1, [])
    await feeder.acked(base + 1)
    expect((await log().status()).height).toBe(base + 1)
  })

  // FEED-15
  it('has unknown books from a block without changes to the next snapshot, which starts an epoch', async () => {
    const epoch = await seeded()
    feeder.block(base + 1, null)
    await feeder.acked(base + 1)
    await vi.waitFor(async () => expect(await hub('BTC').snapshot('BTC')).toMatchObject({ reason: 'not_ready' }), WAIT)
    feeder.snapshot(base + 1, [{ coin: 'BTC', levels: levelsOf(['90', '1.0', 1]) }])
    feeder.block(base + 2, [])
    const book = await bookAt('BTC', base + 2)
    // ETH was not listed. Its clients learn from a change in the first block that its order book is empty.
    expect(book).toMatchObject({ seq: base + 2, levels: levelsOf(['90', '1.0', 1]) })
    expect(book.epoch).not.toBe(epoch)
  })

  // FEED-11
  it('records a gap for missing files of the node', async () => {
    await seeded()
    feeder.send({ type: 'gone', first: base + 5 })
    feeder.block(base + 5, null)
    await feeder.acked(base + 5)
    expect((await log().status()).gaps[0]).toMatchObject({ from: base + 1, to: base + 4 })
  })

  // FEED-21
  it('refuses a node that started over until the feed is reset', async () => {
    await seeded()
    feeder.block(base + 1, [])
    feeder.block(base + 1, [], { fills: [[ANN, fillWith({})]] })
    expect((await feeder.next('conflict')).reason).toContain('started over')
    expect((await log().status()).disagreements).toBeGreaterThan(0)
  })

  // FEED-20, FEED-41
  it('counts a differing copy of another feeder, uses no row of it, and continues', async () => {
    await seeded()
    feeder.block(base + 1, [])
    await feeder.acked(base + 1)
    const second = await FakeFeeder.connect()
    second.hello(base, base + 1, 'second')
    await second.next('welcome')
    second.block(base + 1, [], { fills: [[ANN, fillWith({})]], events: ['of another chain'] })
    second.block(base + 2, [])
    await second.acked(base + 2)
    const status = await log().status()
    expect(status.disagreements).toBeGreaterThan(0)
    expect(status.feeders.map(({ conflict }) => conflict)).toEqual([null, null])
    expect(await frameAt(base + 2)).not.toContain('of another chain')
    second.close()
  })

  // FEED-41
  it('sends a row of a copy that came second with the next block, once, and lets a feeder add rows to its own copy', async () => {
    await seeded()
    const before = (await log().status()).disagreements
    const second = await FakeFeeder.connect()
    second.hello(base, base, 'second')
    await second.next('welcome')
    const deposit = { users: [ANN], time: 5, hash: '0x1', delta: { type: 'deposit', usdc: '1.0' } }
    feeder.block(base + 1, [])
    await feeder.acked(base + 1)
    second.block(base + 1, [], { ledger: [deposit] })
    second.block(base + 2, [])
    await second.acked(base + 2)
    feeder.block(base + 1, [], { ledger: [deposit] })
    feeder.block(base + 2, [], { ledger: [deposit] })
    feeder.block(base + 3, [], { ledger: [deposit] })
    await feeder.acked(base + 3)
    const frames = await Promise.all([1, 2, 3].map((i) => frameAt(base + i)))
    expect(frames.map((frame) => (JSON.parse(frame) as { ledger: object[] }).ledger)).toEqual([[], [deposit], []])
    expect((await log().status()).disagreements).toBe(before)
    second.close()
  })
})

describe('retained fills', () => {
  const [ann, bob] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const
  const fillOf = (tid: number, more: object = {}) => fillWith({ tid, oid: tid, ...more })
  const read = async (scope: FillScope, before: number | null = null) => {
    const answer = await (log() as unknown as BlockLogApi).fills({ v: 1, scope, before })
    if ('retryMs' in answer) throw new Error('busy')
    return answer
  }
  const tids = (stretches: readonly BlockRange[]) =>
    stretches.flatMap(({ blocks }) => blocks.flatMap(({ fills }) => fills.map(([, { tid }]) => tid)))

  it('are returned by wallet and by builder, for durable heights, with the funding of that time', async () => {
    await seeded()
    feeder.block(base + 1, [], {
      fills: [
        [ann, fillOf(1)],
        [bob, fillOf(2, { builder: ann })],
      ],
    })
    feeder.block(base + 2, [], { funding: [{ coin: 'BTC', perUnit: '0.5' }] })
    feeder.block(base + 3, [], { ledger: [{ users: [ann], time: 1, hash: '0x', delta: { type: 'send' } }] })
    await feeder.acked(base + 3)
    const mine = await read({ by: 'user', address: ann })
    expect(mine).toEqual({
      v: 1,
      head: { height: base + 3, time: (base + 3) * 70 },
      stretches: mine.stretches,
      next: null,
    })
    expect(mine.stretches.flatMap(({ blocks }) => blocks.map(({ height }) => height)).sort()).toEqual([
      base + 1,
      base + 2,
    ])
    expect(tids(mine.stretches)).toEqual([1])
    expect(mine.stretches.at(-1)!.first).toEqual({ height: base + 1, time: (base + 1) * 70 })
    expect(tids((await read({ by: 'builder', address: ann })).stretches)).toEqual([2])
    expect(tids((await read({ by: 'user', address: '0xnobody' })).stretches)).toEqual([])
  })

  it('come in pages, newest first, each height once, and show gaps', async () => {
    await seeded()
    const filler = (i: number) => [`${i}${'x'.repeat(400_000)}`]
    for (let i = 1; i <= 6; i++) feeder.block(base + i, [], { fills: [[ann, fillOf(i)]], events: filler(i) })
    await feeder.acked(base + 6)
    feeder.send({ type: 'gone', first: base + 10 })
    feeder.block(base + 10, null, { fills: [[ann, fillOf(10)]] })
    await feeder.acked(base + 10)
    const stretches: BlockRange[] = []
    let pages = 0
    for (let before: number | null = null; ; pages++) {
      const answer = await read({ by: 'user', address: ann }, before)
      stretches.push(...answer.stretches)
      if (answer.next === null) break
      before = answer.next
    }
    expect(pages).toBeGreaterThan(0)
    expect(tids(stretches.toReversed())).toEqual([1, 2, 3, 4, 5, 6, 10])
    expect(stretches.map(({ first, last }) => [first.height, last])[0]).toEqual([base + 10, base + 10])
    const older = stretches.slice(1)
    expect([older.at(-1)!.first.height, older[0]!.last]).toEqual([base + 1, base + 6])
    for (const [i, { last }] of older.slice(1).entries()) expect(last + 1).toBe(older[i]!.first.height)
  })

  it('are returned even if replays have used up their budget for the second', async () => {
    await seeded()
    const filler = (i: number) => [`${i}${'x'.repeat(450_000)}`]
    for (let i = 1; i <= 4; i++) feeder.block(base + i, [], { fills: [[ann, fillOf(i)]], events: filler(i) })
    await feeder.acked(base + 4)
    const api = log() as unknown as BlockLogApi
    // The budget of a second, however long the reads take.
    vi.useFakeTimers({ toFake: ['Date'] })
    const pages = await Promise.all(Array.from({ length: 120 }, () => api.events({ v: 1, from: base + 1 })))
    vi.useRealTimers()
    const refused = pages.filter(({ retryMs }) => retryMs !== undefined)
    expect(refused.length).toBeGreaterThan(0)
    for (const { frames, head, retryMs } of refused)
      expect([frames, head, retryMs! <= 1000]).toEqual([[], base + 4, true])
    expect(tids((await read({ by: 'user', address: ann })).stretches).toSorted()).toEqual([1, 2, 3, 4])
  })

  it('do not exist in an empty log', async () => {
    expect(await read({ by: 'user', address: ann })).toEqual({ v: 1, head: null, stretches: [], next: null })
  })
})

describe('two feeders', () => {
  // FEED-22
  it('the remaining one declares the gap that the other should have filled', async () => {
    await seeded()
    const late = await FakeFeeder.connect()
    late.hello(base + 5, base + 9, 'late')
    await late.next('welcome')
    late.send({ type: 'gone', first: base + 5 })
    late.block(base + 5, null)
    expect(await late.next('resend')).toMatchObject({ from: base + 1 })
    feeder.close()
    const connected = async () => (await log().status()).feeders.filter((one) => one.connected)
    await vi.waitFor(async () => expect(await connected()).toHaveLength(1), WAIT)
    late.block(base + 6, null)
    expect(await late.next('resend')).toMatchObject({ from: base + 1 })
    late.send({ type: 'gone', first: base + 5 })
    late.block(base + 5, null)
    await late.acked(base + 5)
    late.close()
  })

  // FEED-22
  it('the books come from the second if the first left them unknown', async () => {
    const epoch = await seeded()
    const second = await FakeFeeder.connect()
    second.continue(feeder)
    second.hello(base, base, 'second')
    await second.next('welcome')
    feeder.block(base + 1, null)
    await feeder.acked(base + 1)
    feeder.close()
    second.block(base + 2, [])
    expect(await second.next('reseed')).toMatchObject({ coins: null })
    await vi.waitFor(async () => expect((await log().status()).booksKnown).toBe(true), WAIT)
    second.block(base + 3, [])
    expect((await bookAt('BTC', base + 3)).epoch).not.toBe(epoch)
    second.close()
  })

  // FEED-20
  it('a feeder that does not know the changes of a block leaves only that block to the other', async () => {
    const epoch = await seeded()
    const second = await FakeFeeder.connect()
    second.hello(base, base, 'second')
    await second.next('welcome')
    feeder.block(base, [])
    await feeder.next('ack')
    second.block(base + 1, null)
    feeder.block(base + 1, [])
    await feeder.acked(base + 1)
    expect(await log().status()).toMatchObject({ epoch, booksKnown: true })
    second.block(base + 2, null)
    feeder.block(base + 2, null)
    await feeder.acked(base + 2)
    expect((await log().status()).booksKnown).toBe(false)
    second.close()
  })

  it('a feeder whose node does not continue the log declares no gap', async () => {
    await seeded()
    feeder.block(base + 1, [])
    feeder.block(base + 1, [], { fills: [[ANN, fillWith({})]] })
    await feeder.next('conflict')
    feeder.send({ type: 'gone', first: base + 500 })
    feeder.send({ type: 'nonsense' })
    await feeder.next('error')
    expect((await log().status()).height).toBe(base + 1)
  })

  it('a log that starts with a block instead of books serves readers that waited for it', async () => {
    feeder.hello(base, base)
    await feeder.next('welcome')
    await vi.waitFor(async () => expect((await log().status()).readers).toHaveLength(Number(env.BOOK_HUBS)), WAIT)
    feeder.block(base, null)
    feeder.snapshot(base, [{ coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) }])
    feeder.block(base + 1, [])
    await feeder.acked(base + 1)
    await bookAt('BTC', base + 1)
    expect((await log().status()).readers.map(({ height }) => height)).toEqual(
      Array(Number(env.BOOK_HUBS)).fill(base + 1),
    )
  })
})

describe('after a crash', () => {
  // WS-31, FEED-5, FEED-16
  it('hubs and log continue from storage within the same epoch', async () => {
    const epoch = await seeded()
    for (let i = 1; i <= 30; i++) feeder.block(base + i, [{ coin: 'BTC', levels: levelsOf([`${100 + i}`, '1.0', 1]) }])
    await feeder.acked(base + 30)
    await bookAt('BTC', base + 30)
    await abortAllDurableObjects()
    const stopped = feeder
    feeder = await FakeFeeder.connect()
    feeder.continue(stopped)
    feeder.hello(base, base + 31)
    expect(await feeder.next('welcome')).toMatchObject({ epoch, height: base + 30 })
    const height = await advanceUntil(async () => {
      const answer = await hub('BTC').snapshot('BTC')
      return answer.ok && answer.snapshot.height > base + 30 ? answer.snapshot.height : null
    }, base + 31)
    const btc = await bookAt('BTC', height)
    expect((btc.levels as unknown[][])[0]).toHaveLength(31)
    expect(btc.epoch).toBe(epoch)
  })

  it('a hub that reconnected follows a log that was reset to lower heights', async () => {
    await seeded()
    feeder.block(base + 1, [{ coin: 'BTC', levels: levelsOf(['101', '1.0', 1]) }])
    feeder.block(base + 2, [{ coin: 'ETH', levels: levelsOf(['11', '1.0', 1]) }])
    await feeder.acked(base + 2)
    await bookAt('BTC', base + 2)
    await evictDurableObject(hub('BTC'))
    await advanceUntil(async () => ((await hub('BTC').snapshot('BTC')).ok ? base : null), base + 3)
    await log().reset()
    feeder = await FakeFeeder.connect()
    const low = base - 900
    feeder.hello(low, low)
    await feeder.next('welcome')
    feeder.snapshot(low, [{ coin: 'BTC', levels: levelsOf(['50', '1.0', 1]) }])
    feeder.block(low + 1, [])
    await feeder.acked(low + 1)
    // Earlier than the watchdog, which a working feed never triggers.
    expect(await bookAt('BTC', low + 1, 5000)).toMatchObject({ levels: levelsOf(['50', '1.0', 1]) })
  })

  it('a restarted hub reads missed blocks from the log', async () => {
    const epoch = await seeded()
    feeder.block(base + 1, [{ coin: 'BTC', levels: levelsOf(['101', '1.0', 1]) }])
    await bookAt('BTC', base + 1)
    for (let i = 2; i <= 5; i++) {
      await evictDurableObject(hub('BTC'))
      feeder.block(base + i, [{ coin: 'BTC', levels: levelsOf([`${100 + i}`, '1.0', 1]) }])
      await feeder.acked(base + i)
    }
    const height = await advanceUntil(async () => {
      const answer = await hub('BTC').snapshot('BTC')
      return answer.ok ? answer.snapshot.height : null
    }, base + 6)
    const book = await bookAt('BTC', height)
    expect((book.levels as unknown[][])[0]).toHaveLength(6)
    expect(book.epoch).toBe(epoch)
  })
})

/** Sends empty blocks until `seen` returns true. Requested order books arrive with a block. */
async function advanceUntil(seen: () => Promise<number | null>, from: number): Promise<number> {
  for (let height = from; height < from + 200; height++) {
    feeder.block(height, [])
    const found = await seen()
    if (found !== null) {
      await feeder.acked(height)
      return height
    }
    await scheduler.wait(20)
  }
  throw new Error('never seen')
}
