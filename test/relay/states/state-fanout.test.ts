import { inflateRawSync } from 'node:zlib'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { statesTarget } from '../targets.ts'
import { Client, identity, World } from '../world.ts'
import { Socket, StatesWorld } from './states-world.ts'

const A = `0x${'a'.repeat(40)}`
const B = `0x${'b'.repeat(40)}`
const STATE = { type: 'clearinghouseState', user: A, dex: '' }

// WS-140
it('one poll serves all its sockets, bodies and channels', async () => {
  const world = new StatesWorld()
  const sockets = [await world.subscribe(STATE), await world.subscribe(STATE)]
  await world.pass(1_000)
  expect(world.timesOf('clearinghouseState')).toEqual([0, 1_000])
  expect(sockets.map(({ frames }) => frames.map(({ data }) => data.clearinghouseState.at))).toEqual([
    [0, 1_000],
    [1_000],
  ])
  world.answer = () => ({ twapStates: [], at: world.nowMs })
  const web = await world.subscribe({ type: 'webData2', user: A })
  const twaps = await world.subscribe({ type: 'twapStates', user: A, dex: '' })
  await world.pass(1_000)
  expect(world.timesOf('webData2')).toEqual([1_000, 2_000])
  expect([web.frames.length, twaps.frames]).toEqual([
    2,
    [{ channel: 'twapStates', data: { dex: '', user: A, states: [] } }],
  ])
})

// WS-140
it("polls soon after a user's event, at most once a second, and once more after the source's lag", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(40), { maxLength: 12 }), async (waits) => {
      const world = new StatesWorld()
      await world.subscribe(STATE)
      let lastMs = 0
      for (const wait of waits) {
        await world.pass(wait * 100)
        lastMs = world.nowMs
        await world.happen(A)
        await world.happen(B)
      }
      await world.pass(4_000)
      const times = world.timesOf('clearinghouseState')
      for (const [i, atMs] of times.slice(1).entries()) expect(atMs - times[i]!).toBeGreaterThanOrEqual(1_000)
      for (const [i, atMs] of times.slice(1).entries()) expect(atMs - times[i]!).toBeLessThanOrEqual(4_750)
      const isSoon = (atMs: number) => atMs >= lastMs && atMs <= lastMs + 1_250
      const isSure = (atMs: number) => atMs >= lastMs + 2_000 && atMs <= lastMs + 3_500
      if (waits.length > 0) expect([times.some(isSoon), times.some(isSure)], `${times}`).toEqual([true, true])
    }),
    { numRuns: 40 },
  )
})

// WS-140
it('polls open orders after an order status, which is subscribed while needed', async () => {
  const world = new StatesWorld()
  world.answer = () => []
  const body = { type: 'openOrders', user: A }
  const socket = await world.subscribe(body)
  await world.pass(2_500)
  expect([...world.orders]).toEqual([A])
  const before = world.timesOf('frontendOpenOrders').length
  await world.happen(A, 'order')
  await world.pass(500)
  expect(world.timesOf('frontendOpenOrders').length).toBe(before + 1)
  world.leave(body, socket)
  expect(world.orders.size).toBe(0)
})

// WS-140
it('repeats an unchanged user state every few seconds, but not markets', async () => {
  const world = new StatesWorld()
  world.answer = ({ type }) =>
    type === 'metaAndAssetCtxs' ? [{ universe: [{ name: 'BTC' }] }, [{ markPx: '1.0' }]] : { withdrawable: '1.0' }
  const state = await world.subscribe(STATE)
  const market = await world.subscribe({ type: 'activeAssetCtx', coin: 'BTC' })
  await world.happen(A)
  await world.pass(2_250)
  expect([world.timesOf('clearinghouseState').length, state.frames.length]).toEqual([3, 1])
  await world.pass(12_000)
  expect(state.frames).toHaveLength(3)
  expect([world.timesOf('metaAndAssetCtxs').length, market.frames.length]).toEqual([5, 1])
})

// WS-140
it('polls nothing without subscribers, and again when they return', async () => {
  const world = new StatesWorld()
  const socket = await world.subscribe(STATE)
  const markets = await world.subscribe({ type: 'allDexsAssetCtxs' })
  world.leave(STATE, socket)
  world.leave({ type: 'allDexsAssetCtxs' }, markets)
  expect(world.fanout.needsBlocks).toBe(false)
  const before = world.requests.length
  await world.happen(A)
  await world.pass(120_000)
  expect([world.requests.length, socket.frames.length]).toEqual([before, 1])
  expect((await world.subscribe(STATE)).frames).toHaveLength(1)
  expect(world.fanout.needsBlocks).toBe(true)
})

