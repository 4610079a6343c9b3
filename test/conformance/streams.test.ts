// Streams and books from a feeder to sockets and /info.

import { type Client, createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { ChannelTypes } from '../../src/client/wire.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { BookChange, Level, Levels } from '../../src/protocol/feed/block.ts'
import { Feeder } from '../kit/feeder.ts'
import { fillWith } from '../kit/fills.ts'
import { startWorld, type World } from '../kit/gateway.ts'
import { type Program, runFile } from '../kit/program.ts'
import { Socket } from '../kit/socket.ts'
import { stateOf } from './book-follower.ts'

type Updates = ChannelTypes['l2BookDiff2']['frame']['data']['Updates']
type Seed = Extract<ChannelTypes['l2BookDiff']['frame']['data'], { Snapshot: unknown }>
type BookData = Partial<Seed> & { readonly Updates?: Updates }

const ALICE = `0x${'a'.repeat(40)}`
const level = (px: string, sz: string, n = 1): Level => ({ px, sz, n })
const COINS = ['BTC', 'ETH', 'xyz:GOLD', 'PURR/USDC', '#0']
const seedBooks = COINS.map((coin, i) => ({
  coin,
  levels: [[level(`${100 + i}`, '1.0')], [level(`${200 + i}`, '1.0')]] as Levels,
}))
let world: World
let feeder: Feeder
let key: string
let height = 1000
beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey('100000')
  feeder = await Feeder.connect(world.ws)
  expect(await feeder.hello()).toMatchObject({ type: 'welcome', epoch: null, height: null })
  feeder.snapshot(height, height * 70, seedBooks)
  await feeder.acked(height)
  await vi.waitFor(
    async () => {
      push([])
      for (const coin of COINS) expect((await world.info(key, { type: 'l2BookDiffSnapshot', coin })).status).toBe(200)
    },
    { timeout: 20_000, interval: 100 },
  )
})
afterAll(() => world.stop())

const open = () => Socket.open(`${world.ws}/ws?key=${key}`)
const push = (books: BookChange[], more: Parameters<Feeder['block']>[0] | object = {}) =>
  feeder.block({ height: ++height, books, ...more })
const subscribe = async (socket: Socket, subscription: object) => {
  expect(await socket.subscribe(subscription)).toEqual({
    channel: 'subscriptionResponse',
    data: { method: 'subscribe', subscription },
  })
}
const dataOf = (frame: Record<string, unknown>) => frame.data as BookData

describe('l2BookDiff', () => {
  // WS-29, WS-47
  it('delivers every change after the Snapshots once to 40 concurrent wildcards of two accounts', async () => {
    const keys = [key, await world.newKey('100000')]
    const changed: [coin: string, height: number][] = []
    let isLive = false
    const pushing = (async () => {
      for (let at = 0; !isLive || at % 4 !== 0; at++) {
        const coin = COINS[at % COINS.length]!
        push([{ coin, levels: [[level('98', `${at + 1}.0`)], []] }])
        changed.push([coin, height])
        // The exchange's pace where each block costs time on the platform.
        await new Promise((resolve) => setTimeout(resolve, world.rehearsal === null ? 5 : 70))
      }
    })()
    const body = { type: 'l2BookDiff', marketTypes: ['*'] }
    const sockets = await Promise.all(
      Array.from({ length: 40 }, (_, at) => Socket.open(`${world.ws}/ws?key=${keys[at % 2]}`)),
    )
    for (const socket of sockets) socket.send({ method: 'subscribe', subscription: body })
    const from = await Promise.all(
      sockets.map(async (socket) => {
        const heights = new Map<string, number>()
        while (heights.size < COINS.length) {
          const { Snapshot } = dataOf(await socket.next((frame) => frame.channel === 'l2BookDiff', 60_000))
          if (Snapshot) heights.set(Snapshot.coin, Snapshot.block_height)
        }
        return heights
      }),
    )
    isLive = true
    await pushing
    const last = height
    for (const [at, socket] of sockets.entries()) {
      const updates = () =>
        socket.frames.flatMap((frame) => (frame.channel === 'l2BookDiff' && dataOf(frame).Updates) || [])
      await vi.waitFor(() => expect(updates().some(({ block_height }) => block_height === last)).toBe(true), 60_000)
      for (const coin of COINS) {
        const due = changed
          .flatMap(([one, at]) => (one === coin ? [at] : []))
          .filter((one) => one > from[at]!.get(coin)!)
        const got = updates().flatMap(({ block_height, book_diffs }) =>
          book_diffs.some((diff) => diff.coin === coin) ? [block_height] : [],
        )
        expect(got).toEqual(due)
      }
      expect(socket.closed).toBeNull()
      socket.close()
    }
  })
})

