// The stream connection of the live page, and the market book and replay on it, with fake sockets and a fake clock. The
// connection itself is tested in test/client.

import { expect, it } from 'vitest'
import type { ConnectionStatus } from '../../../src/client/api.ts'
import { MarketBook } from '../../../src/console/live/market-book.ts'
import { MarketReplay } from '../../../src/console/live/market-replay.ts'
import { createStreamConnection, type StreamAccess } from '../../../src/console/live/stream-connection.ts'
import * as strings from '../../../src/console/live/strings.ts'
import { CONNECTION } from '../../../src/console/live/strings.ts'
import { bookChecksum } from '../../../src/order-books/checksum.ts'
import { LevelBook } from '../../../src/order-books/level-book.ts'
import type { Levels } from '../../../src/protocol/feed/block.ts'
import { FakeRuntime } from '../../client/fake-runtime.ts'

const GOOD: StreamAccess = { ok: true, endpoint: { url: 'http://gateway', key: 'cqe_1' } }
const turn = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

async function connected({ access = GOOD as StreamAccess } = {}) {
  const runtime = new FakeRuntime()
  const states: ConnectionStatus[] = []
  const requested: boolean[] = []
  const world = { access, runtime, states, requested }
  const link = createStreamConnection(
    runtime,
    async (isFresh) => {
      requested.push(isFresh)
      return world.access
    },
    { onState: (state) => void states.push(state) },
  )
  link.start()
  await turn()
  const open = async () => {
    runtime.last.open()
    await turn()
  }
  /** Advances to the retry and opens its socket. */
  const again = async () => {
    runtime.advance(20_000)
    await turn()
    await open()
  }
  const answer = async (data: unknown) => {
    await runtime.posts.at(-1)!.answer({ status: 200, text: JSON.stringify(data), retryAfterMs: null })
    await turn()
  }
  return Object.assign(world, { link, open, again, answer, sent: () => runtime.last.sent })
}

it('reuses its token, and replaces it when a socket never opened or the token ended', async () => {
  const { open, again, requested, runtime, states, link } = await connected()
  expect(runtime.last.url).toBe('ws://gateway/ws?key=cqe_1')
  await open()
  runtime.last.end({ code: 1006 })
  await again()
  link.interrupt('test')
  runtime.advance(20_000)
  await turn()
  runtime.last.end({ code: 1006 })
  await again()
  expect(requested).toEqual([false, false, false, true])
  for (const code of [4410, 4401, 1008]) {
    runtime.last.end({ code })
    await again()
    expect(requested.pop()).toBe(true)
  }
  expect(states.at(-1)).toEqual({ state: 'open' })
})

it('stops after a permanent rejection until restarted, and waits while the gateway is busy', async () => {
  const world = await connected()
  await world.open()
  world.access = { ok: false, reason: 'sign in', isTransient: false }
  world.runtime.last.end({ code: 4410, reason: 'token expired' })
  expect(world.states.at(-1)).toMatchObject({ state: 'waiting', reason: CONNECTION.tokenExpired })
  for (let hour = 0; hour < 2; hour++) {
    world.runtime.advance(600_000)
    await turn()
    expect(world.states.at(-1)).toMatchObject({ state: 'fatal', reason: 'sign in' })
  }
  expect([world.runtime.sockets.length, world.requested.length]).toEqual([1, 2])
  for (const [waitMs, least] of [
    [undefined, 0],
    [15_000, 15_000],
  ] as const) {
    world.access = { ok: false, reason: 'busy', isTransient: true, ...(waitMs && { waitMs }) }
    world.link.start()
    await turn()
    const last = world.states.at(-1)!
    expect(last).toMatchObject({ state: 'waiting', reason: 'busy' })
    expect(last.state === 'waiting' && last.retryMs >= least && last.retryMs < 30_000).toBe(true)
  }
})

const BOOK: Levels = [[{ px: '99', sz: '1', n: 1 }], [{ px: '101', sz: '2', n: 1 }]]
const batch = (height: number, prev: number, levels: Levels, checksum: number, epoch = 'e') => ({
  channel: 'l2BookDiff2',
  data: {
    Updates: {
      epoch,
      block_height: height,
      time: height * 10,
      book_diffs: [{ coin: 'BTC', seq: height, prev_seq: prev, levels, checksum }],
    },
  },
})
const SNAPSHOT = { coin: 'BTC', time: 50, height: 5, epoch: 'e', seq: 5, levels: BOOK }

