// The relay against the real log, hubs and meter, driven by a fake feeder and client sockets.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { shardOf } from '../../src/core/coin.ts'
import type { Fill } from '../../src/protocol/feed/block.ts'
import { LINK_HEADER } from '../../src/protocol/feed/log-api.ts'
import { EXAMPLE_FILL } from '../../src/relay/channels/fills.ts'
import { GUEST_HEADER } from '../../src/relay/sockets/placement.ts'
import { FakeFeeder, levelsOf } from '../block-log/fake-feeder.worker.ts'
import { Client, type Frame, knock, meter } from './stream-client.worker.ts'

const CREDIT = 1_000_000
const A = `0x${'a'.repeat(40)}`
const B = `0x${'b'.repeat(40)}`
const { builder: _, builderFee: __, ...FILL } = EXAMPLE_FILL[1]
const fill = (coin: string, tid: number): Fill => ({ ...FILL, coin, px: '1.0', sz: '1.0', tid })

const log = () => env.BLOCK_LOG.getByName(env.CHAIN)
const of = (channel: string, kind?: string) => (frame: Frame) =>
  frame.channel === channel && (kind === undefined || frame.data?.[kind] !== undefined)

const WAIT = { timeout: 10_000, interval: 10 }
const hubOf = (coin: string) => env.BOOK_HUB.getByName(`${env.CHAIN}/${shardOf(coin, Number(env.BOOK_HUBS))}`)

async function hubStands(coin: string, height: number): Promise<void> {
  const answer = await hubOf(coin).snapshot(coin)
  expect(answer.ok && answer.snapshot.height).toBe(height)
}

let feeder: FakeFeeder
let base = 0
let relay = ''

/** Each test has its own heights, relay and account. */
beforeEach(async () => {
  await log().reset()
  base += 1000
  relay = `${env.CHAIN}/test/${base}`
  await meter(relay).grantCredits('g', 1000 * CREDIT)
  feeder = await FakeFeeder.connect()
  feeder.hello(base - 1, base - 1)
  await feeder.next('welcome')
  await vi.waitFor(
    async () => expect((await log().status()).readers.length).toBeGreaterThanOrEqual(Number(env.BOOK_HUBS)),
    WAIT,
  )
  feeder.snapshot(base - 1, [
    { coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) },
    { coin: 'ETH', levels: levelsOf(['10', '2.0', 2]) },
    { coin: 'SOL', levels: levelsOf(['5', '3.0', 3]) },
    { coin: '@1', levels: levelsOf(['7', '4.0', 4]) },
  ])
  // The first block of a new epoch shows which sockets had books of an older one.
  feeder.block(base, [])
  for (const coin of ['BTC', 'ETH', 'SOL', '@1']) await vi.waitFor(() => hubStands(coin, base), WAIT)
})
afterEach(() => feeder.close())

const change = (coin: string, sz: string) => ({ coin, levels: levelsOf(['100', sz, 1]) })

