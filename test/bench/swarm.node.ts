// One target under load, seen from the load process: a feeder's socket at one end, many clients' at the other.
// Both ends share this process's clock. Law: a round ends only when every frame it caused has arrived.

import { FEED_PROTOCOL, type GatewayFrame, type Pulse } from '../../src/feed/protocol.ts'
import { seedTexts } from '../feed/seed-texts.ts'
import { BlockTexts, CHANNEL_AT, COIN, HEIGHT_AT, type Kind, seedBooks, timeOf } from './blocks.ts'
import { clientFrame } from './frames.ts'
import { type Address, RawSocket } from './raw-socket.node.ts'
import { type Spread, spreadOf } from './statistics.ts'

export interface SwarmTarget {
  /** `bare` is fed what clients are to get; `weir` speaks the feed protocol and is subscribed to. */
  readonly kind: 'bare' | 'weir'
  readonly feed: Address
  /** Where clients connect, in turn. */
  readonly clients: readonly Address[]
}

/** A client that proves what it reads, as those of a relay must that take much. */
interface Client {
  readonly socket: RawSocket
  /** Of the last pong. */
  nonce: string
  unprovedBytes: number
}

/** From a feeder's write to the read of half of the clients, and of the last one; a sample for each block. */
interface Paced {
  readonly middle: Spread
  readonly last: Spread
}

export interface Saturated {
  readonly framesPerSecond: number
  /** All frames of the round, also those outside the measured time. */
  readonly frames: number
}

const FIRST_HEIGHT = 1_000_000
const LAST_HEIGHT = 9_999_999
const OPENING_AT_ONCE = 50
const PULSE_MS = 2_000
const LETTER_L = 'l'.charCodeAt(0)
const LETTER_P = 'p'.charCodeAt(0)
const LETTER_S = 's'.charCodeAt(0)
const SAMPLES = 100_000
/** Blocks of a paced round that are not measured. */
const WARM_BLOCKS = 5
const DRAIN_MS = 15_000
const WARM_MS = 300
/** As our client does, … */
const PROVE_BYTES = 128 * 1024
/** … but a relay bounds what all its sockets have unproved, and a proof is as old as the pong before. */
const PROVE_BYTES_OF_ALL = 12 * 1024 * 1024
/** Its multiples are spread evenly. */
const GOLDEN = (Math.sqrt(5) - 1) / 2
const NONCE_AT = '{"channel":"pong","nonce":"'.length

export class Swarm {
  readonly #target: SwarmTarget
  readonly #texts = new Map<Kind, BlockTexts>()
  #feed: RawSocket | null = null
  #clients: Client[] = []
  #opened = 0
  #height = FIRST_HEIGHT
  #acked = 0
  #seeding = true
  #acks = 0
  #pings = 0
  #pongs = 0
  /** Frames that came of each height in flight. */
  readonly #arrived = new Map<number, number>()
  #sentMs = new Map<number, number>()
  /** Of heights in flight. */
  readonly #middleMs = new Map<number, number>()
  readonly #middle = new Float64Array(SAMPLES)
  readonly #last = new Float64Array(SAMPLES)
  #sampled = 0
  #sampling = false
  #frames = 0
  #pulses: NodeJS.Timeout | undefined
  #onHeight: ((height: number) => void) | null = null
  #onAck: (() => void) | null = null
  #trouble: string | null = null

  constructor(target: SwarmTarget) {
    this.#target = target
  }

