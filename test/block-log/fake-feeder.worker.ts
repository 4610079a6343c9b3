// A feeder for tests in workerd: connects to the BlockLog with the feed protocol, keeps the order books that it sent,
// and answers a reseed from them.

import { env } from 'cloudflare:workers'
import { shardOf } from '../../src/core/coin.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { Block, BookChange, Levels } from '../../src/protocol/feed/block.ts'
import { GatewayFrame, type WantFrame } from '../../src/protocol/feed/protocol.ts'

export const log = () => env.BLOCK_LOG.getByName(env.CHAIN)
export const hub = (coin: string) => env.BOOK_HUB.getByName(`${env.CHAIN}/${shardOf(coin, Number(env.BOOK_HUBS))}`)
/** Conditions become true within milliseconds, or within seconds on a busy machine. */
export const WAIT = { timeout: 10_000, interval: 20 }

export const levelsOf = (...bids: [px: string, sz: string, n: number][]): Levels => [
  bids.map(([px, sz, n]) => ({ px, sz, n })),
  [],
]

const blockOf = (height: number, books: BookChange[] | null, more: Partial<Block> = {}): Block => {
  return { height, time: height * 70, fills: [], ledger: [], funding: [], books, ...more }
}

export class FakeFeeder {
  /** Code of the close, once received. */
  readonly closed: Promise<number>
  readonly #socket: WebSocket
  readonly #frames: GatewayFrame[] = []
  readonly #books = new Map<string, LevelBook>()
  /** Types of all received frames. */
  readonly heard: GatewayFrame['type'][] = []
  /** Wallets whose order statuses are subscribed. */
  readonly wanted = new Set<string>()
  /** Extra parts that are wanted. */
  extras: readonly string[] = []
  /** Coins whose rows are all subscribed. */
  readonly coins = new Set<string>()
  #sent = 0
  #wake: (() => void) | null = null

  private constructor(socket: WebSocket) {
    this.#socket = socket
    this.closed = new Promise((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)))
    socket.accept()
    socket.addEventListener('message', ({ data }) => {
      const frame = GatewayFrame.parse(JSON.parse(data as string))
      if (frame.type === 'reseed') this.#repair(frame.coins)
      if (frame.type === 'want') this.#want(frame)
      this.heard.push(frame.type)
      this.#frames.push(frame)
      this.#wake?.()
    })
  }

  static async connect(): Promise<FakeFeeder> {
    const log = env.BLOCK_LOG.getByName(env.CHAIN)
    const { webSocket } = await log.fetch('http://log/feed', { headers: { upgrade: 'websocket' } })
    return new FakeFeeder(webSocket!)
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  hello(first: number | null, head: number | null, feeder = 'test'): void {
    this.send({ type: 'hello', protocol: 1, chain: env.CHAIN, feeder, first, head })
  }

  #want({ whole, orders, l4, extras }: WantFrame): void {
    this.extras = extras ?? this.extras
    if (whole) {
      this.wanted.clear()
      this.coins.clear()
    }
    for (const gone of l4?.drop ?? []) this.coins.delete(gone)
    for (const come of l4?.add ?? []) this.coins.add(come)
    for (const gone of orders.drop) this.wanted.delete(gone)
    for (const come of orders.add) this.wanted.add(come)
  }

  #repair(wanted: readonly string[] | null): void {
    const scope = wanted ? 'coins' : 'all'
    const books = (wanted ?? [...this.#books.keys()]).map((coin) => ({
      coin,
      levels: this.#books.get(coin)?.levels() ?? levelsOf(),
    }))
    this.send({ type: 'snapshot', scope, height: this.#sent, time: this.#sent * 70, books })
  }

  /** Takes over the order books of an earlier feeder. */
  continue(other: FakeFeeder): void {
    for (const [coin, book] of other.#books) this.#books.set(coin, book)
    this.#sent = other.#sent
  }

  #keep(height: number, books: readonly Omit<BookChange, 'new'>[] | null): void {
    this.#sent = height
    for (const { coin, levels } of books ?? []) {
      const book = this.#books.get(coin) ?? new LevelBook()
      book.apply(levels)
      this.#books.set(coin, book)
    }
  }

  snapshot(height: number, books: Omit<BookChange, 'new'>[], scope: 'all' | 'coins' = 'all'): void {
    this.#keep(height, books)
    this.send({ type: 'snapshot', scope, height, time: height * 70, books })
  }

  block(height: number, books: BookChange[] | null, more: Partial<Block> = {}): void {
    this.#keep(height, books)
    this.send({ type: 'block', ...blockOf(height, books, more) })
  }

  /** Reports that its order books of these coins match its node's. */
  verified(coins: readonly string[]): void {
    const books = coins.map((coin) => ({ coin, digest: this.#books.get(coin)?.digest ?? 0 }))
    this.send({ type: 'verified', height: this.#sent, books })
  }

  /** Sends a block that contradicts its order books. */
  lie(height: number, books: BookChange[]): void {
    this.send({ type: 'block', ...blockOf(height, books) })
  }

  /** The next frame of a type. Earlier frames are dropped. */
  async next<T extends GatewayFrame['type']>(type: T): Promise<Extract<GatewayFrame, { type: T }>> {
    for (;;) {
      const frame = this.#frames.shift()
      if (frame?.type === type) return frame as Extract<GatewayFrame, { type: T }>
      if (!frame) await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Waits until the log has made `height` durable. */
  async acked(height: number): Promise<void> {
    while ((await this.next('ack')).height < height);
  }

  close(): void {
    this.#socket.close(1000)
  }
}
