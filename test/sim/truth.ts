// The ground truth: the book of every coin at every height, computed from the node's own lines, and every fill, trade
// and ledger update in order. It shares no code with the product.

import type { Level, Levels } from '../../src/protocol/feed/block.ts'
import type { ModelNode, NodeBlock } from '../feeder/model-node.ts'
import type { Schedule } from './schedule.ts'

export const USERS = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}`)
const HASH = `0x${'0'.repeat(64)}`

interface Order {
  readonly coin: string
  readonly isBid: boolean
  readonly px: string
  readonly sz: string
}
interface Diff {
  readonly oid: number
  readonly coin: string
  readonly side: string
  readonly px: string
  readonly raw_book_diff:
    | 'remove'
    | { readonly new?: { readonly sz: string }; readonly update?: { readonly newSz: string } }
}
interface Line {
  readonly events: readonly unknown[]
}

/** Names of events in the order in which they happened, each with its height. */
export class Sequence {
  readonly heights: number[] = []
  readonly #places = new Map<string, number>()

  add(name: string, height: number): void {
    this.#places.set(name, this.heights.length)
    this.heights.push(height)
  }

  get length(): number {
    return this.heights.length
  }

  placeOf(name: string): number | undefined {
    return this.#places.get(name)
  }
}

export class Truth {
  readonly #schedule: Schedule
  readonly #orders = new Map<string, Map<number, Order>>()
  /** Of each coin: from each height at which it changed, its book. */
  readonly #books = new Map<string, { readonly height: number; readonly text: string }[]>()
  readonly #sequences = new Map<string, Sequence>()
  /** Of each coin, oldest first. */
  readonly #trades = new Map<string, object[]>()
  /** Of each block, by its time in Unix ms. */
  readonly #heights = new Map<number, number>()
  #tid = 1
  #oid = 1

  constructor(schedule: Schedule) {
    this.#schedule = schedule
  }

  get coins(): string[] {
    return [...this.#books.keys()]
  }

  /** Writes the next block: that of the model, with fills and ledger updates of several users and coins. */
  grow(node: ModelNode, intervalMs: number): number {
    const block = node.step(intervalMs)
    const { height } = block
    this.#heights.set(timeOf(block), height)
    this.#changeBooks(height, eventsOf(block, 'diffs') as Diff[])
    this.#putFills(block)
    this.#putLedger(block)
    this.#putStatuses(block)
    return height
  }

  /** Of a coin after the block of this height, `''` where there is none. */
  bookAt(coin: string, height: number): string {
    return this.#books.get(coin)?.findLast((one) => one.height <= height)?.text ?? ''
  }

  timeOf(height: number): number {
    return [...this.#heights].find(([, at]) => at === height)![0]
  }

  /** Best bid and ask of a coin after the block of this time, each `''` where there is none. */
  topAt(coin: string, timeMs: number): readonly [bid: string, ask: string] {
    const [bids = '', asks = ''] = this.bookAt(coin, this.#heights.get(timeMs) ?? -1).split('|')
    return [bids.split(' ')[0]!, asks.split(' ')[0]!]
  }

  /** Names of events of one kind and, where it has them, of one wallet or coin. */
  sequence(kind: 'fills' | 'ledger' | 'trades' | 'orders', of = '*'): Sequence {
    const key = `${kind} ${of}`
    let sequence = this.#sequences.get(key)
    if (!sequence) {
      sequence = new Sequence()
      this.#sequences.set(key, sequence)
    }
    return sequence
  }

  /** The last trades of a coin, newest first, as the gateway answers. */
  recentTrades(coin: string, rows: number): object[] {
    return (this.#trades.get(coin) ?? []).slice(-rows).toReversed()
  }

  #changeBooks(height: number, diffs: readonly Diff[]): void {
    const changed = new Set<string>()
    for (const { oid, coin, side, px, raw_book_diff: change } of diffs) {
      const orders = this.#orders.get(coin) ?? new Map<number, Order>()
      this.#orders.set(coin, orders)
      changed.add(coin)
      if (change === 'remove') orders.delete(oid)
      else orders.set(oid, { coin, isBid: side === 'B', px, sz: change.new?.sz ?? change.update!.newSz })
    }
    for (const coin of changed) {
      const books = this.#books.get(coin) ?? []
      this.#books.set(coin, books)
      books.push({ height, text: summed(this.#orders.get(coin)!.values()) })
    }
  }

  /** Each trade is two fills; some wallets trade with themselves. */
  #putFills(block: NodeBlock): void {
    const { height } = block
    const coins = this.coins
    const fills: unknown[] = []
    for (let trades = coins.length > 0 ? this.#schedule.below(3) : 0; trades > 0; trades--) {
      const coin = this.#schedule.pick(coins)!
      const tid = this.#tid++
      const px = `${this.#schedule.between(90, 110)}.5`
      const users = ['B', 'A'].map(() => this.#schedule.pick(USERS)!) as [string, string]
      const time = timeOf(block)
      const crossed = this.#schedule.chance(0.5)
      const side = 'B'
      for (const [at, user] of users.entries()) {
        const isBuyer = at === 0
        fills.push([user, fillOf({ coin, px, tid, time, side: isBuyer ? 'B' : 'A', crossed: isBuyer === crossed })])
        const name = `${tid} ${isBuyer ? 'B' : 'A'}`
        for (const whose of ['*', user]) this.sequence('fills', whose).add(name, height)
      }
      this.sequence('trades', coin).add(String(tid), height)
      const list = this.#trades.get(coin) ?? []
      this.#trades.set(coin, list)
      list.push({ coin, side: crossed ? side : 'A', px, sz: '0.5', time, hash: HASH, tid, users })
    }
    block.lines.set('fills', lineOf(block, fills))
  }

  #putLedger(block: NodeBlock): void {
    block.lines.delete('misc')
    if (!this.#schedule.chance(0.3)) return
    const users = USERS.filter(() => this.#schedule.chance(0.5))
    const delta = { type: 'deposit', usdc: `${block.height}.0` }
    for (const user of users) this.sequence('ledger', user).add(delta.usdc, block.height)
    const { time } = block
    block.lines.set('misc', lineOf(block, [{ time, hash: HASH, inner: { LedgerUpdate: { users, delta } } }]))
  }

  #putStatuses(block: NodeBlock): void {
    const { time, height } = block
    const statuses = Array.from({ length: this.#schedule.below(4) }, () => {
      const user = this.#schedule.pick(USERS)!
      const oid = this.#oid++
      this.sequence('orders', user).add(String(oid), height)
      return { time, user, hash: null, builder: null, status: 'open', order: orderOf(oid, timeOf(block)) }
    })
    const { events } = JSON.parse(block.statuses) as Line
    block.statuses = lineOf(block, [...events, ...statuses])
  }
}