  /** Connects the feeder's socket and seeds the books. */
  async connectFeed(): Promise<void> {
    this.#feed = await RawSocket.open(this.#target.feed, (chunk, from, to) => this.#fromFeed(chunk, from, to))
    if (this.#target.kind === 'bare') return
    this.#feed.send(
      JSON.stringify({
        type: 'hello',
        protocol: FEED_PROTOCOL,
        chain: 'hyperliquid',
        feeder: 'bench',
        first: null,
        head: null,
      }),
    )
    for (const text of this.#snapshot('all', seedBooks())) this.#feed.send(text)
    await this.#until(() => this.#acked >= this.#height, 'the seed was not acknowledged')
    this.#pulses = setInterval(() => this.#pulse(), PULSE_MS)
  }

  /** As every feeder does: a hub that hears nothing sleeps, and loses the books that it has not stored yet. */
  #pulse(): void {
    const counts = { unacked: 0, reconnects: 0, misfits: 0, drifted: 0, gaps: 0, refusedEvents: 0 }
    const place = { now: Date.now(), head: this.#height, time: timeOf(this.#height) }
    this.#feed!.send(JSON.stringify({ type: 'pulse', state: 'sending', ...place, ...counts } satisfies Pulse))
  }

  /** Sends an empty block: a hub that attached late learns from it what it lacks. */
  tick(): void {
    this.#publish('empty')
  }

  /** Sends a block that changes the one deep book. */
  change(): void {
    this.#publish('single')
  }

  /** From now on the books change, so a reseed could no longer be answered. */
  endSeeding(): void {
    this.#seeding = false
  }

  /** Brings the number of clients of `coins` to `count`; all or none of a swarm have the same coins. */
  async resize(count: number, coins: readonly string[] = [COIN]): Promise<void> {
    this.#sampled = 0
    for (const { socket } of this.#clients.splice(count)) socket.close()
    while (this.#clients.length < count) {
      const some = Math.min(OPENING_AT_ONCE, count - this.#clients.length)
      const acks = this.#acks + some
      this.#clients.push(...(await Promise.all(Array.from({ length: some }, () => this.#open(coins)))))
      if (this.#target.kind === 'weir')
        await this.#until(() => this.#acks >= acks, 'a subscription was not acknowledged')
    }
  }

  async #open(coins: readonly string[]): Promise<Client> {
    const { clients } = this.#target
    const address = clients[this.#opened++ % clients.length]!
    let client: Client
    const socket = await RawSocket.open(address, (chunk, from, to) => this.#fromServer(client, chunk, from, to))
    // Clients came at different times: not all of them prove with the same block.
    client = { socket, nonce: '', unprovedBytes: Math.round((PROVE_BYTES * this.#opened * GOLDEN) % PROVE_BYTES) }
    const coin = coins.length === 1 ? coins[0] : coins
    const frame = { method: 'subscribe', subscription: { type: 'l2BookDiff2', coin } }
    if (this.#target.kind === 'weir') socket.send(JSON.stringify(frame))
    return client
  }

  /** Lets every client prove what it has read: the second ping returns what the first was answered with. */
  async ping(): Promise<void> {
    if (this.#target.kind === 'bare') return
    for (let turn = 0; turn < 2; turn++) {
      for (const client of this.#clients) this.#prove(client)
      await this.#until(() => this.#pongs >= this.#pings, 'a pong did not come')
    }
  }

  #prove(client: Client): void {
    client.socket.send(`{"method":"ping","nonce":"${client.nonce}"}`)
    this.#pings++
  }

  /** Closed loop: `inFlight` blocks at a time, each replaced when every client has it. */
  async saturate(kind: Kind, inFlight: number, ms: number): Promise<Saturated> {
    const before = this.#frames
    const start = performance.now() + WARM_MS
    const end = start + ms
    let first = Number.NaN
    let last = Number.NaN
    let firstMs = 0
    let lastMs = 0
    await this.#round(
      (height) => {
        const now = performance.now()
        if (now >= start && Number.isNaN(first)) {
          first = height
          firstMs = now
        }
        if (now <= end || Number.isNaN(last)) {
          last = height
          lastMs = now
        }
        if (now < end) this.#publish(kind)
      },
      () => {
        for (let i = 0; i < inFlight; i++) this.#publish(kind)
      },
    )
    const framesPerSecond = ((last - first) * this.#clients.length * 1000) / (lastMs - firstMs)
    return { framesPerSecond, frames: this.#frames - before }
  }

  /**
   * Open loop: a block every `everyMs` whatever happens. Clients that wait for the same block are one sample, not many.
   * Samples of earlier calls count too, since `resize`: a p99 needs more blocks than one round has.
   */
  async pace(kind: Kind, blocks: number, everyMs: number): Promise<Paced> {
    const start = performance.now()
    await this.#round(
      () => undefined,
      async () => {
        for (let i = 0; i < WARM_BLOCKS + blocks; i++) {
          const wait = start + i * everyMs - performance.now()
          if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
          if (i === WARM_BLOCKS) this.#sampling = true
          this.#publish(kind)
        }
      },
    )
    this.#sampling = false
    return { middle: spreadOf(this.#middle, this.#sampled), last: spreadOf(this.#last, this.#sampled) }
  }

  /**
   * `blocks` blocks, at most `inFlight` of them not both acknowledged and delivered; answers how many per second are.
   * A feeder alone would wait for acknowledgements only, but what nobody has been sent is not yet through.
   */
  async ingest(kind: Kind, inFlight: number, blocks: number): Promise<{ readonly perSecond: number }> {
    const last = this.#height + blocks
    const marks: { height: number; atMs: number }[] = []
    let delivered = this.#height
    const go = () => {
      const height = Math.min(delivered, this.#acked)
      if (height > (marks.at(-1)?.height ?? -1)) marks.push({ height, atMs: performance.now() })
      while (this.#height < Math.min(last, height + inFlight)) this.#publish(kind)
    }
    const deliver = (height: number) => {
      delivered = height
      go()
    }
    this.#onAck = go
    await this.#round(deliver, go)
    await this.#until(() => this.#acked >= last, 'blocks were not acknowledged')
    this.#onAck = null
    // The first mark is where the round began; after the last full segment an acknowledgement waits for a timer.
    const first = marks[1]
    const full = marks.findLast(({ height }) => height < last)
    if (!first || !full || full.height <= first.height) throw new Error('too few blocks went through to measure by')
    return { perSecond: ((full.height - first.height) * 1000) / (full.atMs - first.atMs) }
  }

  /** Runs `work`, then waits until every block has reached every client. */
  async #round(onHeight: (height: number) => void, work: () => void | Promise<void>): Promise<void> {
    if (!this.#feed) throw new Error('connect the feed first')
    this.#onHeight = onHeight
    await work()
    await this.#until(() => this.#sentMs.size === 0, 'frames did not arrive')
    this.#onHeight = null
  }

  /** Sends the next block. Its text is ready before the clock is read. */
  #publish(kind: Kind): void {
    const height = ++this.#height
    if (height > LAST_HEIGHT) throw new Error('out of heights')
    let texts = this.#texts.get(kind)
    if (!texts) {
      texts = new BlockTexts(kind)
      this.#texts.set(kind, texts)
    }
    const frame = clientFrame(this.#target.kind === 'weir' ? texts.feed(height) : texts.client(height))
    if (kind !== 'empty' && this.#clients.length > 0) this.#sentMs.set(height, performance.now())
    this.#feed!.write(frame)
  }

  #snapshot(scope: 'all' | 'coins', books: ReturnType<typeof seedBooks>): string[] {
    return seedTexts({ scope, height: this.#height, time: timeOf(this.#height) }, books)
  }

  #fromFeed(chunk: Buffer, from: number, to: number): void {
    const frame = JSON.parse(chunk.toString('utf8', from, to)) as GatewayFrame
    if (frame.type === 'ack') {
      this.#acked = frame.height
      this.#onAck?.()
    } else if (frame.type === 'reseed' && this.#seeding) {
      const books = seedBooks().filter(({ coin }) => frame.coins === null || frame.coins.includes(coin))
      for (const text of this.#snapshot('coins', books)) this.#feed!.send(text)
    } else if (frame.type !== 'welcome' && !this.#seeding) {
      this.#trouble ??= `the gateway said ${JSON.stringify(frame)}`
    }
  }

  #fromServer(client: Client, chunk: Buffer, from: number, to: number): void {
    const letter = chunk[from + CHANNEL_AT]
    if (letter === LETTER_L) {
      client.unprovedBytes += to - from
      const most = Math.min(PROVE_BYTES, PROVE_BYTES_OF_ALL / this.#clients.length)
      if (client.unprovedBytes > most && this.#target.kind === 'weir') {
        client.unprovedBytes %= most
        this.#prove(client)
      }
      return this.#block(chunk, from)
    }
    if (letter === LETTER_S) this.#acks++
    else if (letter === LETTER_P) {
      client.nonce = chunk.toString('latin1', from + NONCE_AT, to - '"}'.length)
      this.#pongs++
    } else this.#trouble ??= `a client was told ${chunk.toString('utf8', from, from + 300)}`
  }

  #block(chunk: Buffer, from: number): void {
    let height = 0
    for (let i = from + HEIGHT_AT; i < from + HEIGHT_AT + 7; i++) height = height * 10 + chunk[i]! - 48
    this.#frames++
    const sentMs = this.#sentMs.get(height)
    if (sentMs === undefined) {
      this.#trouble ??= `a frame of height ${height}, which is not in flight: ${chunk.toString('utf8', from, from + 200)}`
      return
    }
    const arrived = (this.#arrived.get(height) ?? 0) + 1
    const isSampled = this.#sampling && this.#sampled < SAMPLES
    if (isSampled && arrived === Math.ceil(this.#clients.length / 2))
      this.#middleMs.set(height, performance.now() - sentMs)
    if (arrived < this.#clients.length) {
      this.#arrived.set(height, arrived)
      return
    }
    if (isSampled) {
      this.#middle[this.#sampled] = this.#middleMs.get(height) ?? Number.NaN
      this.#middleMs.delete(height)
      this.#last[this.#sampled++] = performance.now() - sentMs
    }
    this.#arrived.delete(height)
    this.#sentMs.delete(height)
    this.#onHeight?.(height)
  }

  async #until(isTrue: () => boolean, otherwise: string): Promise<void> {
    const deadline = performance.now() + DRAIN_MS
    while (!isTrue()) {
      if (this.#trouble) throw new Error(`${this.#target.kind}: ${this.#trouble}`)
      const lost = [this.#feed, ...this.#clients.map(({ socket }) => socket)].find((socket) => socket?.lost)?.lost
      if (lost) throw new Error(`${this.#target.kind}: a socket was lost: ${lost}`)
      if (performance.now() > deadline) throw new Error(`${this.#target.kind}: ${otherwise}`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    if (this.#trouble) throw new Error(`${this.#target.kind}: ${this.#trouble}`)
  }

  close(): void {
    clearInterval(this.#pulses)
    for (const { socket } of this.#clients.splice(0)) socket.close()
    this.#feed?.close()
  }
}
