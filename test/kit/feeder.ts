// Feeders for tests: one controlled by the test, and one that runs by itself.

import { setTimeout as sleep } from 'node:timers/promises'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { Block, BookChange, Levels } from '../../src/protocol/feed/block.ts'
import { encodeFrame } from '../../src/protocol/feed/parts.ts'
import type { GatewayFrame } from '../../src/protocol/feed/protocol.ts'
import { seedTexts } from '../block-log/seed-texts.ts'
import { FEED_TOKEN } from './gateway.ts'
import { type Frame, Socket } from './socket.ts'

type FeedSocket = Socket<GatewayFrame & Frame>
const EMPTY: Levels = [[], []]
const HELLO = { type: 'hello', protocol: 1, chain: 'hyperliquid', feeder: 'test' }
const A_DAY_MS = 86_400_000

const connectFeed = (ws: string, token = FEED_TOKEN): Promise<FeedSocket> =>
  Socket.open(`${ws}/feed`, { authorization: `Bearer ${token}` })

/** A feeder controlled by the test. It remembers the books it sent and responds to reseeds with them. */
export class Feeder {
  readonly socket: FeedSocket
  readonly #books = new Map<string, LevelBook>()
  #sent = { height: 0, time: 0 }

  private constructor(socket: FeedSocket) {
    this.socket = socket
    socket.onFrame = (frame) => {
      if (frame.type !== 'reseed') return
      const books = (frame.coins ?? [...this.#books.keys()]).map((coin) => ({
        coin,
        levels: this.#books.get(coin)?.levels() ?? EMPTY,
      }))
      this.snapshot(this.#sent.height, this.#sent.time, books, 'coins')
    }
  }

  #keep(height: number, time: number, books: readonly Omit<BookChange, 'new'>[] | null): void {
    this.#sent = { height, time }
    for (const { coin, levels } of books ?? []) {
      const book = this.#books.get(coin) ?? new LevelBook()
      book.apply(levels)
      this.#books.set(coin, book)
    }
  }

  static async connect(ws: string, token = FEED_TOKEN): Promise<Feeder> {
    return new Feeder(await connectFeed(ws, token))
  }

  async hello(first: number | null = null, head: number | null = null): Promise<GatewayFrame> {
    this.socket.send({ ...HELLO, first, head })
    return this.socket.next(({ type }) => type === 'welcome' || type === 'conflict')
  }

  snapshot(height: number, time: number, books: Omit<BookChange, 'new'>[], scope: 'all' | 'coins' = 'all'): void {
    if (scope === 'all') this.#keep(height, time, books)
    for (const text of seedTexts({ scope, height, time }, books)) this.socket.send(text)
  }

  block(block: Partial<Block> & Pick<Block, 'height' | 'books'>): void {
    const frame = { type: 'block' as const, time: block.height * 70, fills: [], ledger: [], funding: [], ...block }
    this.#keep(frame.height, frame.time, frame.books)
    for (const text of encodeFrame(frame)) this.socket.send(text)
  }

  /** Waits until `height` is durable. */
  async acked(height: number): Promise<void> {
    await this.socket.next((frame) => frame.type === 'ack' && frame.height >= height)
  }
}

/** Sends blocks up to a head, starting at the log's position, over as many connections as needed. */
export class RunningFeeder {
  readonly #ws: string
  readonly #first: number
  readonly #blockOf: (height: number) => Block
  readonly #coins: readonly string[]
  #head: number
  #acked = -1
  #socket: FeedSocket | null = null
  #isOver = false

  constructor(ws: string, first: number, blockOf: (height: number) => Block, coins: readonly string[] = ['BTC']) {
    this.#ws = ws
    this.#first = first
    this.#head = first
    this.#blockOf = blockOf
    this.#coins = coins
    void this.#run()
  }

  get acked(): number {
    return this.#acked
  }

  /** Makes blocks up to this height available. */
  advance(head: number): void {
    const from = this.#head + 1
    this.#head = head
    this.#send(from)
  }

  end(): void {
    this.#isOver = true
    this.#socket?.drop()
  }

  async #run(): Promise<void> {
    for (; !this.#isOver; await sleep(200)) {
      const socket = await connectFeed(this.#ws).catch(() => null)
      if (!socket) continue
      socket.onFrame = (frame) => this.#handle(socket, frame)
      socket.send({ ...HELLO, first: this.#first, head: this.#head })
      await socket.ended(A_DAY_MS)
      this.#socket = null
    }
  }

  #handle(socket: FeedSocket, frame: GatewayFrame): void {
    if (frame.type === 'ack') this.#acked = Math.max(this.#acked, frame.height)
    if (frame.type === 'reseed') this.#seed(socket, this.#head)
    if (frame.type === 'error' || frame.type === 'conflict') throw new Error(JSON.stringify(frame))
    if (frame.type === 'resend') this.#send(frame.from)
    if (frame.type !== 'welcome') return
    const last = frame.height ?? this.#first
    if (frame.epoch === null) this.#seed(socket, last)
    this.#socket = socket
    this.#send(last + 1)
  }

  #seed(socket: FeedSocket, height: number): void {
    const levels = [[{ px: '1', sz: '1', n: 1 }], []]
    const { time } = this.#blockOf(height)
    socket.send({ type: 'snapshot', scope: 'all', height, time, books: this.#coins.map((coin) => ({ coin, levels })) })
  }

  #send(from: number): void {
    if (this.#socket?.closed !== null) return
    for (let height = from; height <= this.#head; height++)
      this.#socket.send({ type: 'block', ...this.#blockOf(height) })
  }
}
