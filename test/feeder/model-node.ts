// A node for tests: random resting orders of a few coins, the lines it would write for every height, and the correct
// order books after each. Deterministic for a random source.

import type { SavedOrder } from '../../src/feeder/coin-orders.ts'
import { OrderBooks } from '../../src/feeder/order-books.ts'
import type { StreamName } from '../../src/feeder/streams.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import { fillWith } from '../kit/fills.ts'
import { EXAMPLE_ORDER } from '../kit/node-order.ts'

const ADDRESS = `0x${'ab'.repeat(20)}`
const HASH = `0x${'0'.repeat(64)}`
const BASE_MS = Date.parse('2026-05-05T17:00:00Z')

interface ModelOrder extends SavedOrder {
  readonly coin: string
}

/** The order as the node writes it. */
const nodeOrder = ({ coin, side, px, sz, oid }: ModelOrder) => {
  const own = { coin, side, limitPx: px, sz, oid, timestamp: BASE_MS + oid, origSz: sz, tif: 'Gtc' }
  return { ...EXAMPLE_ORDER, ...own }
}

export interface NodeBlock {
  readonly height: number
  readonly time: string
  readonly lines: Map<StreamName, string>
  /** The line of order statuses. A node can run without it. */
  statuses: string
  readonly tids: readonly number[]
}

export class ModelNode {
  readonly blocks: NodeBlock[] = []
  readonly #random: () => number
  readonly #orders = new Map<number, ModelOrder>()
  readonly #first: number
  readonly #coins = ['BTC', 'ETH', 'xyz:GOLD', '@107']
  readonly #startMs: number
  #oid = 1000
  #tid = 1

  /** `startMs` moves all block times, as on a node that restarted. */
  constructor(random: () => number, first = 100, startMs = 0) {
    this.#random = random
    this.#first = first
    this.#startMs = BASE_MS + startMs
  }

  get head(): number {
    return this.#first + this.blocks.length - 1
  }

  block(height: number): NodeBlock | undefined {
    return this.blocks[height - this.#first]
  }

  /** Produces the next block, `intervalMs` after the previous one. */
  step(intervalMs = 70): NodeBlock {
    const height = this.head + 1
    const events: unknown[] = []
    const statuses: unknown[] = []
    for (let i = this.#below(9); i > 0; i--) this.#change(events, statuses)
    const tids: number[] = []
    const fills: unknown[] = []
    for (let i = this.#below(3); i > 0; i--) {
      tids.push(this.#tid)
      fills.push([ADDRESS, this.#fill(height)])
    }
    const ms = this.#startMs + (height - this.#first) * intervalMs
    const time = `${new Date(ms).toISOString().slice(0, 23)}123456`
    const misc = this.#below(5) === 0 ? [ledgerEvent(time, height)] : []
    const line = (list: unknown[]) =>
      JSON.stringify({ local_time: time, block_time: time, block_number: height, events: list })
    const lines = new Map<StreamName, string>([
      ['diffs', line(events)],
      ['fills', line(fills)],
    ])
    // An optional stream has a line only for a block with an event.
    if (misc.length > 0) lines.set('misc', line(misc))
    const rows = statuses.map((row) => ({ time, user: ADDRESS, hash: HASH, builder: null, ...(row as object) }))
    const block = { height, time, lines, statuses: line(rows), tids }
    this.blocks.push(block)
    return block
  }

  /** The order books as of the head. */
  books(): OrderBooks {
    const books = new OrderBooks()
    for (const coin of new Set([...this.#orders.values()].map((order) => order.coin)))
      books.load({ coin, known: true, orders: [...this.#orders.values()].filter((order) => order.coin === coin) })
    return books
  }

  /** The snapshot file as the node writes it, with its height. */
  snapshotText(): string {
    const coins = [...new Set([...this.#orders.values()].map((order) => order.coin))]
    const side = (coin: string, wanted: string) =>
      [...this.#orders.values()]
        .filter((order) => order.coin === coin && order.side === wanted)
        .sort((a, b) => (Number(a.px) - Number(b.px)) * (wanted === 'B' ? -1 : 1) || a.oid - b.oid)
        .map((order) => [ADDRESS, nodeOrder(order)])
    return JSON.stringify([this.head, coins.map((coin) => [coin, [side(coin, 'B'), side(coin, 'A')]])])
  }

  /** Resting orders of coins as `oid sz`, sorted. */
  ordersOf(coins: readonly string[]): Map<string, string[]> {
    const all = [...this.#orders.values()]
    const of = (coin: string) => all.filter((order) => order.coin === coin).map(({ oid, sz }) => `${oid} ${sz}`)
    return new Map(coins.map((coin) => [coin, of(coin).sort()]))
  }

  levels(coin: string): Levels {
    return this.books().levels(coin)
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n)
  }

  #size(): string {
    return `${this.#below(3)}.${1 + this.#below(99999)}`
  }

  #change(events: unknown[], statuses: unknown[]): void {
    const roll = this.#random()
    const resting = [...this.#orders.values()]
    const order = resting[this.#below(resting.length)]
    if (!order || roll < 0.5) {
      if (this.#random() < 0.01) this.#coins.push(`new:${this.#coins.length}`)
      const coin = this.#coins[this.#below(this.#coins.length)]!
      const side = this.#random() < 0.5 ? 'B' : 'A'
      const px = side === 'B' ? `${90 + this.#below(10)}.5` : `${101 + this.#below(10)}.0`
      const added = { oid: this.#oid++, coin, side, px, sz: this.#size() } as const
      this.#orders.set(added.oid, added)
      events.push(this.#diff(added, { new: { sz: added.sz } }))
      statuses.push(
        { status: 'badAloPxRejected', order: nodeOrder({ ...added, oid: -added.oid }) },
        { status: 'open', order: nodeOrder(added) },
      )
    } else if (roll < 0.7) {
      const sz = this.#size()
      this.#orders.set(order.oid, { ...order, sz })
      events.push(this.#diff(order, { update: { origSz: order.sz, newSz: sz } }))
    } else {
      this.#orders.delete(order.oid)
      // A filled maker may be reduced to zero first.
      if (roll < 0.8) events.push(this.#diff(order, { update: { origSz: order.sz, newSz: '0.0' } }))
      events.push(this.#diff(order, 'remove'))
      statuses.push({ status: 'canceled', order: nodeOrder(order) })
    }
  }

  #diff({ oid, coin, side, px }: ModelOrder, change: unknown): unknown {
    return { user: ADDRESS, oid, coin, side, px, raw_book_diff: change }
  }

  #fill(height: number): unknown {
    const own = { px: '100.0', sz: '0.5', time: BASE_MS + height, hash: HASH, fee: '0.01', tid: this.#tid++ }
    return fillWith({ ...own, twapId: null })
  }
}

function ledgerEvent(time: string, height: number): unknown {
  return {
    time,
    hash: HASH,
    inner: { LedgerUpdate: { users: [ADDRESS], delta: { type: 'deposit', usdc: `${height}.0` } } },
  }
}