describe('l2BookDiff2 with l2BookDiffSnapshot', () => {
  // WS-32
  it('follows the bootstrap rules at any time', async () => {
    const socket = await open()
    await subscribe(socket, { type: 'l2BookDiff2', coin: 'BTC' })
    for (let round = 0; round < 20; round++) {
      const sent = Array.from({ length: 5 }, (_, i) => ({
        px: `${50 + ((round + i) % 7)}`,
        sz: `${round}.${i + 1}`,
        n: 1 + i,
      }))
      // The snapshot is asked for while blocks are on their way.
      for (const one of sent.slice(0, 2)) push([{ coin: 'BTC', levels: [[one], []] }])
      const asked = world.info(key, { type: 'l2BookDiffSnapshot', coin: 'BTC' })
      for (const one of sent.slice(2)) push([{ coin: 'BTC', levels: [[one], []] }])
      const snapshot = (await (await asked).json()) as { height: number; epoch: string; seq: number; levels: Levels }
      const batches: Updates[] = []
      while ((batches.at(-1)?.block_height ?? 0) < height)
        batches.push(dataOf(await socket.channel('l2BookDiff2')).Updates!)
      const book = new LevelBook()
      book.apply(snapshot.levels)
      let seq = snapshot.seq
      for (const { block_height, epoch, book_diffs } of batches.filter(
        (batch) => batch.block_height > snapshot.height,
      )) {
        expect(epoch).toBe(snapshot.epoch)
        expect([book_diffs[0]?.prev_seq, book_diffs[0]?.seq]).toEqual([seq, block_height])
        book.apply(book_diffs[0]!.levels)
        seq = block_height
      }
      const now = (await (await world.info(key, { type: 'l2BookDiffSnapshot', coin: 'BTC' })).json()) as typeof snapshot
      expect([now.seq, now.levels]).toEqual([seq, book.levels()])
    }
    socket.close()
  })
})

describe('post', () => {
  // WS-43
  it('serves info over the socket at its price', async () => {
    const { key: own, account } = await world.issue('3')
    const socket = await Socket.open(`${world.ws}/ws?key=${own}`)
    socket.send({ method: 'post', id: 4, request: { type: 'info', payload: { type: 'l2Book', coin: 'ETH' } } })
    expect((await socket.channel('post')).data).toMatchObject({
      id: 4,
      response: { type: 'info', payload: { type: 'l2Book', data: { coin: 'ETH' } } },
    })
    expect((await world.info(own, { type: 'l2Book', coin: 'ETH' })).status).toBe(200)
    const spent = async () => (await world.ask('GET', `/accounts/${account}`)).spent
    await expect.poll(spent, { timeout: 30_000 }).toBe('2')
    socket.close()
  })
})

describe('files of the node that no block needs', () => {
  const update = { update_class: 'Deployer', mark_px_inputs: [['xyz:GOLD', '102.0']] }
  const send = { type: 'SystemSpotSendAction', destination: ALICE, token: 0, wei: 5 }
  const action = { user: `0x20${'0'.repeat(38)}`, nonce: 1, evm_tx_hash: `0x${'0c'.repeat(32)}`, action: send }

  // WS-109, WS-110, FEED-39
  it('reach subscribers with their block, live and from an earlier block', async () => {
    const bodies = [
      { type: 'oracleUpdates', dex: 'xyz' },
      { type: 'writerActions', user: ALICE },
    ]
    const socket = await open()
    for (const body of bodies) await subscribe(socket, body)
    push([], { oracle: [update], writer: [action] })
    push([])
    const oracle = { coin: 'xyz:GOLD', update_class: 'Deployer', mark_px_inputs: ['102.0'] }
    const frames = [
      { channel: 'oracleUpdates', data: [oracle] },
      { channel: 'writerActions', data: { user: ALICE, actions: [action] } },
    ]
    for (const frame of frames) expect(await socket.channel(frame.channel)).toEqual(frame)
    await feeder.acked(height)
    const later = await open()
    for (const subscription of bodies) later.send({ method: 'subscribe', subscription, fromBlock: height - 1 })
    for (const frame of frames) expect(await later.channel(frame.channel)).toEqual(frame)
    socket.close()
    later.close()
  })
})

