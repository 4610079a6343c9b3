// One target under load, as the load process sees it: the feeder's socket at one end, and the sockets of many
// clients at the other. Both ends use this process's clock. Invariant: a round ends only when every frame that it
// caused has arrived.

import { type Spread, spreadOf } from '../kit/statistics.ts'
import type { Kind } from './blocks.ts'
import { Client, type ClientOwner, Followers, type SwarmTarget } from './client.node.ts'
import { type CrowdName, crowdOf } from './crowds.ts'
import { Feed } from './feed.node.ts'
import { Storm, type Stormed, type StormHow } from './storm.node.ts'

/** Of one round. `bytes`: as WebSocket frames. */
interface Sent {
  readonly blocks: number
  readonly frames: number
  readonly bytes: number
}

/** From a feeder's write to the read of half of the frames, and of the last one; a sample for each block. */
interface Paced extends Sent {
  readonly middle: Spread
  readonly last: Spread
}

/** `frames`: all of the round, also those outside the measured time. */
interface Saturated extends Sent {
  readonly framesPerSecond: number
}

interface InFlight {
  readonly sentMs: number
  /** Frames of all clients. */
  readonly due: number
  readonly isSampled: boolean
  arrived: number
  middleMs: number
}

const OPENING_AT_ONCE = 50
const SAMPLES = 100_000
const WARM_BLOCKS = 5
const DRAIN_MS = 50_000
const WARM_MS = 300

export class Swarm implements ClientOwner {
  readonly target: SwarmTarget
  readonly #feed: Feed
  crowd: CrowdName = 'one coin'
  #clients: Client[] = []
  readonly #followers = new Followers()
  #opened = 0
  #acks = 0
  #firsts = 0
  #firstsDue = 0
  /** Height when clients last subscribed. */
  #before = 0
  readonly #inFlight = new Map<number, InFlight>()
  readonly #middle = new Float64Array(SAMPLES)
  readonly #last = new Float64Array(SAMPLES)
  #sampled = 0
  #isSampling = false
  #frames = 0
  #bytes = 0
  #onHeight: ((height: number) => void) | null = null
  #trouble: string | null = null

  constructor(target: SwarmTarget) {
    this.target = target
    this.#feed = new Feed(target.kind === 'weir')
  }