describe('book channels', () => {
  it('wildcard over all hubs: every perp snapshot, joint Updates, and a wider wildcard adds only the new type', async () => {
    const client = await Client.connect(relay, relay)
    await client.subscribe({ type: 'l2BookDiff' })
    const coins = []
    for (let i = 0; i < 3; i++) coins.push((await client.next(of('l2BookDiff', 'Snapshot'))).data.Snapshot.coin)
    expect(coins.sort()).toEqual(['BTC', 'ETH', 'SOL'])
    const before = (await meter(relay).balance()).available
    await client.subscribe({ type: 'l2BookDiff', marketTypes: ['*'] })
    expect((await client.next(of('l2BookDiff'))).data.Snapshot).toMatchObject({ coin: '@1', block_height: base })
    expect((await meter(relay).balance()).available).toBe(before)
    feeder.block(base + 1, [
      change('BTC', '2.0'),
      change('@1', '2.0'),
      { coin: 'NEW', new: true, levels: levelsOf(['1', '1.0', 1]) },
    ])
    expect((await client.next(of('l2BookDiff', 'Snapshot'))).data.Snapshot).toMatchObject({
      coin: 'NEW',
      block_height: base + 1,
    })
    const { book_diffs } = (await client.next(of('l2BookDiff', 'Updates'))).data.Updates
    expect(book_diffs.map(({ coin }: { coin: string }) => coin).sort()).toEqual(['@1', 'BTC'])
    // The old body is gone with its filter.
    client.send({ method: 'unsubscribe', subscription: { type: 'l2BookDiff' } })
    expect((await client.refused()).data).toMatch(/^Already unsubscribed: \{"type":"l2BookDiff"\}/)
    expect(client.frames).toEqual([])
  })

  it('a lost link resumes from its cursor without missing changes', async () => {
    const client = await Client.connect(relay, relay)
    await client.subscribe({ type: 'l2BookDiff', coin: ['BTC', 'ETH', 'SOL'] })
    const heights: number[] = []
    const follow = async () => heights.push((await client.next(of('l2BookDiff', 'Updates'))).data.Updates.block_height)
    feeder.block(base + 1, [change('BTC', '2.0')])
    await follow()
    await runInDurableObject(env.RELAY.getByName(relay), (_, state) => {
      for (const socket of state.getWebSockets()) {
        if (socket.deserializeAttachment().of === 'hub') socket.close(1011, 'test')
      }
    })
    feeder.block(base + 2, [change('BTC', '3.0')])
    feeder.block(base + 3, [change('BTC', '4.0')])
    await follow()
    await follow()
    expect(heights).toEqual([base + 1, base + 2, base + 3])
    expect(client.closed).toBeNull()
  })

  // WS-33
  it('when a hub dies, l2BookDiff either continues or closes with 1012, and is never wrong', async () => {
    const client = await Client.connect(relay, relay)
    await client.subscribe({ type: 'l2BookDiff', coin: 'BTC' })
    let seen = 0
    await runInDurableObject(hubOf('BTC'), (_, state) => state.abort('test')).catch(() => undefined)
    for (let i = 1; i <= 20; i++) {
      feeder.block(base + i, [change('BTC', `${i}.0`)])
      await feeder.acked(base + i)
      const updates = client.frames.filter(of('l2BookDiff', 'Updates'))
      for (const { data } of updates.slice(seen)) expect(data.Updates.block_height).toBe(base + ++seen)
      if (client.closed || seen > 3) break
    }
    expect(client.closed?.code ?? seen).toSatisfy((end: number) => end === 1012 || end > 3)
  })
})

describe('channels of views', () => {
  const best = (sz: string) => ({ coin: 'BTC', time: expect.any(Number), bbo: [{ px: '100', sz, n: 1 }, null] })

  // WS-130
  it('continue with the next frame after lost links and a dead hub', async () => {
    const client = await Client.connect(relay, relay)
    await client.subscribe({ type: 'bbo', coin: 'BTC' })
    expect((await client.next(of('bbo'))).data).toEqual(best('1.0'))
    const breaks = [
      () =>
        runInDurableObject(env.RELAY.getByName(relay), (_, state) => {
          for (const socket of state.getWebSockets())
            if (socket.deserializeAttachment().of === 'hub') socket.close(1011, 'test')
        }),
      () => runInDurableObject(hubOf('BTC'), (_, state) => state.abort('test')).catch(() => undefined),
    ]
    let height = base
    for (const broken of breaks) {
      await broken()
      // The change happens without a link; later blocks change nothing.
      const sz = `${++height}.0`
      feeder.block(height, [change('BTC', sz)])
      await vi.waitFor(async () => {
        await feeder.acked(height)
        feeder.block(++height, [])
        expect(client.frames.filter(of('bbo')).at(-1)?.data).toEqual(best(sz))
      }, WAIT)
    }
    expect(client.closed).toBeNull()
  })
})