describe('stream minutes', () => {
  // WS-4
  it('can be paid with the last credit while connecting', async () => {
    const socket = await Socket.open(`${world.ws}/ws?key=${await world.newKey('1')}`)
    await subscribe(socket, { type: 'allFills' })
    socket.close()
  })

  // WS-4
  it('survive a lost connection: the rest of a minute serves one reconnect without credits', async () => {
    const own = await world.newKey('1')
    const first = await Socket.open(`${world.ws}/ws?key=${own}`)
    await subscribe(first, { type: 'allFills' })
    first.close()
    await first.ended()
    const second = await Socket.open(`${world.ws}/ws?key=${own}`)
    await subscribe(second, { type: 'allFills' })
    second.send({ method: 'subscribe', subscription: { type: 'allFills', coin: 'BTC' } })
    expect((await second.channel('error')).code).toBe('credits_exhausted')
    await expect(Socket.open(`${world.ws}/ws?key=${own}`)).rejects.toMatchObject({ status: 402 })
    second.close()
  })
})

describe('limits of a plan', () => {
  // WS-3
  it('reject an excess socket with 429 and the name of the limit', async () => {
    const own = await world.newKey('100', { plan: 'entry' })
    const url = `${world.ws}/ws?key=${own}`
    const sockets = await Promise.all(Array.from({ length: 100 }, () => Socket.open(url)))
    const refused = await Socket.open(url).catch((error) => error as { status: number; body: string })
    expect(refused).toMatchObject({ status: 429 })
    expect(JSON.parse((refused as { body: string }).body)).toMatchObject({
      code: 'rate_limited',
      limit: 'stream_connections',
      most: 100,
    })
    sockets[0]!.close()
    await vi.waitFor(async () => (await Socket.open(url)).close(), { timeout: 10_000, interval: 50 })
    for (const socket of sockets) socket.close()
  })

  // WS-8
  it('reject excess messages with an error frame; the socket stays open', async () => {
    const socket = await open()
    // More than come back while these are read, fewer than end the socket.
    for (let i = 0; i < 2900; i++) socket.send({ method: 'ping' })
    const refused = await socket.channel('error')
    expect(refused).toMatchObject({ code: 'rate_limited', data: expect.stringContaining('2,000 per minute') })
    expect(socket.closed).toBeNull()
    socket.close()
  })
})

type Result = { readonly data?: unknown; readonly errors?: readonly { extensions?: unknown; message: string }[] }

/** Connects when it is first used, and not again. `closes` has the codes of its sockets. */
function graphqlClient(ws: string, connectionParams: Record<string, unknown>) {
  const closes: number[] = []
  const client = createClient({
    url: `${ws}/graphql`,
    connectionParams,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    on: { closed: (event) => void closes.push((event as { code: number }).code) },
  })
  return { client, closes, subscribe: (query: string, variables = {}) => subscribed(client, query, variables) }
}

/** Results as they come; `end` tells how it ended. */
function subscribed(client: Client, query: string, variables: Record<string, unknown>) {
  const results: Result[] = []
  let end: unknown = null
  const stop = client.subscribe(
    { query, variables },
    {
      next: (result) => void results.push(result as Result),
      error: (error) => {
        end = error
      },
      complete: () => {
        end ??= 'complete'
      },
    },
  )
  return { results, stop, ended: () => end }
}

