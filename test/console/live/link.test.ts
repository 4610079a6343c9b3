// The page's link and what follows a market over it, against sockets and a clock in the test's hands.

import { expect, it } from 'vitest'
import { bookChecksum } from '../../../src/book/checksum.ts'
import { LevelBook } from '../../../src/book/level-book.ts'
import { Link, type LinkState, type Pass } from '../../../src/console/live/link.ts'
import { MarketBook } from '../../../src/console/live/market-book.ts'
import { PlayedMarket } from '../../../src/console/live/played-market.ts'
import type { Levels } from '../../../src/feed/block.ts'
import { FakeRuntime } from '../../client/fake-runtime.ts'

const GOOD: Pass = { ok: true, url: 'ws://gateway/ws?token=cqe_1' }
const turn = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

async function linked({ pass = GOOD as Pass } = {}) {
  const runtime = new FakeRuntime()
  const states: LinkState[] = []
  const asked: boolean[] = []
  const notices: string[] = []
  const world = { pass, runtime, states, asked, notices }
  const link = new Link(
    runtime,
    async (isFresh) => {
      asked.push(isFresh)
      return world.pass
    },
    (state) => states.push(state),
    (text) => notices.push(text),
  )
  link.start()
  await turn()
  const open = async () => {
    runtime.last.open()
    await turn()
  }
  /** Lets retries come, and opens what they connect. */
  const again = async () => {
    runtime.advance(20_000)
    await turn()
    await open()
  }
  // biome-ignore lint/suspicious/noExplicitAny: frames of a test are looked into freely.
  const sent = () => runtime.last.sent as any[]
  const posted = () => sent().findLast(({ method }) => method === 'post')
  const answer = async (data: unknown, frame = posted()) => {
    const payload = { type: frame.request.payload.type, data }
    runtime.last.receive({ channel: 'post', data: { id: frame.id, response: { type: 'info', payload } } })
    await turn()
  }
  return Object.assign(world, { link, open, again, sent, posted, answer })
}

it('subscribes again after a loss, with the token it has; and with another one where a socket never opened', async () => {
  const { link, open, again, sent, asked, runtime, states } = await linked()
  const heard: string[] = []
  const hearer = {
    frame: () => {},
    refused: () => {},
    acked: () => heard.push('acked'),
    lost: () => heard.push('lost'),
  }
  link.subscribe({ type: 'trades', coin: 'BTC' }, hearer)
  await open()
  expect(sent()).toMatchObject([{ method: 'subscribe', subscription: { type: 'trades', coin: 'BTC' } }])
  runtime.last.ack()
  runtime.last.end({ code: 1006 })
  await again()
  runtime.last.ack()
  expect(heard).toEqual(['acked', 'lost', 'acked'])
  link.break()
  runtime.advance(20_000)
  await turn()
  runtime.last.end({ code: 1006 })
  runtime.advance(20_000)
  await turn()
  expect(asked).toEqual([false, false, false, true])
  expect(states.at(-1)).toEqual({ state: 'connecting' })
})

it('fetches another token when its own has ended, and stops where it is refused', async () => {
  const world = await linked()
  await world.open()
  world.runtime.last.end({ code: 4410, reason: 'token expired' })
  expect(world.states.at(-1)).toMatchObject({ state: 'waiting', reason: expect.stringContaining('the token ended') })
  world.pass = { ok: false, reason: 'sign in', mayPass: false }
  world.runtime.advance(20_000)
  await turn()
  expect(world.asked.at(-1)).toBe(true)
  expect(world.states.at(-1)).toEqual({ state: 'refused', reason: 'sign in' })
  world.runtime.advance(600_000)
  await turn()
  expect(world.runtime.sockets).toHaveLength(1)
  world.pass = { ok: false, reason: 'busy', mayPass: true }
  world.link.start()
  await turn()
  expect(world.states.at(-1)).toMatchObject({ state: 'waiting', reason: 'busy', isBusy: false })
  world.pass = { ok: false, reason: 'busy', mayPass: true, waitMs: 15_000 }
  world.link.start()
  await turn()
  expect(world.states.at(-1)).toMatchObject({ state: 'waiting', isBusy: true })
})

