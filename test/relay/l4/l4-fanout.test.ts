// Order subscribers get consistent data, whatever comes between a snapshot and its send: fan-out and queue together.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { OrderBookApi, OrdersSnapshot as Whole } from '../../../src/order-books/l4/order-book-api.ts'
import { type L4Block, type L4Order, RestingOrders } from '../../../src/order-books/l4/resting-orders.ts'
import { L4Fanout } from '../../../src/relay/l4/l4-fanout.ts'
import { OrdersFetcher } from '../../../src/relay/l4/orders-fetcher.client.ts'
import { SnapshotQueue, type SnapshotText, type SnapshotWaiter } from '../../../src/relay/l4/snapshot-queue.ts'
import { blocks, NaiveOrders } from '../../order-books/l4/naive-orders.ts'
import { ordersTarget } from '../targets.ts'

const COINS = ['BTC', 'ETH']
const wantedOf = (coin: string) => ordersTarget({ type: 'l4Book', coin })
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A client that checks everything it gets against the invariant and the node's book. */
class Client {
  orders: RestingOrders | null = null
  height = -1
  frames = 0
  waitMs = 0
  readonly #truth: (height: number) => unknown

  constructor(truth: (height: number) => unknown) {
    this.#truth = truth
  }

  snapshotWaitMs(): number {
    return this.waitMs
  }

  send(text: string): void {
    this.frames++
    const { Snapshot, Updates } = JSON.parse(text).data
    if (Snapshot) {
      this.orders = new RestingOrders()
      for (const side of Snapshot.levels as L4Order[][]) for (const order of side) this.orders.add(order)
      this.height = Snapshot.block_height
    } else {
      expect(Updates.block_height, 'comes twice').toBeGreaterThan(this.height)
      expect(Updates.prev_block_height, 'a hole').toBeLessThanOrEqual(this.height)
      expect(this.orders!.apply(Updates.time, Updates as L4Block)).toBeNull()
      this.height = Updates.block_height
    }
    this.holds(this.height)
  }

  holds(height: number): void {
    expect(JSON.parse([...this.orders!.texts(1000)].join(''))).toEqual(this.#truth(height))
  }
}

/** A node, the object of each coin's book, and a relay behind them. */
class World {
  nowMs = 0
  readonly nodes = new Map(COINS.map((coin) => [coin, new NaiveOrders(coin)]))
  /** Rows of each height, and the book after it. */
  readonly past: Map<string, { rows: string; levels: unknown }>[] = [
    new Map(COINS.map((coin) => [coin, { rows: '', levels: [[], []] }])),
  ]
  delivered = 0
  readonly clients = new Map<Client, { coin: string; account: string }>()
  readonly guests = new Map<Client, SnapshotWaiter & { readonly receiver: Client }>()
  #waits: (() => void)[] = []
  fetches: ((isOld: boolean) => void)[] = []
  isAbsent = false
  mostAtOnce = 0
  readonly fanout = new L4Fanout<Client>()
  readonly line = new SnapshotQueue<SnapshotWaiter & { readonly receiver: Client }>({
    clock: this,
    wait: () => new Promise((resolve) => this.#waits.push(resolve)),
    startRecording: (coin) => this.fanout.startRecording(coin),
    stopRecording: (coin) => this.fanout.stopRecording(coin),
    fetch: (coin, atLeast) => this.#fetch(coin, atLeast),
    deliver: ({ coin, receiver }, { position, text }) =>
      this.fanout.deliverSnapshot(coin, receiver, position.height, text),
  })

  constructor() {
    this.fanout.onLost = (_, clients) => clients.forEach((client) => void this.#enter(client))
  }

  #fetch(coin: string, atLeast: number): Promise<SnapshotText | null> {
    this.mostAtOnce = Math.max(this.mostAtOnce, this.fetches.length + 1)
    return new Promise((resolve) => {
      // Its object may be anywhere between the relay's height and the node's.
      this.fetches.push((isOld) => {
        const height = isOld ? Math.max(0, atLeast) : this.past.length - 1
        const place = { height, time: height, epoch: 'e' }
        const { levels } = this.past[height]!.get(coin)!
        const isThere = !this.isAbsent && height >= atLeast
        resolve(
          isThere
            ? { position: place, text: wantedOf(coin).channel.snapshot(coin, place, [JSON.stringify(levels)]) }
            : null,
        )
      })
    })
  }

  produce(moves: Parameters<NaiveOrders['block']>[1]): void {
    const height = this.past.length
    const ofCoin = (coin: string, at: number) => {
      const node = this.nodes.get(coin)!
      const rows = node.block(
        height,
        moves.filter((_, index) => index % COINS.length === at),
      )
      return [coin, { rows, levels: node.levels() }] as const
    }
    this.past.push(new Map(COINS.map(ofCoin)))
  }

  /** The relay gets the next block, without the rows of `hidden`. */
  deliver(hidden: readonly string[] = []): void {
    if (this.delivered + 1 >= this.past.length) return
    const height = ++this.delivered
    const visible = COINS.filter((coin) => !hidden.includes(coin)).map(
      (coin) => [coin, this.past[height]!.get(coin)!.rows] as const,
    )
    this.fanout.push({ height, time: height, epoch: 'e' }, new Map(visible))
  }

  join(coin: string, account: string): Client {
    const client = new Client((height) => this.past[height]!.get(coin)!.levels)
    this.clients.set(client, { coin, account })
    this.fanout.add(wantedOf(coin), client)
    void this.#enter(client)
    return client
  }

  async #enter(receiver: Client): Promise<void> {
    const guest = { ...this.clients.get(receiver)!, receiver }
    this.guests.set(receiver, guest)
    if (await this.line.enter(guest)) this.guests.delete(receiver)
  }

