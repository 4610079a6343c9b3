// View channels, from the request to the frames.

import { beforeEach, expect, it } from 'vitest'
import { BBO, levelsView, MID } from '../../src/order-books/view.ts'
import { Connection } from '../../src/relay/sockets/connection.ts'
import { viewsTarget } from './targets.ts'
import { identity, World } from './world.ts'

const BID = '{"px":"99.0","sz":"1.0","n":1}'
const ASK = '{"px":"101.0","sz":"2.0","n":2}'
const L2 = levelsView(500, 20, null)
const L2_BODY = { type: 'l2Book', coin: 'BTC', nSigFigs: null, mantissa: null, fast: false }

let world: World
beforeEach(() => {
  world = new World()
})
const dataOf = (channel: string) =>
  world.frames.filter((frame) => frame.channel === channel).map(({ data }) => JSON.stringify(data))

// WS-19, WS-130, WS-131, WS-132, WS-133
it.each([
  [{ type: 'bbo', coin: 'BTC' }, `{"coin":"BTC","time":7,"bbo":[${BID},${ASK}]}`],
  [L2_BODY, `{"coin":"BTC","time":7,"levels":[[${BID}],[${ASK}]]}`],
  [{ ...L2_BODY, fast: true }, `{"coin":"BTC","time":7,"levels":[[${BID}],[${ASK}]],"fast":true}`],
  [
    { ...L2_BODY, nSigFigs: 2 },
    `{"coin":"BTC","time":7,"levels":[[${BID}],[{"px":"110.0","sz":"2.0","n":2}]],"spread":"2.0"}`,
  ],
  [{ type: 'allMids' }, '{"mids":{"@1":"100.0","BTC":"100.0","ETH":"100.0","SOL":"100.0"}}'],
  [{ type: 'allMids', dex: 'xyz' }, '{"dex":"xyz","mids":{}}'],
])('%j is acknowledged, then gets the current state', async (body, delivered) => {
  await world.subscribe(body)
  expect(world.log).toEqual(['charge', 'subscriptionResponse', body.type])
  expect(JSON.stringify(world.frames[0].data.subscription)).toBe(JSON.stringify(body))
  expect(dataOf(body.type)).toEqual([delivered])
})

// WS-132
it('l2Book is acknowledged with its defaults, at the price of its coins', async () => {
  await world.subscribe({ fast: false, coin: 'BTC', type: 'l2Book' })
  await world.subscribe({ type: 'l2Book', marketTypes: ['spot'], interval: 2000 })
  const [first, second] = world.frames.filter(({ channel }) => channel === 'subscriptionResponse')
  expect(JSON.stringify(first.data.subscription)).toBe(JSON.stringify(L2_BODY))
  expect(JSON.stringify(second.data.subscription)).toBe(
    '{"type":"l2Book","marketTypes":["spot"],"nSigFigs":null,"mantissa":null,"fast":false,"interval":2000}',
  )
  expect(world.meter.charges.map(({ amount }) => amount)).toEqual([500_000, 50_000_000])
  expect(dataOf('l2Book').map((data) => JSON.parse(data).coin)).toEqual(['BTC', '@1'])
  await world.subscribe(L2_BODY)
  expect(world.frames.at(-1).code).toBe('already_subscribed')
})

// WS-132
it.each([
  [{}, 500],
  [{ interval: 0 }, 0],
  [{ interval: 300 }, 500],
  [{ interval: 60_000 }, 60_000],
])('l2Book with %j comes at most every %i ms', (more, everyMs) => {
  expect(viewsTarget({ ...L2_BODY, ...more }).body.view).toBe(levelsView(everyMs, 20, null))
})

// WS-130
it('a view is sent when it changes, to all its subscribers and nobody else', async () => {
  await world.subscribe({ type: 'bbo', coin: 'BTC' })
  await world.subscribe({ type: 'l2Book' })
  world.frames.length = 0
  for (const piece of ['[null,null]', '[null,null]', `[${BID},null]`]) world.shows(BBO, 'BTC', piece, 8)
  world.shows(BBO, 'ETH', '[null,null]', 8)
  world.shows(L2, '@1', '"levels":[[],[]]', 8)
  expect(dataOf('bbo')).toEqual(['[null,null]', `[${BID},null]`].map((bbo) => `{"coin":"BTC","time":8,"bbo":${bbo}}`))
  expect(dataOf('l2Book')).toEqual([])
  world.shows(L2, 'ETH', '"levels":[[],[]]', 9)
  expect(dataOf('l2Book')).toEqual(['{"coin":"ETH","time":9,"levels":[[],[]]}'])
})

it('a later subscriber gets the stored views, and hubs are asked once', async () => {
  await world.subscribe({ type: 'bbo', coin: 'BTC' })
  world.shows(BBO, 'BTC', '[null,null]', 8)
  const sent: string[] = []
  const other = { send: (text: string) => void sent.push(text) } as unknown as World['connection']
  const body = viewsTarget({ type: 'bbo', coin: 'BTC' })
  world.books.views.add('{"coin":"BTC","type":"bbo"}', body, other)
  world.books.views.start('{"coin":"BTC","type":"bbo"}', other)
  expect(sent).toEqual(['{"channel":"bbo","data":{"coin":"BTC","time":8,"bbo":[null,null]}}'])
  expect(world.viewsAsked).toBe(1)
})