// WS-145
it('retries a failing poll with backoff, delays nobody else, and notifies once', async () => {
  const world = new StatesWorld()
  let isDown = true
  world.answer = ({ user }) => (user === A && isDown ? null : {})
  const socket = await world.subscribe(STATE)
  const other = await world.subscribe({ ...STATE, user: B })
  await world.pass(4_000)
  await world.happen(A)
  await world.pass(66_000)
  const times = world.requests.filter(({ request }) => request.user === A).map(({ atMs }) => atMs)
  expect(times).toEqual([0, 1_000, 3_000, 7_000, 15_000, 30_000, 45_000, 60_000])
  expect(socket.frames).toMatchObject([{ channel: 'notification' }])
  expect(other.frames.length).toBeGreaterThan(10)
  isDown = false
  await world.pass(60_000)
  expect(socket.frames[1]).toEqual({
    channel: 'clearinghouseState',
    data: { dex: '', user: A, clearinghouseState: {} },
  })
})

// WS-145
it('polls all failed requests at once when a source recovers', async () => {
  const world = new StatesWorld()
  let isDown = true
  world.answer = () => (isDown ? null : {})
  await world.subscribe(STATE)
  await world.pass(20_000)
  await world.subscribe({ ...STATE, user: B })
  await world.pass(25_000)
  isDown = false
  const times = (of: string) => world.requests.filter(({ request }) => request.user === of).map(({ atMs }) => atMs)
  await world.pass(7_000)
  expect([times(A).slice(4), times(B)]).toEqual([
    [15_000, 30_000, 45_000, 50_000],
    [20_000, 21_000, 23_000, 27_000, 35_000, 50_000],
  ])
})

// WS-140
it('polls once more after an event during a poll, a second later', async () => {
  const world = new StatesWorld()
  const land: (() => void)[] = []
  world.answer = () => new Promise((done) => land.push(() => done({})))
  await world.subscribe(STATE)
  await world.pass(500)
  await world.happen(A)
  land[0]!()
  await world.pass(500)
  expect(world.timesOf('clearinghouseState')).toEqual([0, 1_000])
})

it('a subscriber that leaves during a send gets nothing', async () => {
  const world = new StatesWorld()
  let land = () => {}
  world.answer = () => new Promise((done) => (land = () => done({})))
  const one = await world.subscribe(STATE)
  const two = await world.subscribe(STATE)
  one.send = () => world.leave(STATE, two)
  land()
  await world.settled()
  expect(two.frames).toEqual([])
})

it('limits concurrent polls, with fair turns, and skips subscribers that left', async () => {
  const world = new StatesWorld()
  const land: (() => void)[] = []
  world.answer = () => new Promise((done) => land.push(() => done({})))
  const userOf = (n: number) => `0x${String(n).padStart(40, '0')}`
  const many = []
  for (let n = 0; n < 20; n++) many.push(await world.subscribe({ ...STATE, user: userOf(n) }, 'many'))
  expect(world.flying).toBe(4)
  const one = await world.subscribe(STATE, 'one')
  expect(world.flying).toBe(5)
  world.leave({ ...STATE, user: userOf(0) }, many[0]!)
  while (land.length > 0) {
    land.shift()!()
    await world.settled()
    expect(world.flying).toBeLessThanOrEqual(8)
  }
  expect([many[0]!.frames, one.frames.length, world.requests.length]).toEqual([[], 1, 21])
  expect(many.slice(1).every(({ frames }) => frames.length === 1)).toBe(true)
})

// WS-140
it('polls again after hibernation; rejects a market without a book, uncharged', async () => {
  const world = new World()
  const saved = { id: 's', echo: JSON.stringify(STATE), digest: '', meta: false, sinceMs: world.clock.nowMs }
  world.subscriptions.restore(world.connection, saved)
  await Promise.all(world.work)
  expect(world.frames).toMatchObject([{ channel: 'clearinghouseState', data: { user: A } }])
  expect(world.states.needsBlocks).toBe(true)
  world.frames.length = 0
  await world.subscribe({ type: 'activeAssetCtx', coin: 'NONE' })
  expect(world.frames).toMatchObject([{ channel: 'error', code: 'not_found' }])
  expect(world.meter.charges).toEqual([])
})

// WS-140
it("an account's poll does not wait for others' polls", async () => {
  const world = new StatesWorld()
  const slow: (() => void)[] = []
  world.answer = ({ type }) =>
    new Promise((done) => slow.push(() => done(type === 'metaAndAssetCtxs' ? [{ universe: [] }, []] : {})))
  const contexts = { type: 'assetCtxs', dex: '' }
  for (let i = 0; i < 300; i++) await world.subscribe({ ...STATE, user: `0x${String(i).padStart(40, '0')}` }, 'greedy')
  await world.subscribe(contexts, 'greedy')
  const { frames } = await world.subscribe(contexts, 'other')
  for (let left = 0; left < 60; left++) {
    for (const done of slow.splice(0)) done()
    await world.pass(250)
  }
  expect([frames.length, world.timesOf('metaAndAssetCtxs').length]).toEqual([1, 6])
})

// WS-140
it('a state of several requests continues while one is pending', async () => {
  const world = new StatesWorld()
  let caps = 0
  world.answer = ({ type }) => {
    if (type === 'perpDexs') return [null, { name: 'xyz' }]
    if (type === 'perpsAtOpenInterestCap') return caps++ === 0 ? [] : new Promise(() => undefined)
    return type === 'webData2' ? { serverTime: world.nowMs } : 'disabled'
  }
  const { frames } = await world.subscribe({ type: 'webData3', user: A })
  await world.pass(120_000)
  expect(caps).toBe(2)
  expect(world.nowMs - frames.at(-1).data.userState.serverTime).toBeLessThan(35_000)
})

