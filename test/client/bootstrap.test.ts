import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BatchHead, CoinBook, type CoinChange, type Snapshot } from '../../src/client/bootstrap.ts'
import { bookChecksum } from '../../src/order-books/checksum.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'

const level = (px: number, n: number) => ({ px: `${px}.0`, sz: n === 0 ? '0' : `${n}.5`, n })

// The simulated server: one of several coins, blocks with or without it, epochs, and heights that restart.
interface Batch {
  readonly head: BatchHead
  readonly change: CoinChange | null
}
class Server {
  epoch = 0
  height = 10
  seq = 10
  book = new LevelBook()
  readonly stream: Batch[] = []
  /** Books by epoch and seq: what a client claiming them must have. */
  readonly history = new Map<string, Levels>()

  constructor() {
    this.#note()
  }
  name() {
    return `e${this.epoch}`
  }
  block(levels: Levels | null) {
    const prevSeq = this.seq
    this.height++
    if (levels) {
      this.book.apply(levels)
      this.seq = this.height
    }
    this.#note()
    const change = levels && { seq: this.seq, prevSeq, levels, checksum: bookChecksum(this.book) }
    this.stream.push({ head: { epoch: this.name(), height: this.height, time: this.height }, change })
  }
  reseed(levels: Levels, height: number) {
    this.epoch++
    this.height = this.seq = height
    this.book = new LevelBook()
    this.book.apply(levels)
    this.#note()
  }
  snapshot(): Snapshot {
    const { height, seq } = this
    return { coin: 'X', epoch: this.name(), height, time: height, seq, levels: this.book.levels() }
  }
  #note() {
    this.history.set(`${this.name()} ${this.seq}`, this.book.levels())
  }
}

const side = fc.array(
  fc.record({ px: fc.integer({ min: 1, max: 6 }), n: fc.integer({ min: 0, max: 3 }) }).map(({ px, n }) => level(px, n)),
  { maxLength: 3 },
)
const levels = fc.tuple(side, side).map((sides) => sides as Levels)
const step = fc.oneof(
  { weight: 6, arbitrary: levels.map((changed) => ({ do: 'block' as const, changed })) },
  { weight: 2, arbitrary: fc.constant({ do: 'other' as const }) },
  { weight: 6, arbitrary: fc.constant({ do: 'deliver' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'lose' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'break' as const }) },
  { weight: 1, arbitrary: side.map((other) => ({ do: 'alter' as const, other })) },
  { weight: 5, arbitrary: fc.constant({ do: 'ask' as const }) },
  { weight: 5, arbitrary: fc.constant({ do: 'take' as const }) },
  { weight: 5, arbitrary: fc.constant({ do: 'answer' as const }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(levels, fc.integer({ min: -8, max: 8 }))
      .map(([seed, by]) => ({ do: 'epoch' as const, seed, by })),
  },
)

/** A client that requests a snapshot whenever it has no book. The response arrives some time later. */
class Client {
  readonly book = new CoinBook('X')
  asked = false
  taken: Snapshot | null = null
  /** The socket breaks: data in flight is lost, and a pending response belongs to the old connection. */
  break(server: Server) {
    server.stream.length = 0
    this.book.lost('close 1006')
    this.asked = false
    this.taken = null
  }
  ask() {
    if (this.asked || this.book.live) return
    this.asked = true
    this.book.fetchStarted()
  }
  take(server: Server) {
    if (this.asked) this.taken ??= server.snapshot()
  }
  answer() {
    if (!this.taken) return
    this.book.snapshot(this.taken)
    this.taken = null
    this.asked = false
  }
}

test("keeps a live book equal to the server's at its epoch and seq, and always ends in step", () => {
  let live = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), (steps) => {
      const server = new Server()
      const client = new Client()
      for (const action of steps) {
        if (action.do === 'block') server.block(action.changed)
        else if (action.do === 'other') server.block(null)
        else if (action.do === 'epoch') server.reseed(action.seed, Math.max(1, server.height + action.by))
        else if (action.do === 'ask') client.ask()
        else if (action.do === 'take') client.take(server)
        else if (action.do === 'answer') client.answer()
        else if (action.do === 'break') client.break(server)
        else {
          const batch = server.stream.shift()
          const change = batch?.change ?? null
          if (batch && action.do === 'deliver') client.book.batch(batch.head, change)
          if (batch && action.do === 'alter')
            client.book.batch(batch.head, change && { ...change, levels: [action.other, []] })
        }
        expectInStep(client.book, server)
        if (client.book.live) live++
      }
      finish(server, client)
      expect(client.book.live).toBe(true)
      expect([client.book.epoch, client.book.seq]).toEqual([server.name(), server.seq])
      expectInStep(client.book, server)
    }),
    { numRuns: 500 },
  )
  expect(live).toBeGreaterThan(3_000)
})

function expectInStep(book: CoinBook, server: Server) {
  const own = book.live ? book.levels() : null
  expect(own).toEqual(book.live ? server.history.get(`${book.epoch} ${book.seq}`) : null)
}

/** Makes one more change, delivers everything, and runs as many fetches as the client wants. */
function finish(server: Server, client: Client) {
  server.block([[level(3, 2)], [level(5, 1)]])
  for (const batch of server.stream.splice(0)) client.book.batch(batch.head, batch.change)
  client.take(server)
  client.answer()
  for (let i = 0; i < 3 && !client.book.live; i++) {
    client.ask()
    client.take(server)
    client.answer()
  }
}
