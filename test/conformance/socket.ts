// Real sockets for black-box tests: a client of /ws and a feeder on /feed, both over the `ws` package.

import { WebSocket } from 'ws'
import { LevelBook } from '../../src/book/level-book.ts'
import type { Block, BookChange, Levels } from '../../src/feed/block.ts'
import { encodeFrame } from '../../src/feed/parts.ts'
import type { GatewayFrame } from '../../src/feed/protocol.ts'
import { seedTexts } from '../feed/seed-texts.ts'
import { FEED_TOKEN } from './world.ts'

type Frame = Record<string, unknown>
const EMPTY: Levels = [[], []]

/** Frames of a socket as they come; `next` waits for the first that a test of it accepts. */
export class Socket<F extends Frame = Frame> {
  readonly frames: F[] = []
  closed: { code: number; reason: string } | null = null
  /** Told of every frame at once, beside `next`. */
  onFrame: ((frame: F) => void) | null = null
  readonly #socket: WebSocket
  #at = 0
  #wake: (() => void) | null = null

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString()) as F
      this.frames.push(frame)
      this.onFrame?.(frame)
      this.#wake?.()
    })
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
      this.#wake?.()
    })
    socket.on('error', () => undefined)
  }

  /** Resolves when open; rejects with the HTTP status where the upgrade is refused. */
  static open<F extends Frame = Frame>(url: string, headers: Record<string, string> = {}): Promise<Socket<F>> {
    const socket = new WebSocket(url, { headers })
    const wrapped = new Socket<F>(socket)
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(wrapped))
      socket.once('unexpected-response', (_, response) => {
        let body = ''
        response.on('data', (chunk) => (body += chunk))
        response.on('end', () =>
          reject(Object.assign(new Error(`${response.statusCode}`), { status: response.statusCode, body })),
        )
      })
      socket.once('error', reject)
    })
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  /** The next unread frame that `accepts`; frames before it count as read. */
  async next(accepts: (frame: F) => boolean, timeoutMs = 10_000): Promise<F> {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      while (this.#at < this.frames.length) {
        const frame = this.frames[this.#at++]!
        if (accepts(frame)) return frame
      }
      if (this.closed) throw new Error(`closed: ${this.closed.code} ${this.closed.reason}`)
      const left = deadline - Date.now()
      if (left <= 0) throw new Error(`no such frame; last: ${JSON.stringify(this.frames.at(-1))?.slice(0, 300)}`)
      await this.#change(left)
    }
  }

  /** Resolves with the close code. */
  async ended(timeoutMs = 10_000): Promise<number> {
    const deadline = Date.now() + timeoutMs
    while (!this.closed) {
      if (Date.now() >= deadline) throw new Error('still open')
      await this.#change(deadline - Date.now())
    }
    return this.closed.code
  }

  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  channel(name: string, timeoutMs?: number): Promise<F> {
    return this.next((frame) => frame.channel === name, timeoutMs)
  }

  close(): void {
    this.#socket.close(1000)
  }
}

/** A feeder in the test's hands: keeps the books that it sent, and answers a reseed from them. */
export class Feeder {
  readonly socket: Socket<GatewayFrame & Frame>
  readonly #books = new Map<string, LevelBook>()
  #sent = { height: 0, time: 0 }

  private constructor(socket: Socket<GatewayFrame & Frame>) {
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
    return new Feeder(await Socket.open(`${ws}/feed`, { authorization: `Bearer ${token}` }))
  }

  async hello(first: number | null = null, head: number | null = null): Promise<GatewayFrame> {
    this.socket.send({ type: 'hello', protocol: 1, chain: 'hyperliquid', feeder: 'test', first, head })
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