/** A book as the product has it, in the words of the truth. */
export function textOf([bids, asks]: Levels): string {
  const side = (levels: Levels[0]) => levels.map(levelText).join(' ')
  return bids.length + asks.length === 0 ? '' : `${side(bids)}|${side(asks)}`
}

/** A level in the same words, `''` for none. */
export function levelText(level: Level | null): string {
  return level ? `${level.px}:${unitsOf(level.sz)}:${level.n}` : ''
}

/** Sizes of the model have five decimals at most. */
const unitsOf = (sz: string): number => Math.round(Number(sz) * 100_000)

function summed(orders: Iterable<Order>): string {
  const sides = [new Map<string, [units: number, n: number]>(), new Map<string, [number, number]>()] as const
  for (const { isBid, px, sz } of orders) {
    const units = unitsOf(sz)
    if (units === 0) continue
    const side = sides[isBid ? 0 : 1]
    const [sum, n] = side.get(px) ?? [0, 0]
    side.set(px, [sum + units, n + 1])
  }
  const [bids, asks] = sides.map((side, at) =>
    [...side]
      .sort(([a], [b]) => (Number(a) - Number(b)) * (at === 0 ? -1 : 1))
      .map(([px, [units, n]]) => `${px}:${units}:${n}`)
      .join(' '),
  )
  return bids === '' && asks === '' ? '' : `${bids}|${asks}`
}

function eventsOf({ lines }: NodeBlock, stream: 'diffs'): readonly unknown[] {
  return (JSON.parse(lines.get(stream)!) as Line).events
}

function lineOf({ height, time }: NodeBlock, events: readonly unknown[]): string {
  return JSON.stringify({ local_time: time, block_time: time, block_number: height, events })
}

const timeOf = ({ time }: Pick<NodeBlock, 'time'>): number => Date.parse(`${time.slice(0, 23)}Z`)

function orderOf(oid: number, timestamp: number): object {
  return { coin: 'BTC', side: 'B', limitPx: '90.5', sz: '0.5', oid, timestamp, origSz: '0.5', cloid: null }
}

function fillOf(own: object): object {
  return {
    sz: '0.5',
    startPosition: '0.0',
    dir: 'Open Long',
    closedPnl: '0.0',
    hash: HASH,
    oid: 1,
    fee: '0.01',
    feeToken: 'USDC',
    twapId: null,
    ...own,
  }
}