async function followedMarket() {
  const world = await connected()
  const activity: string[] = []
  const observer = {
    onChange: () => {},
    onBlock: () => {},
    onActivity: (kind: string, text: string) => activity.push(`${kind} ${text}`),
  }
  const market = new MarketBook(world.link, world.runtime, 'BTC', observer)
  await world.open()
  world.runtime.last.ack()
  await turn()
  return { ...world, market, activity }
}

it('a book is in sync by sequence numbers and checksums, and fetched again on a mismatch', async () => {
  const { market, activity, runtime, answer } = await followedMarket()
  await answer(SNAPSHOT)
  expect([market.state, market.book!.seq]).toEqual(['in step', 5])
  const next: Levels = [[{ px: '99', sz: '3', n: 1 }], []]
  const after = LevelBook.of(BOOK)
  after.apply(next)
  runtime.last.receive(batch(6, 5, next, bookChecksum(after)))
  expect([market.state, market.book!.checks, market.height, market.blockMs]).toEqual(['in step', 1, 6, 60])
  runtime.last.receive(batch(8, 7, next, 0))
  expect([market.state, market.book!.live]).toEqual(['syncing', false])
  await turn()
  await answer({ ...SNAPSHOT, height: 8, seq: 8 })
  runtime.last.receive(batch(9, 8, next, 12345))
  expect([market.state, market.book!.live]).toEqual(['syncing', false])
  expect(activity.map((line) => line.split(':')[0])).toEqual([
    'good BTC in sync',
    'bad BTC resyncing',
    'good BTC in sync',
    'bad BTC resyncing',
  ])
})

it('a book is out of step while disconnected; a new epoch is reported', async () => {
  const { market, activity, runtime, answer, again, link } = await followedMarket()
  await answer(SNAPSHOT)
  link.interrupt('test')
  expect([market.state, market.book!.live]).toEqual(['out of step', false])
  await again()
  runtime.last.ack()
  await turn()
  runtime.last.receive(batch(9, 8, BOOK, 0, 'f'))
  await answer({ ...SNAPSHOT, epoch: 'f', height: 9, seq: 9 })
  expect(market.state).toBe('in step')
  expect(activity).toContain(`wait ${strings.activityEpoch('f')}`)
})

it('a replay shows snapshots, changes, trades, gaps and the end', async () => {
  const { link, open, sent, runtime } = await connected()
  await open()
  const activity: string[] = []
  const range = { fromTime: 1, toTime: 100, speed: 10 }
  const observer = { onChange: () => {}, onActivity: (_: string, text: string) => activity.push(text) }
  const replay = new MarketReplay(link, 'BTC', range, observer)
  expect(sent()).toMatchObject([
    { subscription: { type: 'l2BookDiff', coin: 'BTC' }, replay: range },
    { subscription: { type: 'trades', coin: 'BTC' }, replay: range },
  ])
  runtime.last.ack()
  runtime.last.receive({
    channel: 'l2BookDiff',
    data: { Snapshot: { coin: 'BTC', time: 10, block_height: 1, levels: BOOK } },
  })
  const diffs = [{ coin: 'BTC', levels: [[{ px: '99', sz: '7', n: 1 }], []] }]
  runtime.last.receive({ channel: 'l2BookDiff', data: { Updates: { time: 20, block_height: 2, book_diffs: diffs } } })
  runtime.last.receive({ channel: 'trades', data: [{ coin: 'BTC', px: '99', sz: '1', side: 'B', time: 21, tid: 1 }] })
  expect([replay.state, replay.timeMs, replay.book?.levels()[0][0]?.sz, replay.trades.length]).toEqual([
    'playing',
    21,
    '7',
    1,
  ])
  const news = (event: string, more = {}) =>
    runtime.last.receive({
      channel: 'replay',
      data: { event, subscription: { type: 'l2BookDiff', coin: 'BTC' }, ...more },
    })
  replay.pause()
  expect(sent().filter(({ method }) => method === 'replay')).toHaveLength(2)
  news('paused')
  expect(replay.state).toBe('paused')
  news('gap', { from: 3, to: 9 })
  news('unknown', { from: 10 })
  expect([replay.book, activity]).toEqual([null, [strings.activityReplayGap(3, 9), strings.activityReplayNoBooks(10)]])
  news('ended')
  expect([replay.state, activity.at(-1)]).toEqual(['over', strings.activityReplayFinished])
})