it('drops a socket that says nothing, and one that talks no JSON', async () => {
  const { open, runtime, states } = await linked()
  await open()
  runtime.advance(24_999)
  expect(states.at(-1)).toEqual({ state: 'open' })
  runtime.advance(2)
  expect(states.some((state) => state.state === 'waiting' && state.reason === 'nothing came for 25 s')).toBe(true)
  runtime.advance(20_000)
  await turn()
  await open()
  runtime.last.receive('{')
  expect(states.at(-1)).toMatchObject({ state: 'waiting', reason: 'a frame is not JSON' })
})

it('answers every question: by its frame, by a refusal, in time, or when the socket goes', async () => {
  const { link, open, runtime, sent, answer } = await linked()
  expect(await link.ask({ type: 'meta' })).toMatchObject({ ok: false, lost: true })
  await open()
  const first = link.ask({ type: 'meta' })
  await answer({ universe: [] })
  expect(await first).toEqual({ ok: true, value: { universe: [] } })
  const second = link.ask({ type: 'userFills' })
  const refused = { type: 'error', payload: '403: This is a stream token' }
  runtime.last.receive({ channel: 'post', data: { id: sent().at(-1).id, response: refused } })
  expect(await second).toEqual({ ok: false, reason: '403: This is a stream token', lost: false })
  const third = link.ask({ type: 'meta' })
  runtime.advance(15_000)
  expect(await third).toMatchObject({ ok: false, lost: true })
  const fourth = link.ask({ type: 'meta' })
  link.break()
  expect(await fourth).toMatchObject({ ok: false, lost: true })
  expect(runtime.sockets[0]!.dropped).toBe(true)
})

it('tells a refused body why, tries a passing one again, and mistakes no farewell for a refusal', async () => {
  const { link, open, runtime, sent } = await linked()
  const reasons: string[] = []
  const body = { type: 'trades', coin: 'BTC' }
  const hearer = { frame: () => {}, refused: (reason: string) => void reasons.push(reason) }
  link.subscribe(body, hearer)
  await open()
  const error = (data: string, code: string) => runtime.last.receive({ channel: 'error', data, code })
  error(`Invalid subscription ${JSON.stringify(body)}: busy`, 'unavailable')
  runtime.advance(2_000)
  expect(sent().filter(({ method }) => method === 'subscribe')).toHaveLength(2)
  error(`Already unsubscribed: ${JSON.stringify(body)}`, 'invalid_request')
  expect(reasons).toEqual([])
  error(`Invalid subscription ${JSON.stringify(body)}: this token is for ETH`, 'forbidden')
  expect(reasons).toEqual(['this token is for ETH'])
})

