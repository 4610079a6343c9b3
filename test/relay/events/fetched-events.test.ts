import { beforeEach, expect, it } from 'vitest'
import type { Candle } from '../../../src/archive/candles.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import { EXAMPLE_OUTCOME, EXAMPLE_QUESTION } from '../../../src/protocol/info/market-shapes.ts'
import { channelOf } from '../../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { EXAMPLE_ORDER } from '../../kit/node-order.ts'
import { World } from '../world.ts'

const MINUTE = 60_000
const BODY = { type: 'candle', coin: 'BTC', interval: '1m' }
const base = { t: 0, T: MINUTE - 1, s: 'BTC', i: '1m', o: '5.0', c: '6.0', h: '7.0', l: '4.0', v: '10.0', n: 3 }

let world: World
/** Info response; null: none. */
let history: Candle[] | null
let requests: object[]
let tid = 0
beforeEach(() => {
  world = new World()
  history = [base]
  requests = []
  world.past = (question) => {
    requests.push(question)
    return history && { body: JSON.stringify(history) }
  }
})
const candlesSent = () => world.frames.splice(0).flatMap(({ channel, data }) => (channel === 'candle' ? [data] : []))
const half = (side: 'A' | 'B', px: string, time: number): UserFill => [
  EXAMPLE_FILL[0],
  { ...EXAMPLE_FILL[1], px, sz: '1.0', time, side, tid, crossed: side === 'A' },
]

/** A block, with a trade if a price is given, and everything it triggers. */
async function block(time: number, px?: string): Promise<void> {
  tid++
  world.eventBlock({ time, fills: px === undefined ? [] : [half('B', px, time), half('A', px, time)] })
  await Promise.all(world.work.splice(0))
}

// WS-134
it('starts with the info candle, sends trades at most once a second, and ends with its last state', async () => {
  await world.subscribe(BODY)
  expect(world.frames[0].data.subscription).toEqual({ type: 'candle', interval: '1m', coin: 'BTC' })
  candlesSent()
  await block(10_000)
  expect([requests, candlesSent()]).toEqual([
    [{ type: 'candleSnapshot', req: { coin: 'BTC', interval: '1m', startTime: 0 } }],
    [],
  ])
  await block(10_100)
  expect(candlesSent()).toEqual([base])
  // No trade came around the second response, so it is final.
  await block(12_200)
  expect([requests.length, candlesSent()]).toEqual([2, []])
  await block(12_300, '8.0')
  await block(12_400, '3.0')
  expect(candlesSent()).toEqual([{ ...base, c: '8.0', h: '8.0', v: '11.0', n: 4 }])
  await block(13_300)
  expect(candlesSent()).toEqual([{ ...base, c: '3.0', h: '8.0', l: '3.0', v: '12.0', n: 5 }])
  await block(59_000, '4.0')
  await block(59_500, '5.0')
  await block(60_000, '6.0')
  expect(candlesSent().map(({ t, n }) => [t, n])).toEqual([
    [0, 6],
    [0, 7],
    [MINUTE, 1],
  ])
  // A later subscriber gets it with the next block.
  const other = { ...BODY, interval: '1m' }
  world.subscriptions.restore(world.connection, {
    id: 'x',
    echo: JSON.stringify(other),
    digest: '',
    meta: true,
    sinceMs: 0,
  })
  await block(60_100)
  expect(candlesSent()).toHaveLength(2)
})

// WS-134
it('sends no frame for minutes without trades', async () => {
  await world.subscribe(BODY)
  for (const time of [10_000, 12_200]) await block(time)
  candlesSent()
  await block(30_000, '8.0')
  for (let minute = 1; minute < 4; minute++) await block(minute * MINUTE)
  await block(4 * MINUTE, '9.0')
  expect(candlesSent().map(({ t, n, o }) => [t / MINUTE, n, o])).toEqual([
    [0, 4, '5.0'],
    [4, 1, '9.0'],
  ])
})

// WS-134
it('counts the trades since the request, and repeats it if trades came around the response', async () => {
  await world.subscribe(BODY)
  await block(10_000, '9.0')
  await block(10_100, '9.5')
  expect(candlesSent()).toEqual([{ ...base, c: '9.5', h: '9.5', v: '11.0', n: 4 }])
  // A response that lacks known trades changes nothing.
  await block(12_000, '9.6')
  expect(requests).toHaveLength(2)
  await block(12_100)
  expect(candlesSent().at(-1)).toMatchObject({ n: 5, c: '9.6' })
  history = [{ ...base, n: 9, v: '16.0', c: '9.6', h: '9.6' }]
  await block(14_200)
  await block(14_300)
  expect(requests).toHaveLength(3)
  expect(candlesSent().at(-1)).toEqual(history[0])
  for (let time = 20_000; time < 30_000; time += 1000) await block(time)
  expect(requests).toHaveLength(3)
})

// WS-134
it.each([
  ['older than the last block', -1, { n: 5, c: '9.2', v: '12.0' }],
  ['of the last block', 0, { n: 4, c: '9.2', v: '11.0' }],
  ['newer than the last block', 1, { n: 3, c: '6.0', v: '10.0' }],
  ['newer than two more', 3, { n: 3, c: '6.0', v: '10.0' }],
])(
  'includes each trade once if the response has a block that is %s, without another request',
  async (_, ahead, after) => {
    await world.subscribe(BODY)
    world.past = (question) => {
      requests.push(question)
      return { body: JSON.stringify([base]), height: world.eventsHeight + ahead }
    }
    await block(10_000, '9.1')
    await block(10_001, '9.2')
    await block(12_000)
    expect([requests.length, candlesSent().at(-1)]).toMatchObject([1, after])
  },
)