// WS-133
it('allMids comes at most every second, with every coin of its DEX, and only after a change', async () => {
  world.coins = ['BTC', 'xyz:GOLD', '@1']
  await world.subscribe({ type: 'allMids' })
  await world.subscribe({ type: 'allMids', dex: 'xyz', interval: 0 })
  world.frames.length = 0
  world.shows(MID, 'BTC', '101.5', 500)
  world.shows(MID, 'xyz:GOLD', '5.5', 1006)
  expect(dataOf('allMids')).toEqual(['{"dex":"xyz","mids":{"xyz:GOLD":"5.5"}}'])
  world.frames.length = 0
  world.shows(MID, '@1', '', 1007)
  expect(dataOf('allMids')).toEqual(['{"mids":{"BTC":"101.5"}}'])
  world.shows(MID, 'xyz:GOLD', '5.5', 5000)
  world.shows(MID, 'BTC', '102.5', 10)
  // A restarted feed has earlier times.
  expect(dataOf('allMids')).toEqual(['{"mids":{"BTC":"101.5"}}', '{"mids":{"BTC":"102.5"}}'])
})

// WS-130
it('a hub without books delays nobody, and its views come later', async () => {
  world.ready = false
  await world.subscribe({ type: 'bbo', coin: 'BTC' })
  expect(dataOf('bbo')).toEqual([])
  world.shows(BBO, 'BTC', '[null,null]', 8)
  expect(dataOf('bbo')).toHaveLength(1)
})

// WS-130
it('a response that overtakes blocks is not undone; after a feed restart lower heights count', async () => {
  world.height = 100
  await world.subscribe({ type: 'bbo', coin: 'BTC' })
  world.height = 50
  world.shows(BBO, 'BTC', '[null,null]', 6)
  expect(dataOf('bbo')).toHaveLength(1)
  for (const hub of [0, 1]) world.books.restart(hub)
  world.shows(BBO, 'BTC', '[null,null]', 6)
  expect(dataOf('bbo')).toHaveLength(2)
})

// WS-130
it('a relay at its book limit refuses new sockets, and rejects without charge', async () => {
  world.meter.account = { ...world.meter.account, available: 1e11 }
  const many = [0, 100, 250, 500].flatMap((interval) =>
    [null, 2, 3, 4, 5].flatMap((nSigFigs) => [true, false].map((fast) => ({ interval, nSigFigs, fast }))),
  )
  // Equal views are stored once.
  for (let interval = 1; interval < 80; interval++) await world.subscribe({ type: 'allMids', interval })
  expect([world.subscriptions.size, world.subscriptions.isCrowded]).toEqual([79, false])
  await Promise.all(many.map((how) => world.subscribe({ type: 'l2Book', ...how })))
  const refused = world.frames.filter(({ code }) => code === 'unavailable')
  expect(refused.length).toBeGreaterThan(10)
  expect(world.subscriptions.size).toBe(79 + many.length - refused.length)
  await world.accounts.settled()
  expect([world.subscriptions.isCrowded, world.meter.refunds.length]).toEqual([true, refused.length])
})

// WS-130
it('hubs are asked once for all subscribers that wait', async () => {
  const saved = { id: 'a', echo: '{"type":"allMids"}', digest: '', meta: false, sinceMs: 0 }
  let delivered = 0
  for (const id of ['d', 'e', 'f']) {
    const sink = { send: () => void delivered++, close: () => undefined }
    const one = new Connection(id, { identity, terms: 0 }, sink, world.clock, () => undefined)
    world.subscriptions.restore(one, saved)
  }
  await Promise.all(world.work.splice(0))
  expect([world.viewsAsked, delivered]).toEqual([2, 3])
})

// WS-61
it('a full-market subscriber waits for room', async () => {
  world.coins = Array.from({ length: 1200 }, (_, i) => `C${i}`)
  const waits = [50, 50]
  let least = 0
  world.connection.snapshotWaitMs = (bytes) => {
    least = bytes
    expect(dataOf('l2Book')).toEqual([])
    return waits.pop() ?? 0
  }
  await world.subscribe({ type: 'l2Book' })
  expect([waits, dataOf('l2Book').length, least > 65_536]).toEqual([[], 1200, true])
})

// WS-133
it('a subscriber between two allMids frames does not stay stale', async () => {
  await world.subscribe({ type: 'allMids' })
  world.shows(MID, 'BTC', '101.5', 500)
  const sent: string[] = []
  const other = { send: (text: string) => void sent.push(text) } as unknown as World['connection']
  world.books.views.add('{"type":"allMids"}', viewsTarget({ type: 'allMids' }), other)
  world.books.views.start('{"type":"allMids"}', other)
  world.shows(MID, 'BTC', '100.0', 1500)
  expect(sent.map((text) => JSON.parse(text).data.mids.BTC)).toEqual(['101.5', '100.0'])
})

// WS-130
it('a restored relay sends the current state', async () => {
  const saved = { id: 'a', echo: JSON.stringify(L2_BODY), digest: '', meta: false, sinceMs: 0 }
  world.subscriptions.restore(world.connection, saved)
  await Promise.all(world.work.splice(0))
  expect(dataOf('l2Book')).toHaveLength(1)
})
