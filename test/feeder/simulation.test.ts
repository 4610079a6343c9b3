// A seeded simulation of node, feeder and gateway: connections that break with frames in flight, gateways that lose
// data that was not durable (or their order books), feeders killed and restarted from a new, old or missing checkpoint,
// pruned files. Rule: the log has every height once, in order, with the node's fills. Known order books equal the
// node's at every height, and so do order-level books built from the rows of every block.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { GatewayFrame } from '../../src/protocol/feed/protocol.ts'
import { seededRandom } from '../kit/random.ts'
import { L4Client } from './l4-client.ts'
import { ModelFeeder } from './model-feeder.ts'
import { ModelGateway } from './model-gateway.ts'
import { ModelNode } from './model-node.ts'

const COINS = ['BTC', 'ETH', 'never:seen']

class World {
  readonly random: () => number
  readonly node: ModelNode
  readonly gateway = new ModelGateway()
  readonly truth = new Map<number, string>()
  checkpoints: string[][] = []
  feeder: ModelFeeder
  first = 100
  now = 0
  compared = 0
  #toGateway: string[] = []
  #toFeeder: GatewayFrame[] = []
  #up = false
  readonly clients = new Map(COINS.map((coin) => [coin, new L4Client(coin)]))
  /** Orders of each coin, as `oid sz`, by height. */
  readonly orders = new Map<number, Map<string, string[]>>()
  l4Compared = 0
  /** Connections last long enough for order-level books to be requested. */
  isCalm = false
  /** Entries of the log that the clients have. */
  #told = 0
  #held: { height: number; lines: string[] } | null = null

  constructor(seed: number) {
    this.random = seededRandom(seed)
    this.node = new ModelNode(this.random)
    for (let i = 0; i < 20; i++) this.grow()
    this.feeder = this.#start()
  }

  below(n: number): number {
    return Math.floor(this.random() * n)
  }

  grow(): void {
    const { height } = this.node.step()
    const books = this.node.books()
    this.truth.set(
      height,
      JSON.stringify(
        books
          .coins()
          .sort()
          .map((coin) => [coin, books.levels(coin)]),
      ),
    )
    this.orders.set(height, this.node.ordersOf(COINS))
  }

