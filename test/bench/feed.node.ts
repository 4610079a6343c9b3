// The feeder side of a target. It seeds Weir's books and sends blocks.

import { FEED_PROTOCOL, type GatewayFrame, type Pulse } from '../../src/protocol/feed/protocol.ts'
import { seedTexts } from '../block-log/seed-texts.ts'
import { ZERO_COUNTERS } from '../kit/counters.ts'
import { BlockTexts, COIN, type Kind, seedBooks, timeOf } from './blocks.ts'
import { type CrowdName, crowdOf } from './crowds.ts'
import { clientFrame } from './frames.ts'
import { orderParts, orderRows } from './orders.ts'
import { type Address, RawSocket } from './raw-socket.node.ts'

const FIRST_HEIGHT = 1_000_000
const PULSE_MS = 2_000

export class Feed {
  readonly #isWeir: boolean
  readonly #texts = new Map<Kind, BlockTexts>()
  #socket: RawSocket | null = null
  #isSeeding = true
  /** Every block then has the rows of COIN, and after the next one go all of its orders where they were asked for. */
  #areOrdersWanted = false
  #areOrdersAsked = false
  #pulses: NodeJS.Timeout | undefined
  height = FIRST_HEIGHT
  acked = 0
  onAck: (() => void) | null = null
  trouble: string | null = null

  constructor(isWeir: boolean) {
    this.#isWeir = isWeir
  }

  /** Connects and sends the books. */
  async connect(address: Address): Promise<void> {
    this.#socket = await RawSocket.open(address, (chunk, from, to) => this.#take(chunk, from, to))
    if (!this.#isWeir) return
    const hello = { type: 'hello', protocol: FEED_PROTOCOL, chain: 'hyperliquid', feeder: 'bench' }
    this.#socket.send(JSON.stringify({ ...hello, first: null, head: null }))
    for (const text of this.#snapshot('all', seedBooks())) this.#socket.send(text)
    this.#pulses = setInterval(() => this.#pulse(), PULSE_MS)
  }

  get lost(): string | null {
    return this.#socket?.lost ?? null
  }

  /** From now on the books change, so a reseed could no longer be answered. */
  endSeeding(): void {
    this.#isSeeding = false
  }

  /**
   * Sends the next block, or to the bare object what `crowd` is sent of it; answers how many frames a client of each line
   * gets. Its text is ready before `sending` is told.
   */
  publish(kind: Kind, crowd: CrowdName, sending: (height: number, frames: readonly number[]) => void = () => {}): void {
    const height = ++this.height
    let texts = this.#texts.get(kind)
    if (!texts) {
      texts = new BlockTexts(kind)
      this.#texts.set(kind, texts)
    }
    const lines = crowdOf(crowd).lines.map((line) => line(texts, height))
    const messages = this.#isWeir ? this.#messages(texts, kind, height) : turned(lines)
    const frames = messages.map((text) => clientFrame(text))
    sending(
      height,
      lines.map(({ length }) => length),
    )
    for (const frame of frames) this.#socket!.write(frame)
  }

  #messages(texts: BlockTexts, kind: Kind, height: number): string[] {
    const block = texts.feed(height)
    if (!this.#areOrdersWanted) return [block]
    const parts = this.#areOrdersAsked ? orderParts(height) : []
    this.#areOrdersAsked = false
    return [`${block.slice(0, -1)},"l4":[${orderRows(height, kind === 'market')}]}`, ...parts]
  }

  #snapshot(scope: 'all' | 'coins', books: ReturnType<typeof seedBooks>): string[] {
    return seedTexts({ scope, height: this.height, time: timeOf(this.height) }, books)
  }

  /** As every feeder does: a hub that hears nothing sleeps, and loses the books that it has not stored yet. */
  #pulse(): void {
    const place = { now: Date.now(), head: this.height, time: timeOf(this.height) }
    this.#socket!.send(JSON.stringify({ type: 'pulse', state: 'sending', ...place, ...ZERO_COUNTERS } satisfies Pulse))
  }

  #take(chunk: Buffer, from: number, to: number): void {
    const frame = JSON.parse(chunk.toString('utf8', from, to)) as GatewayFrame
    if (frame.type === 'ack') {
      this.acked = frame.height
      this.onAck?.()
    } else if (frame.type === 'reseed' && this.#isSeeding) {
      const books = seedBooks().filter(({ coin }) => frame.coins === null || frame.coins.includes(coin))
      for (const text of this.#snapshot('coins', books)) this.#socket!.send(text)
    } else if (frame.type === 'want') {
      if (frame.l4?.add.includes(COIN)) this.#areOrdersWanted = true
      if (frame.l4?.drop.includes(COIN)) this.#areOrdersWanted = false
    } else if (frame.type === 'l4Reseed') {
      this.#areOrdersAsked = true
    } else if (frame.type !== 'welcome' && !this.#isSeeding) {
      this.trouble ??= `the gateway said ${JSON.stringify(frame)}`
    }
  }

  close(): void {
    clearInterval(this.#pulses)
    this.#socket?.close()
  }
}

/** The first frames of all lines in one message, then the second ones … */
function turned(lines: readonly (readonly string[])[]): string[] {
  const most = Math.max(...lines.map(({ length }) => length))
  return Array.from({ length: most }, (_, at) => lines.map((line) => line[at] ?? '').join('\n'))
}