it('passes on what the gateway says of its own accord, and no refusal of a question or a body', async () => {
  const { link, open, runtime, notices, sent } = await linked()
  await open()
  runtime.last.receive({ channel: 'notification', data: { notification: 'No block has come for 10 s' }, code: 'stale' })
  runtime.last.receive({ channel: 'error', data: 'credits run low', code: 'credits_exhausted' })
  const asked = link.ask({ type: 'meta' })
  runtime.last.receive({ channel: 'error', data: `Too many messages id=${sent().at(-1).id}`, code: 'rate_limited' })
  expect(await asked).toMatchObject({ ok: false, lost: true })
  expect(notices).toEqual(['No block has come for 10 s', 'credits run low'])
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

async function followed() {
  const world = await linked()
  const told: string[] = []
  const hearer = {
    changed: () => {},
    block: () => {},
    happened: (kind: string, text: string) => told.push(`${kind} ${text}`),
  }
  const market = new MarketBook(world.link, world.runtime, 'BTC', hearer)
  await world.open()
  world.runtime.last.ack()
  await turn()
  return { ...world, market, told }
}

it('a book is in step by its numbers and checksums, and fetched again where they do not fit', async () => {
  const { market, told, runtime, answer } = await followed()
  await answer(SNAPSHOT)
  expect([market.state, market.book.seq]).toEqual(['in step', 5])
  const next: Levels = [[{ px: '99', sz: '3', n: 1 }], []]
  const after = LevelBook.of(BOOK)
  after.apply(next)
  runtime.last.receive(batch(6, 5, next, bookChecksum(after)))
  expect([market.state, market.book.checks, market.height, market.blockMs]).toEqual(['in step', 1, 6, 60])
  runtime.last.receive(batch(8, 7, next, 0))
  expect(market.state).toBe('out of step')
  await turn()
  await answer({ ...SNAPSHOT, height: 8, seq: 8 })
  runtime.last.receive(batch(9, 8, next, 12345))
  expect([market.state, market.book.live]).toEqual(['out of step', false])
  expect(told.map((line) => line.slice(0, 20))).toEqual([
    'good BTC in step: he',
    'bad BTC out of step:',
    'good BTC in step: he',
    'bad BTC out of step:',
  ])
})

it('a book is none while the link is down, and again after it; a new epoch is told', async () => {
  const { market, told, runtime, answer, again, link } = await followed()
  await answer(SNAPSHOT)
  link.break()
  expect([market.state, market.book.live]).toEqual(['out of step', false])
  await again()
  runtime.last.ack()
  await turn()
  runtime.last.receive(batch(9, 8, BOOK, 0, 'f'))
  await answer({ ...SNAPSHOT, epoch: 'f', height: 9, seq: 9 })
  expect(market.state).toBe('in step')
  expect(told).toContain('wait The books began again: epoch f')
})

it('a market that there is not is said to be gone, and comes back where it is listed', async () => {
  const { market, runtime, answer, sent } = await followed()
  await answer(null)
  expect(market.state).toBe('gone')
  runtime.advance(5_000)
  await turn()
  await answer(SNAPSHOT)
  expect(market.state).toBe('in step')
  market.close()
  expect(sent().at(-1)).toMatchObject({ method: 'unsubscribe' })
})

it('the past is played whole: its Snapshot, its changes, its trades, its gaps and its end', async () => {
  const { link, open, sent, runtime } = await linked()
  await open()
  const told: string[] = []
  const range = { fromTime: 1, toTime: 100, speed: 10 }
  const hearer = { changed: () => {}, happened: (_: string, text: string) => told.push(text) }
  const past = new PlayedMarket(link, 'BTC', range, hearer)
  expect(sent()).toMatchObject([
    { subscription: { type: 'l2BookDiff', coin: 'BTC' }, replay: range },
    { subscription: { type: 'trades', coin: 'BTC' }, replay: range },
  ])
  runtime.last.receive({
    channel: 'l2BookDiff',
    data: { Snapshot: { coin: 'BTC', time: 10, block_height: 1, levels: BOOK } },
  })
  const diffs = [{ coin: 'BTC', levels: [[{ px: '99', sz: '7', n: 1 }], []] }]
  runtime.last.receive({ channel: 'l2BookDiff', data: { Updates: { time: 20, block_height: 2, book_diffs: diffs } } })
  runtime.last.receive({ channel: 'trades', data: [{ coin: 'BTC', px: '99', sz: '1', side: 'B', time: 21, tid: 1 }] })
  expect([past.state, past.timeMs, past.book?.levels()[0][0]?.sz, past.trades.length]).toEqual(['playing', 21, '7', 1])
  const news = (event: string, more = {}) =>
    runtime.last.receive({
      channel: 'replay',
      data: { event, subscription: { type: 'l2BookDiff', coin: 'BTC' }, ...more },
    })
  past.pause()
  expect(sent().filter(({ method }) => method === 'replay')).toHaveLength(2)
  news('paused')
  expect(past.state).toBe('paused')
  news('gap', { from: 3, to: 9 })
  news('unknown', { from: 10 })
  expect([past.book, told]).toEqual([
    null,
    ['Replay: blocks 3 to 9 are missing', 'Replay: books are not known from block 10 on'],
  ])
  news('ended')
  expect([past.state, told.at(-1)]).toEqual(['over', 'The replay is at its end'])
})