// WS-145
it('a relay at its poll limit refuses new sockets and subscriptions, uncharged', async () => {
  const world = new World()
  world.past = () => null
  world.connection.renew({ ...identity, plan: 'professional' }, 0)
  for (let i = 0; i < 1_999; i++) {
    const echo = JSON.stringify({ ...STATE, user: `0x${String(i).padStart(40, '0')}` })
    world.subscriptions.restore(world.connection, { id: `${i}`, echo, digest: '', meta: false, sinceMs: 1e9 })
  }
  expect(world.subscriptions.isCrowded).toBe(false)
  const other = new Client(world, { plan: 'professional' })
  await Promise.all([other.subscribe(STATE), other.subscribe({ ...STATE, user: B } as typeof STATE)])
  await world.accounts.settled()
  expect([world.subscriptions.isCrowded, world.subscriptions.size]).toEqual([true, 2_000])
  expect([world.meter.charges.length, world.meter.refunds.length]).toEqual([2, 1])
})

// WS-61
it('a large first frame waits for room', async () => {
  const world = new StatesWorld()
  world.answer = () => ({ at: world.nowMs, pad: 'x'.repeat(70_000) })
  await world.subscribe(STATE)
  const { length } = world.requests
  const full = new Socket()
  full.waitMs = 50
  world.fanout.add(JSON.stringify(STATE), statesTarget(STATE), full, 'a')
  await world.pass(5_000)
  expect([full.frames.length, world.requests.length > length]).toEqual([0, true])
  full.waitMs = 0
  await world.pass(5_000)
  expect(full.frames.length).toBeGreaterThan(0)
})

/** A world whose main-DEX market has a new price each time, and spot if `isMoving`. */
function moving(isMoving: boolean): StatesWorld {
  const world = new StatesWorld()
  let price = 0
  world.answer = ({ type }) => {
    if (type === 'perpDexs') return [null]
    const isSpot = type === 'spotMetaAndAssetCtxs'
    const markPx = isSpot && !isMoving ? '2.0' : `${++price}.0`
    return [{ universe: [{ name: isSpot ? '@1' : 'BTC' }] }, [{ markPx, midPx: null }]]
  }
  return world
}

// WS-144
it('sends deflated frames in order, however long each takes', async () => {
  const world = moving(true)
  const packed: (() => void)[] = []
  world.deflate = (text) => new Promise((done) => packed.push(() => done(Buffer.from(text).toString('base64'))))
  const body = { type: 'fastAssetCtxs' }
  const decoded = ({ frames }: Socket) => frames.map(({ data }) => JSON.parse(Buffer.from(data, 'base64').toString()))
  const early = await world.subscribe(body)
  const late = new Socket()
  await world.pass(4_000)
  world.fanout.add(JSON.stringify(body), statesTarget(body), late, 'a')
  // It returns before its first frame is deflated, so a change for others is not its start.
  world.leave(body, early)
  world.fanout.add(JSON.stringify(body), statesTarget(body), early, 'a')
  await world.pass(10_000)
  expect(packed.length).toBeGreaterThan(4)
  for (const done of packed.toReversed()) done()
  await world.settled()
  for (const socket of [early, late]) {
    const prices = decoded(socket).flatMap((one) =>
      Object.values(one).map((each) => Number((each as { markPx: string }).markPx)),
    )
    expect(Object.keys(decoded(socket)[0])).toEqual(['BTC', '@1'])
    expect(prices.length).toBeGreaterThan(4)
    expect(prices).toEqual(prices.toSorted((a, b) => a - b))
  }
})

it('reports a frame that cannot be deflated, and sends the full state later', async () => {
  const world = moving(false)
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', onUnhandled)
  const { deflate } = world
  const body = { type: 'fastAssetCtxs' }
  const early = await world.subscribe(body)
  await world.pass(4_000)
  world.deflate = async () => Promise.reject(new Error('no memory'))
  const late = new Socket()
  world.fanout.add(JSON.stringify(body), statesTarget(body), late, 'a')
  await world.pass(36_000)
  await new Promise((done) => setImmediate(done))
  process.off('unhandledRejection', onUnhandled)
  expect([unhandled, new Set(world.failures)]).toEqual([[], new Set(['fastAssetCtxs: Error: no memory'])])
  world.deflate = deflate
  const before = early.frames.length
  await world.pass(12_000)
  const inflate = ({ data }: { data: string }) => JSON.parse(inflateRawSync(Buffer.from(data, 'base64')).toString())
  for (const frames of [early.frames.slice(before - 1), late.frames]) {
    expect(frames[0].data.notification).toMatch(/fastAssetCtxs/)
    expect(Object.keys(inflate(frames[1]))).toEqual(['BTC', '@1'])
    expect(Object.keys(inflate(frames[2]))).toEqual(['BTC'])
  }
})