// WS-134
it('sends nothing without a response, even after retries, and restarts after lost blocks', async () => {
  history = null
  await world.subscribe(BODY)
  for (const time of [10_000, 12_000, 14_000, 16_000, 18_000]) await block(time, '9.0')
  await block(18_100)
  expect(candlesSent()).toEqual([])
  history = [{ ...base, n: 50 }]
  for (const time of [20_100, 20_200]) await block(time)
  expect(candlesSent()).toEqual([{ ...base, n: 50 }])
  world.eventsHeight += 5
  await block(22_000)
  await block(22_100)
  expect(candlesSent()).toEqual([{ ...base, n: 50 }])
})

// WS-134
it('after silence, sends the response of a block and only the later trades', async () => {
  history = null
  await world.subscribe(BODY)
  for (const time of [10_000, 12_000, 14_000]) await block(time, '9.0')
  const height = world.eventsHeight
  world.past = () => ({ body: JSON.stringify([{ ...base, n: 50 }]), height })
  await block(16_000, '6.5')
  await block(17_100)
  expect(candlesSent()).toEqual([{ ...base, c: '6.5', v: '11.0', n: 51 }])
})

// WS-134
it.each([
  ['one that was wanted before blocks were lost is not shown as it was', 30_000, undefined, { n: 50 }],
  ['one that began while blocks were lost is asked for', MINUTE + 30_000, '9.0', { t: MINUTE, n: 51 }],
])('%s', async (_, time, px, then) => {
  await world.subscribe(BODY)
  for (const before of [10_000, 12_100, 14_200]) await block(before)
  world.unsubscribe(BODY)
  candlesSent()
  world.eventsHeight += 500
  history = [{ ...base, ...(px && { t: MINUTE, T: 2 * MINUTE - 1 }), n: 50 }]
  await world.subscribe(BODY)
  await block(time, px)
  expect(candlesSent()).toEqual([])
  await block(time + 1, px)
  expect(candlesSent()).toEqual([expect.objectContaining(then)])
})

// WS-120
it("fetched data does not resend the block's orders", async () => {
  await world.subscribe(BODY)
  await world.subscribe({ type: 'orderUpdates', user: EXAMPLE_FILL[0] })
  await block(10_000)
  const order = { user: EXAMPLE_FILL[0], status: 'open', order: EXAMPLE_ORDER, time: '2026-05-05T17:39:13.0' }
  world.eventBlock({ time: 10_100, orders: [order] })
  expect(world.frames.map(({ channel }) => channel).slice(-2)).toEqual(['orderUpdates', 'candle'])
  expect(world.frames.filter(({ channel }) => channel === 'orderUpdates')).toHaveLength(1)
})

it('forgets candles without subscribers', async () => {
  await world.subscribe(BODY)
  await block(10_000)
  world.unsubscribe(BODY)
  world.frames.length = 0
  for (const time of [11_000, 20_000]) await block(time, '9.0')
  expect([requests.length, candlesSent()]).toEqual([1, []])
})

const outcomeOf = (outcome: number) => ({ ...EXAMPLE_OUTCOME, outcome })
const questionOf = (question: number, named: number[]) => ({ ...EXAMPLE_QUESTION, question, namedOutcomes: named })
const meta = (outcomes: number[], questions: [number, number[]][]) => ({
  outcomes: outcomes.map(outcomeOf),
  questions: questions.map(([question, named]) => questionOf(question, named)),
})

/** A block comes this much later, and everything it triggers is done. */
async function blockAfter(world: World, ms: number): Promise<void> {
  world.clock.nowMs += ms
  world.eventBlock({})
  await Promise.all(world.work.splice(0))
}

// WS-107
it('sends changes of the outcome list, polled every ten seconds while subscribed', async () => {
  const world = new World()
  let requests = 0
  let now: object | null = meta([4, 5], [[2, [4, 5]]])
  world.past = () => {
    requests++
    return now && { body: JSON.stringify(now) }
  }
  await blockAfter(world, 20_000)
  expect(requests).toBe(0)
  await world.subscribe({ type: 'outcomeMetaUpdates' })
  await blockAfter(world, 10_000)
  await blockAfter(world, 9_999)
  expect([requests, world.frames.length]).toEqual([1, 1])
  now = meta(
    [5, 6],
    [
      [2, [4, 5, 6]],
      [3, []],
    ],
  )
  await blockAfter(world, 1)
  const { deployer: _, ...created } = { ...outcomeOf(6), sideSpecs: [{ name: 'Yes' }, { name: 'No' }] }
  const data = [
    { outcomeCreated: created },
    { questionUpdated: questionOf(2, [4, 5, 6]) },
    { questionUpdated: questionOf(3, []) },
    { outcomeSettled: 4 },
  ]
  expect(JSON.stringify(world.frames.at(-1))).toBe(JSON.stringify({ channel: 'outcomeMetaUpdates', data }))
  channelOf('outcomeMetaUpdates')!.frame.parse(world.frames.at(-1))
  // Failing sources and invalid responses change nothing.
  for (const odd of [null, {}, { outcomes: 1 }, { outcomes: [null], questions: [] }]) {
    now = odd
    await blockAfter(world, 10_000)
  }
  now = meta([5, 6], [[3, []]])
  await blockAfter(world, 10_000)
  expect(world.frames.at(-1)).toEqual({ channel: 'outcomeMetaUpdates', data: [{ questionSettled: 2 }] })
})