  step(): void {
    this.now += 50
    const roll = this.random()
    if (this.isCalm && roll >= 0.66 && roll < 0.7 && this.below(8) > 0) this.traffic()
    else if (roll < 0.3) this.grow()
    else if (roll < 0.55) this.feeder.work(1 + this.below(8))
    else if (roll < 0.6) this.feeder.snapshot()
    else if (roll < 0.66) this.send(this.gateway.flush())
    else if (roll < 0.68) this.cut()
    else if (roll < 0.69) this.crashGateway()
    else if (roll < 0.7) this.crashFeeder()
    else if (roll < 0.75) this.save()
    else if (roll < 0.751) this.restoreGateway()
    else if (roll < 0.76) this.send([this.#want(this.below(2) === 0 ? { drop: ['BTC'] } : { add: ['BTC'] })])
    else if (roll < 0.79) this.ask()
    else if (roll < 0.85) this.feeder.l4()
    else if (roll < 0.855) this.first = Math.max(this.first, this.node.head - 30 - this.below(200))
    else this.traffic()
  }

  #want(l4: { add?: string[]; drop?: string[] }, whole = false): GatewayFrame {
    const both = { add: [], drop: [], ...l4 }
    return { type: 'want', ...(whole && { whole }), orders: { add: [], drop: [] }, l4: both }
  }

  /** For order-level books that are unknown. */
  ask(): void {
    const coins = [...this.clients].flatMap(([coin, { orders }]) => (orders ? [] : [coin]))
    this.send([{ type: 'l4Reseed', coins }])
  }

  /** All frames in transit arrive, and a healthy gateway acknowledges. */
  async settle(): Promise<void> {
    this.send([this.#want({ add: COINS }, true)])
    for (let i = 0; i < 400; i++) {
      this.now += 50
      if (i % 50 === 30) this.ask()
      if (i % 50 === 40) this.feeder.l4()
      if (i % 10 === 0 && i < 300) this.grow()
      this.traffic()
      this.feeder.work(20)
      this.feeder.snapshot()
      if (i % 100 === 50) this.verify()
      this.traffic()
      this.send(this.gateway.flush())
      await nextTurn()
    }
  }

  verify(): void {
    this.feeder.verify()
    this.grow()
  }

  traffic(): void {
    if (!this.#up) {
      this.#up = true
      this.gateway.connected()
      this.#toGateway.push(this.feeder.connect(this.now))
    }
    this.#toGateway.push(...this.feeder.session.drain(this.now, 4_000))
    const part = this.feeder.session.takeL4Part(this.now)
    if (part !== null) this.#toGateway.push(part)
    for (let n = this.below(6) + 1; n > 0 && this.#toGateway.length > 0; n--) {
      const text = this.#toGateway.shift()!
      const isHello = text.includes('"hello"')
      if (isHello) this.send([this.#want({ add: COINS }, true)])
      this.send(this.gateway.received(text))
      if (isHello) this.ask()
      this.compare()
      this.tell()
    }
    for (let n = this.below(6) + 1; n > 0 && this.#toFeeder.length > 0; n--)
      this.feeder.received(this.#toFeeder.shift()!, this.now)
  }

  send(frames: GatewayFrame[]): void {
    if (this.#up) this.#toFeeder.push(...frames)
  }

  cut(): void {
    this.#up = false
    this.#toGateway = []
    this.#toFeeder = []
    this.feeder.session.onClose()
    for (const client of this.clients.values()) client.lose()
  }

  crashGateway(): void {
    this.cut()
    this.gateway.crash(this.random() < 0.3)
    this.#told = this.gateway.entries.length
  }

  restoreGateway(): void {
    this.cut()
    this.gateway.restore(this.below(20))
    this.#told = this.gateway.entries.length
  }

  crashFeeder(): void {
    this.cut()
    if (this.random() < 0.1) for (let i = 0; i < 100; i++) this.grow()
    if (this.random() < 0.3) this.checkpoints = this.checkpoints.slice(this.below(2))
    this.#held = null
    this.feeder = this.#start()
  }

  save(): void {
    const { durable } = this.feeder.session
    if (this.#held && durable !== null && durable >= this.#held.height) {
      this.checkpoints = [this.#held.lines, ...this.checkpoints].slice(0, 2)
      this.#held = null
    } else this.#held ??= this.feeder.checkpoint()
  }

  compare(): void {
    const levels = this.gateway.levels()
    const { height, booksKnown } = this.gateway.chain
    if (!levels || !booksKnown || height === null) return
    // A coin with an empty order book is in one list or the other.
    const full = [...levels].filter(([, [bids, asks]]) => bids.length + asks.length > 0)
    const text = JSON.stringify(full.sort(([a], [b]) => (a < b ? -1 : 1)))
    expect(text, `books at ${height}`).toBe(this.truth.get(height))
    this.compared++
  }

  /** Received data reaches the clients, whose order books then equal the node's. */
  tell(): void {
    for (const entry of this.gateway.entries.slice(this.#told))
      for (const [coin, client] of this.clients) {
        if (entry.kind === 'gap') client.lose()
        if (entry.kind !== 'block') continue
        client.block(entry.block)
        this.#hold(coin, client, entry.block.height)
      }
    this.#told = this.gateway.entries.length
    for (const frame of this.gateway.l4.splice(0)) {
      const client = this.clients.get(frame.coin)!
      client.part(frame)
      this.#hold(frame.coin, client, this.gateway.chain.height!)
    }
  }

  #hold(coin: string, { orders }: L4Client, height: number): void {
    if (!orders) return
    const texts = orders.map(({ oid, sz }) => `${oid} ${sz}`).sort()
    expect(texts, `orders of ${coin} at ${height}`).toEqual(this.orders.get(height)!.get(coin))
    this.l4Compared++
  }

  #start(): ModelFeeder {
    return new ModelFeeder(this.node, this.checkpoints, () => this.first)
  }
}

/** Heights of the log with the trades of each. Throws if a height is missing or duplicate. */
function checkLog(world: World): void {
  let last: number | null = null
  for (const entry of world.gateway.entries) {
    if (entry.kind === 'seed') last ??= entry.frame.height
    else if (entry.kind === 'gap') {
      expect(entry.from).toBe(last! + 1)
      expect(entry.to).toBeLessThan(world.first)
      last = entry.to
    } else {
      expect(entry.block.height).toBe(last! + 1)
      last = entry.block.height
      expect(entry.block.fills.map(([, fill]) => fill.tid)).toEqual(world.node.block(last)!.tids)
    }
  }
  expect(last).toBe(world.node.head)
}

/** Digests that gateways could compare with their order books, over all seeds. */
let verified = 0

test.each(Array.from({ length: 12 }, (_, seed) => seed))('seed %i', async (seed) => {
  const world = new World(seed)
  for (let i = 0; i < 2000; i++) {
    world.isCalm = i >= 1000
    world.step()
    await nextTurn()
  }
  const { l4Compared } = world
  await world.settle()
  checkLog(world)
  expect(world.gateway.chain.booksKnown).toBe(true)
  expect(world.gateway.durable).toBe(world.node.head)
  expect(world.feeder.keeper.misfits).toBe(0)
  expect(world.compared).toBeGreaterThan(20)
  expect(l4Compared).toBeGreaterThan(0)
  expect([...world.clients.values()].map(({ orders }) => orders === null)).toEqual([false, false, false])
  verified += world.gateway.verified
})

test('verified digests were compared with the books', () => {
  expect(verified).toBeGreaterThan(0)
})