  leave(client: Client): void {
    const { coin } = this.clients.get(client)!
    this.clients.delete(client)
    this.fanout.remove(coin, client)
    const guest = this.guests.get(client)
    if (guest) this.line.leave(guest)
    this.guests.delete(client)
  }

  async pass(ms: number): Promise<void> {
    this.nowMs += ms
    for (const wake of this.#waits.splice(0)) wake()
    await settle()
  }

  async answer(isOld = false): Promise<void> {
    this.fetches.shift()?.(isOld)
    await settle()
  }
}

// WS-151, WS-152, WS-153
test('a client always has the book of its height, and in the end every client has a book', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('block' as const), moves: blocks.map(([first]) => first!), deliver: fc.nat(2) }),
    fc.record({ kind: fc.constantFrom('hole', 'gap', 'answer', 'absent', 'pass'), at: fc.nat(1) }),
    fc.record({ kind: fc.constantFrom('join', 'leave', 'full'), at: fc.nat(7) }),
  )
  const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) => {
    const world = new World()
    for (const one of steps) {
      const someone = () => [...world.clients.keys()][('at' in one ? one.at : 0) % Math.max(1, world.clients.size)]
      if (one.kind === 'block' && 'moves' in one) {
        world.produce(one.moves)
        for (let n = 0; n < one.deliver; n++) world.deliver()
      } else if ('at' in one) {
        if (one.kind === 'hole') world.deliver([COINS[one.at]!])
        if (one.kind === 'gap') world.fanout.reset()
        if (one.kind === 'join') world.join(COINS[one.at % 2]!, `account ${one.at % 3}`)
        const client = someone()
        if (one.kind === 'leave' && client) world.leave(client)
        if (one.kind === 'full' && client) client.waitMs = client.waitMs === 0 ? 100 : 0
        world.isAbsent = one.kind === 'absent'
        if (one.kind === 'answer' || one.kind === 'absent') await world.answer(one.at === 0)
        if (one.kind === 'pass') await world.pass(300)
      }
      await settle()
    }
    world.isAbsent = false
    for (const client of world.clients.keys()) client.waitMs = 0
    for (let n = 0; n < 60; n++) {
      world.produce([
        { kind: 3, at: 0, px: n % 9, sz: n },
        { kind: 0, at: n, px: 0, sz: 0 },
      ])
      world.deliver()
      await world.pass(300)
      await world.answer()
    }
    while (world.delivered + 1 < world.past.length) world.deliver()
    for (const client of world.clients.keys()) client.holds(world.delivered)
    expect(world.guests.size).toBe(0)
    expect(world.mostAtOnce).toBeLessThanOrEqual(1)
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60 }), run), { numRuns: 100 })
})

/** A coin with a book, known to the relay. */
async function startedWorld(): Promise<World> {
  const world = new World()
  world.fanout.add(wantedOf('BTC'), new Client(() => null))
  world.produce([])
  world.deliver()
  await settle()
  return world
}

// WS-152
test('a snapshot requested while blocks arrive is followed by the blocks that it lacks; an older snapshot is rejected', async () => {
  const world = await startedWorld()
  const client = world.join('BTC', 'a')
  for (let n = 0; n < 3; n++) {
    world.produce([{ kind: 3, at: 0, px: n, sz: n }])
    world.deliver()
  }
  expect(world.fanout.deliverSnapshot('BTC', client, 0, 'an old one')).toBe(false)
  await world.answer(true)
  expect([client.height, client.frames]).toEqual([4, 4])
})