describe('the client of graphql-ws', () => {
  const FILLS =
    'subscription ($user: String!) { userFills(user: $user) { fills { user fill { coin px } } block_height } }'
  const BOOK =
    'subscription { l2BookDiff(coin: "BTC") { data { Snapshot { coin } Updates { block_height book_diffs { coin levels { px sz n } } } } } }'

  // GQL-1, GQL-8, GQL-9
  it('gets selected fields of books and fills until it completes', async () => {
    const { client, subscribe: ask, closes } = graphqlClient(world.ws, { Authorization: `Bearer ${key}` })
    const book = ask(BOOK)
    const again = ask(BOOK)
    const fills = ask(FILLS, { user: ALICE })
    await expect.poll(() => [book, again].map(({ results }) => results.length)).toEqual([1, 1])
    expect(book.results[0]).toEqual({ data: { l2BookDiff: { data: { Snapshot: { coin: 'BTC' }, Updates: null } } } })
    await vi.waitFor(() => {
      push([{ coin: 'BTC', levels: [[level('97', '1.5')], []] }], { fills: [[ALICE, fillWith({ px: '100.0' })]] })
      expect(fills.results.length).toBeGreaterThan(0)
    }, 30_000)
    const [first] = fills.results
    expect(first).toMatchObject({
      data: { userFills: { fills: [{ user: ALICE, fill: { coin: 'BTC', px: '100.0' } }] } },
    })
    await expect.poll(() => book.results.length).toBeGreaterThan(1)
    expect(book.results[1]).toMatchObject({
      data: {
        l2BookDiff: {
          data: { Snapshot: null, Updates: { book_diffs: [{ coin: 'BTC', levels: [[{ px: '97' }], []] }] } },
        },
      },
    })
    book.stop()
    await expect.poll(() => book.ended()).toBe('complete')
    const { length } = book.results
    const before = again.results.length
    push([{ coin: 'BTC', levels: [[level('97', '1.75')], []] }])
    await expect.poll(() => again.results.length).toBeGreaterThan(before)
    expect(book.results).toHaveLength(length)
    await client.dispose()
    await expect.poll(() => closes).toEqual([1000])
  })

  // GQL-2, GQL-4
  it.each([
    [{}, 'MISSING_TOKEN'],
    [{ SERVICE_API_KEY: 'cqt_none' }, 'INVALID_TOKEN'],
  ])('with %j connects and gets an error on subscribe', async (params, code) => {
    const { client, subscribe: ask } = graphqlClient(world.ws, params)
    const one = ask(BOOK)
    await expect.poll(() => one.ended()).toBe('complete')
    expect(one.results).toEqual([{ errors: [{ message: expect.any(String), extensions: { code } }] }])
    await client.dispose()
  })

  // GQL-6, GQL-11
  it('gets validation errors and the schema', async () => {
    const { client, subscribe: ask } = graphqlClient(world.ws, { SERVICE_API_KEY: key })
    const wrong = ask('subscription { bbo { data { coin } } }')
    const types = ask('{ __schema { subscriptionType { fields { name } } } }')
    const none = ask('subscription { bbo(coin: "NONE") { data { coin } } }')
    await expect.poll(() => [wrong, types, none].map((one) => one.ended() !== null)).toEqual([true, true, true])
    expect(wrong.ended()).toEqual([expect.objectContaining({ extensions: { code: 'INVALID_REQUEST' } })])
    expect(JSON.stringify(types.results)).toContain('userFills')
    expect(none.results[0]?.errors?.[0]?.extensions).toEqual({ code: 'NOT_FOUND' })
    await client.dispose()
  })

  // GQL-1
  it('needs a valid key', async () => {
    await expect(Socket.open(`${world.ws}/graphql?key=${key}`)).rejects.toMatchObject({ status: 400 })
    const answer = await fetch(`${world.url}/graphql`)
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { errors: [{ extensions: { code: 'INVALID_REQUEST' } }] },
    ])
  })
})

// Kills are in kills.test.ts, faults of every kind in test/examples/book.test.ts.
describe('examples/book.ts', () => {
  const BOTH = ['BTC', 'ETH']
  let follower: Program

  /** All books anew. */
  const seed = (sz: string) => {
    const levels: Levels = [[level('10.0', sz), level('9.5', '1.0')], [level('11.0', sz)]]
    const books = BOTH.map((coin) => ({ coin, levels }))
    feeder.snapshot(++height, height * 70, books)
  }
  /** A block that sets a bid of both coins, and takes another one away. */
  const change = (sz: string) =>
    push(BOTH.map((coin) => ({ coin, levels: [[level('9.0', sz), level('9.5', '0', 0)], []] })))

  beforeAll(async () => {
    seed('1.0')
    change('2.0')
    await feeder.acked(height)
    follower = runFile('test/conformance/book-follower.ts', BOTH, { WEIR_URL: world.url, WEIR_KEY: key })
  })
  afterAll(() => follower?.end('SIGKILL'))

  it.each([
    ['begins with the present book', () => {}],
    ['takes changes', () => change('3.0')],
    [
      'begins again after heights that never came',
      () => {
        height += 2
        feeder.block({ height, books: null })
        seed('4.0')
        change('4.5')
      },
    ],
    [
      'begins again where the feed does',
      () => {
        height += 100
        seed('5.0')
        change('6.0')
      },
    ],
  ])('%s, and shows what the server has', async (_, act) => {
    act()
    for (const coin of BOTH) {
      let now = ''
      const reached = async () => {
        const answer = await world.info(key, { type: 'l2BookDiffSnapshot', coin })
        if (!answer.ok) return -1
        const book = (await answer.json()) as { epoch: string; seq: number; levels: Levels }
        now = stateOf(coin, book, book.levels)
        return book.seq
      }
      await expect.poll(reached, { timeout: 20_000, interval: 100 }).toBe(height)
      await expect.poll(() => follower.lines, { timeout: 20_000, interval: 50 }).toContain(now)
    }
  })
})