describe('event channels', () => {
  // WS-100
  it('history comes from the gateway, then the blocks', async () => {
    const client = await Client.connect(relay, relay)
    await client.subscribe({ type: 'trades', coin: 'BTC' })
    expect(await client.next(of('trades'))).toEqual({ channel: 'trades', data: [] })
    const seller = { ...fill('BTC', 1), side: 'A' as const, crossed: false }
    feeder.block(base + 1, [], {
      fills: [
        [A, fill('BTC', 1)],
        [B, seller],
      ],
    })
    expect((await client.next(of('trades'))).data).toMatchObject([{ tid: 1, users: [A, B] }])
  })

  // WS-103
  it('a liquidation is assigned to the builder of the previous fill, even across a log restart', async () => {
    feeder.block(base + 1, [], { fills: [[A, { ...fill('BTC', 1), builder: B }]] })
    await feeder.acked(base + 1)
    await runInDurableObject(log(), (_, state) => state.abort('test')).catch(() => undefined)
    const stopped = feeder
    feeder = await FakeFeeder.connect()
    feeder.continue(stopped)
    feeder.hello(base, base + 1)
    await feeder.next('welcome')
    const client = await Client.connect(relay, relay)
    await client.subscribe({ type: 'builderLiquidations', builder: B })
    const liquidated = { ...fill('BTC', 2), side: 'A' as const, liquidation: { liquidatedUser: A, method: 'market' } }
    feeder.block(base + 2, [], { fills: [[A, liquidated]] })
    expect(await client.next(of('builderLiquidations'))).toEqual({
      channel: 'builderLiquidations',
      fills: [[A, { ...liquidated, builder: B }]],
    })
  })

  // WS-23
  it('fromBlock: the log resends its blocks, then live blocks follow; missing blocks are reported', async () => {
    for (let tid = 1; tid <= 3; tid++) feeder.block(base + tid, [], { fills: [[A, fill('BTC', tid)]] })
    await feeder.acked(base + 3)
    const client = await Client.connect(relay, relay)
    await client.subscribe({ type: 'allFills' }, { fromBlock: base + 2, meta: true })
    const tids: unknown[] = []
    for (let tid = 2; tid <= 4; tid++) {
      const frame = await client.next(of('allFills'))
      tids.push([frame.block_height, frame.fills.map(([, { tid }]: [string, Fill]) => tid)])
      if (tid === 3) feeder.block(base + 4, [], { fills: [[A, fill('BTC', 4)]] })
    }
    expect(tids).toEqual([2, 3, 4].map((tid) => [base + tid, [tid]]))
    client.send({ method: 'ping', nonce: '' })
    expect(await client.next(of('pong'))).toMatchObject({ block_height: base + 4 })
    await client.subscribe({ type: 'userFills', user: A }, { fromBlock: 1 })
    expect(await client.refused()).toMatchObject({ code: 'replay_unavailable' })
    feeder.block(base + 5, [], { fills: [[A, fill('BTC', 5)]] })
    await client.next(of('userFills'))
  })
})

describe('bad input', () => {
  it('a relay rejects callers without identity, plain requests, and unexpected links', async () => {
    const stub = env.RELAY.getByName(relay)
    expect((await stub.fetch('http://relay/ws')).status).toBe(426)
    expect((await stub.fetch('http://relay/ws', { headers: { upgrade: 'websocket' } })).status).toBe(401)
    for (const link of ['{"v":1,"from":"hub","index":99}', '{"v":1,"from":"hub","index":0}']) {
      const headers = { upgrade: 'websocket', [LINK_HEADER]: link }
      expect((await stub.fetch('http://relay/link', { headers })).status).toBe(404)
    }
  })
})