// WS-154
test('accounts take turns, one snapshot serves all waiters that can receive it, and a blocked client delays nobody', async () => {
  const world = await startedWorld()
  const order: string[] = []
  const full = world.join('BTC', 'full')
  full.waitMs = 1000
  const sockets = ['a', 'a', 'a', 'b', 'c'].map((account) => {
    const client = world.join('BTC', account)
    const send = client.send.bind(client)
    client.send = (text) => {
      order.push(account)
      send(text)
    }
    return client
  })
  await world.answer()
  for (let n = 0; n < 5; n++) await world.pass(10)
  expect(order).toEqual(['a', 'b', 'c', 'a', 'a'])
  expect(sockets.every(({ frames }) => frames === 1)).toBe(true)
  full.waitMs = 0
  await world.pass(300)
  await world.answer()
  expect(full.frames).toBe(1)
})

// WS-152
test('all current clients get the same snapshot', async () => {
  const world = await startedWorld()
  const texts: string[] = []
  const clients = [1, 2].map(() => world.join('BTC', 'a'))
  await world.answer()
  await world.pass(10)
  for (const client of clients) client.send = (text) => void texts.push(text)
  world.produce([{ kind: 3, at: 0, px: 0, sz: 1 }])
  world.deliver()
  expect(texts).toHaveLength(2)
  expect(new Set(texts).size).toBe(1)
  expect(JSON.parse(texts[0]!)).toMatchObject({
    channel: 'l4Book',
    data: {
      Updates: { time: 2, block_height: 2, prev_block_height: 0, epoch: 'e', order_statuses: [{ status: 'open' }] },
    },
  })
})

/** Records which coins are fetched together. */
function lineOf(sizeOf: (coin: string) => number) {
  const fetched: string[][] = []
  let under: string[] = []
  const line = new SnapshotQueue<SnapshotWaiter>({
    clock: { nowMs: 0 },
    wait: () => new Promise((resolve) => setImmediate(resolve)),
    startRecording: () => 0,
    stopRecording: () => undefined,
    fetch: async (coin) => {
      if (under.length === 0) fetched.push(under)
      under.push(coin)
      await new Promise((resolve) => setImmediate(resolve))
      under = []
      return { position: { height: 1, time: 1, epoch: null }, text: 'x'.repeat(sizeOf(coin)) }
    },
    deliver: () => true,
  })
  const receiver = { send: () => undefined, snapshotWaitMs: () => 0 } as unknown as SnapshotWaiter['receiver']
  const enter = (coins: readonly string[]) =>
    Promise.all(coins.map((coin) => line.enter({ account: 'acme', coin, receiver })))
  return { fetched, enter }
}

test('a coin is fetched alone until it is known to be small, then sixteen at a time', async () => {
  const coins = Array.from({ length: 40 }, (_, at) => `C${at}`)
  const { fetched, enter } = lineOf((coin) => (coin === 'C3' ? 300 * 1024 : 10))
  await enter(coins)
  expect(fetched.map(({ length }) => length)).toEqual(coins.map(() => 1))
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve))
  fetched.length = 0
  await enter(coins)
  expect(fetched.map(({ length }) => length).sort((a, b) => a - b)).toEqual([1, 1, 6, 16, 16])
  expect(fetched).toContainEqual(['C3'])
})

/** Requests to an object with these pieces; an older version sends none with the snapshot. */
async function fetched(pieces: readonly string[], isOld = false): Promise<[text: string | undefined, asked: string[]]> {
  const requests: string[] = []
  const place = { height: 7, time: 1, epoch: null }
  const description: Whole = { v: 1, ...place, pieces: pieces.length, chars: 1, ...(!isOld && { first: pieces[0]! }) }
  const api: OrderBookApi = {
    ready: async () => ({ v: 1, ready: true }),
    snapshot: async () => description,
    snapshotPiece: async (_, index) => {
      requests.push(`piece ${index}`)
      return pieces[index] ?? null
    },
  }
  const found = await new OrdersFetcher(() => api).fetch('BTC', 7, (_, __, texts) => [...texts].join(''))
  return [found?.text, requests]
}

test('a book of one piece needs one call, and the first piece of a larger one is not fetched twice', async () => {
  expect(await fetched(['a'])).toEqual(['a', []])
  expect(await fetched(['a', 'b', 'c'])).toEqual(['abc', ['piece 1', 'piece 2']])
  expect(await fetched(['a', 'b'], true)).toEqual(['ab', ['piece 0', 'piece 1']])
})