  get #isWeir(): boolean {
    return this.target.kind === 'weir'
  }

  get size(): number {
    return this.#clients.length
  }

  async connectFeed(): Promise<void> {
    await this.#feed.connect(this.target.feed)
    if (this.#isWeir) await this.#until(() => this.#feed.acked >= this.#feed.height, 'the seed was not acknowledged')
  }

  /** Sends an empty block: a hub that attached late learns from it what it lacks. */
  tick(): void {
    this.#publish('empty')
  }

  change(): void {
    this.#publish('single')
  }

  /** From now on the books change, so a reseed could no longer be answered. */
  endSeeding(): void {
    this.#feed.endSeeding()
  }

  /** Brings the number of clients to `count`; all of a swarm are of one crowd. */
  async resize(count: number, crowd: CrowdName = 'one coin'): Promise<void> {
    this.#sampled = 0
    const kept = crowd === this.crowd ? count : 0
    for (const client of this.#clients.splice(kept)) client.close()
    this.#opened = this.#clients.length
    this.crowd = crowd
    while (this.#clients.length < count) {
      const some = await this.#connect(Math.min(OPENING_AT_ONCE, count - this.#clients.length))
      if (!this.#isWeir) continue
      const acks = this.#acks + some.reduce((sum, { seat }) => sum + seat.bodies.length, 0)
      this.#firstsDue = this.#firsts + some.length * crowdOf(crowd).firsts
      this.#before = this.#feed.height
      for (const client of some) client.subscribe()
      await this.#until(() => this.#acks >= acks, 'a subscription was not acknowledged')
      await this.#until(() => this.#firsts >= this.#firstsDue, 'a first frame did not come')
    }
  }

  /** So many follow all orders of COIN beside the clients; answers the blocks that all of them heard, null before they may. */
  follow(count: number): number | null {
    return this.#followers.resize(count, this.target.clients)
  }

  async #connect(count: number): Promise<Client[]> {
    const some = await Promise.all(Array.from({ length: count }, () => Client.open(this, this.#opened++)))
    this.#clients.push(...some)
    return some
  }

  /** Lets every client prove what it has read: the second ping returns what the first was answered with. */
  async ping(): Promise<void> {
    if (!this.#isWeir) return
    for (let turn = 0; turn < 2; turn++) {
      for (const client of this.#clients) client.prove()
      await this.#until(() => this.#clients.every(({ isAnswered }) => isAnswered), 'a pong did not come')
    }
  }

  /** Closed loop: `inFlight` blocks at a time, each replaced when every client has it. */
  async saturate(kind: Kind, inFlight: number, ms: number): Promise<Saturated> {
    const start = performance.now() + WARM_MS
    const end = start + ms
    let first = Number.NaN
    let last = Number.NaN
    let firstMs = 0
    let lastMs = 0
    const sent = await this.#round(
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
    return { ...sent, framesPerSecond: ((last - first) * this.#clients.length * 1000) / (lastMs - firstMs) }
  }

  /**
   * Open loop: a block every `everyMs` whatever happens. Clients that wait for the same block are one sample, not many.
   * Samples of earlier calls count too, since `resize`: a p99 needs more blocks than one round has.
   */
  async pace(kind: Kind, blocks: number, everyMs: number): Promise<Paced> {
    const start = performance.now()
    const sent = await this.#round(
      () => undefined,
      async () => {
        for (let i = 0; i < WARM_BLOCKS + blocks; i++) {
          const wait = start + i * everyMs - performance.now()
          if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
          if (i === WARM_BLOCKS) this.#isSampling = true
          this.#publish(kind)
        }
      },
    )
    this.#isSampling = false
    return { ...sent, middle: spreadOf(this.#middle, this.#sampled), last: spreadOf(this.#last, this.#sampled) }
  }

  /**
   * `blocks` blocks, at most `inFlight` of them not both acknowledged and delivered; answers how many per second are.
   * A feeder alone would wait for acknowledgements only, but what nobody has been sent is not yet through.
   */
  async ingest(kind: Kind, inFlight: number, blocks: number): Promise<{ readonly perSecond: number }> {
    const feed = this.#feed
    const last = feed.height + blocks
    const marks: { height: number; atMs: number }[] = []
    let delivered = feed.height
    const go = () => {
      const height = Math.min(delivered, feed.acked)
      if (height > (marks.at(-1)?.height ?? -1)) marks.push({ height, atMs: performance.now() })
      while (feed.height < Math.min(last, height + inFlight)) this.#publish(kind)
    }
    const deliver = (height: number) => {
      delivered = height
      go()
    }
    feed.onAck = go
    await this.#round(deliver, go)
    await this.#until(() => feed.acked >= last, 'blocks were not acknowledged')
    feed.onAck = null
    // The first mark is where the round began; after the last full segment an acknowledgement waits for a timer.
    const first = marks[1]
    const full = marks.findLast(({ height }) => height < last)
    if (!first || !full || full.height <= first.height) throw new Error('too few blocks went through to measure by')
    return { perSecond: ((full.height - first.height) * 1000) / (full.atMs - first.atMs) }
  }

  /** So many new clients that want something at once, in place of those that are here. */
  async storm(crowd: CrowdName, count: number, ...how: StormHow): Promise<Stormed> {
    await this.resize(0)
    return new Storm(this.target, this.#feed, crowd).run(count, ...how)
  }

  /** Runs `work`, then waits until every block has reached every client. */
  async #round(onHeight: (height: number) => void, work: () => void | Promise<void>): Promise<Sent> {
    const { height } = this.#feed
    const frames = this.#frames
    const bytes = this.#bytes
    this.#onHeight = onHeight
    await work()
    await this.#until(() => this.#inFlight.size === 0, 'frames did not arrive')
    this.#onHeight = null
    return { blocks: this.#feed.height - height, frames: this.#frames - frames, bytes: this.#bytes - bytes }
  }

  #publish(kind: Kind): void {
    this.#feed.publish(kind, this.crowd, (height, frames) => {
      const due = this.#clients.reduce((sum, { seat }) => sum + frames[seat.line]!, 0)
      const isSampled = this.#isSampling
      const sentMs = performance.now()
      if (due > 0) this.#inFlight.set(height, { sentMs, due, isSampled, arrived: 0, middleMs: Number.NaN })
    })
  }

  acknowledged(): void {
    this.#acks++
  }

  told(text: string): void {
    // While the other target has its round no block comes.
    if (/"code":"(stale|fresh)"/.test(text)) return
    // That there is nothing to be shown first is said instead of a first frame.
    if (this.#firsts < this.#firstsDue && text.includes('"notification"')) this.#firsts++
    else this.#trouble ??= `a client was told ${text}`
  }

  data(_client: Client, height: number, chunk: Buffer, from: number, to: number): void {
    const block = this.#inFlight.get(height)
    if (block) this.#arrived(height, block, to - from)
    // What was before may come in several frames: those of blocks that came behind the answer follow it.
    else if (height <= this.#before) this.#firsts++
    else
      this.#trouble ??= `a frame of height ${height}, which is not in flight: ${chunk.toString('utf8', from, from + 200)}`
  }

  #arrived(height: number, block: InFlight, length: number): void {
    this.#frames++
    this.#bytes += length + (length < 126 ? 2 : length < 65_536 ? 4 : 10)
    const isSampled = block.isSampled && this.#sampled < SAMPLES
    block.arrived++
    if (isSampled && block.arrived === Math.ceil(block.due / 2)) block.middleMs = performance.now() - block.sentMs
    if (block.arrived < block.due) return
    if (isSampled) {
      this.#middle[this.#sampled] = block.middleMs
      this.#last[this.#sampled++] = performance.now() - block.sentMs
    }
    this.#inFlight.delete(height)
    this.#onHeight?.(height)
  }

  async #until(isTrue: () => boolean, otherwise: string): Promise<void> {
    const deadline = performance.now() + DRAIN_MS
    while (!isTrue()) {
      this.#check()
      if (performance.now() > deadline) throw new Error(`${this.target.kind}: ${otherwise}`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    this.#check()
  }

  #check(): void {
    const lost = [this.#feed, this.#followers, ...this.#clients].find((one) => one.lost)?.lost
    const trouble = this.#trouble ?? this.#feed.trouble ?? (lost ? `a socket was lost: ${lost}` : null)
    if (trouble) throw new Error(`${this.target.kind}: ${trouble}`)
  }

  close(): void {
    this.#followers.resize(0, [])
    for (const client of this.#clients.splice(0)) client.close()
    this.#feed.close()
  }
}