describe('minutes', () => {
  it('a further minute is charged by the alarm; exhaustion warns, then closes with 4402', async () => {
    const account = `${relay} small`
    await meter(account).grantCredits('g', 2 * CREDIT)
    const client = await Client.connect(relay, account)
    await client.subscribe({ type: 'allFills' })
    expect(client.frames).toEqual([])
    const stub = env.RELAY.getByName(relay)
    const pass = async (minutes: number) => {
      vi.setSystemTime(Date.now() + minutes * 60_000)
      client.send({ method: 'ping' })
      await client.next(of('pong'))
      await runDurableObjectAlarm(stub)
    }
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      await pass(1)
      expect(await client.next(of('notification'))).toMatchObject({
        data: { notification: expect.stringMatching(/Credits are low/) },
      })
      expect((await meter(account).balance()).available).toBe(0)
      await pass(1)
      expect(await client.refused()).toMatchObject({ code: 'credits_exhausted' })
      expect(await client.closing()).toMatchObject({ code: 4402 })
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('life of a relay', () => {
  // WS-45
  it('answers a close at once with the same code', async () => {
    const client = await Client.connect(relay, relay)
    client.close(1000, 'bye')
    expect(await client.closing()).toMatchObject({ code: 1000 })
  })

  it('subscriptions survive hibernation: frames and charges continue', async () => {
    const client = await Client.connect(relay, relay)
    const subscriptions = [
      { type: 'allFills' },
      { type: 'l2BookDiff2', coin: 'BTC' },
      { type: 'l2BookDiff', coin: 'ETH' },
      { type: 'bbo', coin: 'BTC' },
      { type: 'allMids', interval: 0 },
      { type: 'candle', interval: '1m', coin: 'SOL' },
    ]
    for (const subscription of subscriptions) await client.subscribe(subscription)
    await client.next(of('l2BookDiff', 'Snapshot'))
    for (const channel of ['bbo', 'allMids']) await client.next(of(channel))
    const stub = env.RELAY.getByName(relay)
    await vi.waitFor(
      () =>
        runInDurableObject(stub, (_, { storage }) => {
          expect([...storage.kv.list({ prefix: 'subscription/' })]).toHaveLength(subscriptions.length)
        }),
      WAIT,
    )
    const { spent } = await meter(relay).balance()
    await evictDurableObject(stub)
    const traded = fill('SOL', 2)
    const fills: [string, Fill][] = [
      [A, fill('BTC', 1)],
      [A, traded],
      [B, { ...traded, side: 'A', crossed: false }],
    ]
    feeder.block(base + 1, [change('BTC', '2.0'), change('ETH', '2.0')], { fills })
    await client.next(of('allFills'))
    await client.next(of('l2BookDiff2'))
    expect((await client.next(of('l2BookDiff'))).data.Updates.block_height).toBe(base + 1)
    await client.next(({ channel, data }) => channel === 'bbo' && data.bbo[0].sz === '2.0')
    await client.next(({ channel, data }) => channel === 'allMids' && data.mids.SOL === '1.0')
    // It is sent with a block after the history response.
    let height = base + 1
    await vi.waitFor(async () => {
      feeder.block(++height, [])
      await feeder.acked(height)
      expect(client.frames.find(of('candle'))?.data).toMatchObject({ s: 'SOL', i: '1m', n: 1 })
    }, WAIT)
    await runDurableObjectAlarm(stub)
    // The minute was paid before, so its charge is repeated with the same id.
    expect((await meter(relay).balance()).spent).toBe(spent)
    client.send({ method: 'subscribe', subscription: { type: 'allFills' } })
    expect((await client.refused()).code).toBe('already_subscribed')
  })

  // GQL-2, GQL-13
  it('GraphQL operations survive hibernation, and the key is not stored', async () => {
    const stub = env.RELAY.getByName(relay)
    const headers = { upgrade: 'websocket', [GUEST_HEADER]: '' }
    const answer = await stub.fetch('http://relay/graphql', { headers })
    expect([answer.status, answer.headers.get('sec-websocket-protocol')]).toEqual([101, 'graphql-transport-ws'])
    const client = new Client(answer.webSocket!)
    client.send({ type: 'connection_init', payload: { Authorization: `Bearer ${relay}` } })
    await client.next(({ type }) => type === 'connection_ack')
    const queries = [
      'allFills { fills { fill { tid } } }',
      'bbo(coin: "BTC") { data { coin } }',
      'trades(coin: "BTC") { data { px } }',
    ]
    queries.forEach((query, id) => {
      client.send({ id: `${id}`, type: 'subscribe', payload: { query: `subscription { ${query} }` } })
    })
    const rows = () => runInDurableObject(stub, (_, { storage }) => [...storage.kv.list({ prefix: 'subscription/' })])
    await vi.waitFor(async () => expect(await rows()).toHaveLength(queries.length), WAIT)
    await client.next(({ id }) => id === '1')
    expect((await meter(relay).balance()).spent).toBe(queries.length * CREDIT)
    const attachments = await runInDurableObject(stub, (_, state) =>
      state.getWebSockets().map((socket) => socket.deserializeAttachment()),
    )
    expect(JSON.stringify([await rows(), attachments])).not.toContain(`Bearer ${relay}`)
    await runInDurableObject(stub, (_, { storage }) => {
      for (const [name, saved] of storage.kv.list<{ operation: string }>({ prefix: 'subscription/' }))
        storage.kv.put(name, { ...saved, operation: saved.operation.replace('px:px', 'gone:gone') })
    })
    await evictDurableObject(stub)
    feeder.block(base + 1, [change('BTC', '2.0')], { fills: [[A, fill('BTC', 1)]] })
    const ended = await client.next(({ id, payload }) => id === '2' && payload.errors)
    expect(ended.payload.errors[0].extensions).toEqual({ code: 'UNAVAILABLE' })
    await client.next(({ id, type }) => id === '2' && type === 'complete')
    expect(await client.next(({ id }) => id === '0')).toEqual({
      id: '0',
      type: 'next',
      payload: { data: { allFills: { fills: [{ fill: { tid: 1 } }] } } },
    })
    await client.next(({ id }) => id === '1')
    client.send({ id: '0', type: 'subscribe', payload: { query: '{ channels }' } })
    expect(await client.closing()).toMatchObject({ code: 4409 })
    await vi.waitFor(async () => expect(await rows()).toEqual([]), WAIT)
  })

  // WS-157
  it('a replay does not survive hibernation: its client gets 1012, and others continue', async () => {
    const player = await Client.connect(relay, relay)
    const other = await Client.connect(relay, relay)
    const stub = env.RELAY.getByName(relay)
    const playing = () =>
      runInDurableObject(stub, (_, state) => {
        const attachments = state.getWebSockets().map((one) => one.deserializeAttachment())
        return attachments.filter(({ isPlaying }) => isPlaying).map(({ id }) => id)
      })
    const body = { type: 'allFills' }
    await player.subscribe(body, { replay: { fromTime: 1 } })
    await player.subscribe({ type: 'trades', coin: 'BTC' })
    await other.subscribe(body)
    const [id, ...others] = await playing()
    expect([id, others]).toEqual([expect.any(String), []])
    player.send({ method: 'unsubscribe', subscription: body })
    await vi.waitFor(async () => expect(await playing()).toEqual([]), WAIT)
    // A running replay prevents hibernation, so the attachment is the only trace of a killed one.
    await runInDurableObject(stub, (_, state) => {
      for (const socket of state.getWebSockets()) {
        const attachment = socket.deserializeAttachment()
        if (attachment.id === id) socket.serializeAttachment({ ...attachment, isPlaying: true })
      }
    })
    await evictDurableObject(stub)
    for (const client of [player, other]) client.send({ method: 'ping' })
    expect(await player.closing()).toMatchObject({ code: 1012 })
    feeder.block(base + 1, [], { fills: [[A, fill('BTC', 1)]] })
    await other.next(of('allFills'))
    expect(other.closed).toBeNull()
  })

  it('drops its links without subscribers', async () => {
    const client = await Client.connect(relay, relay)
    await client.subscribe({ type: 'allFills' })
    const reads = async () => (await log().status()).readers.some(({ name }) => name === relay)
    expect(await reads()).toBe(true)
    client.close(1000, '')
    await client.closing()
    await runDurableObjectAlarm(env.RELAY.getByName(relay))
    await vi.waitFor(async () => expect(await reads()).toBe(false), WAIT)
  })

  // WS-5
  it('a full relay reports it', async () => {
    const clients = await Promise.all(
      Array.from({ length: Number(env.RELAY_SOCKETS) }, () => Client.connect(relay, relay, { plan: 'enterprise' })),
    )
    expect(await (await knock(relay, relay, { plan: 'enterprise' })).json()).toEqual({ why: 'full', left: 0 })
    for (const client of clients) client.close(1000, '')
  })
})
