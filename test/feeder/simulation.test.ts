// A seeded life of node, feeder and gateway: connections that break with frames in flight, gateways that lose what
// was not durable (or their books), feeders killed and started from a checkpoint, old or none, pruned files.
// Law: the log has every height once, in order, with the node's fills; known books are the node's, at every height.

import { expect, test } from 'vitest'
import type { GatewayFrame } from '../../src/feed/protocol.ts'
import { ModelFeeder } from './model-feeder.ts'
import { ModelGateway } from './model-gateway.ts'
import { ModelNode, seededRandom } from './model-node.ts'

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
  }

  step(): void {
    this.now += 50
    const roll = this.random()
    if (roll < 0.3) this.grow()
    else if (roll < 0.55) this.feeder.work(1 + this.below(8))
    else if (roll < 0.6) this.feeder.snapshot()
    else if (roll < 0.66) this.send(this.gateway.flush())
    else if (roll < 0.68) this.cut()
    else if (roll < 0.69) this.crashGateway()
    else if (roll < 0.7) this.crashFeeder()
    else if (roll < 0.75) this.save()
    else if (roll < 0.751) this.restoreGateway()
    else if (roll < 0.755) this.first = Math.max(this.first, this.node.head - 30 - this.below(200))
    else this.traffic()
  }

  /** Everything that is under way arrives, and a well gateway acknowledges. */
  settle(): void {
    for (let i = 0; i < 400; i++) {
      this.now += 50
      this.traffic()
      this.feeder.work(20)
      this.feeder.snapshot()
      if (i % 100 === 50) this.verify()
      this.traffic()
      this.send(this.gateway.flush())
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
    for (let n = this.below(6) + 1; n > 0 && this.#toGateway.length > 0; n--) {
      this.send(this.gateway.received(this.#toGateway.shift()!))
      this.compare()
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
    this.feeder.session.closed()
  }

  crashGateway(): void {
    this.cut()
    this.gateway.crash(this.random() < 0.3)
  }

  restoreGateway(): void {
    this.cut()
    this.gateway.restore(this.below(20))
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
    // A coin whose book is empty is in one list or the other.
    const full = [...levels].filter(([, [bids, asks]]) => bids.length + asks.length > 0)
    const text = JSON.stringify(full.sort(([a], [b]) => (a < b ? -1 : 1)))
    expect(text, `books at ${height}`).toBe(this.truth.get(height))
    this.compared++
  }

  #start(): ModelFeeder {
    return new ModelFeeder(this.node, this.checkpoints, () => this.first)
  }
}

/** Heights of the log with the trades of each; throws where a height is missing or twice. */
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

/** Digests that gateways could compare with their books, over all seeds. */
let verified = 0

test.each(Array.from({ length: 12 }, (_, seed) => seed))('seed %i', (seed) => {
  const world = new World(seed)
  for (let i = 0; i < 1500; i++) world.step()
  world.settle()
  checkLog(world)
  expect(world.gateway.chain.booksKnown).toBe(true)
  expect(world.gateway.durable).toBe(world.node.head)
  expect(world.feeder.keeper.misfits).toBe(0)
  expect(world.compared).toBeGreaterThan(20)
  verified += world.gateway.verified
})

test('what the feeders verified was held against the books', () => {
  expect(verified).toBeGreaterThan(0)
})
