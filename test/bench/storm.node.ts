// Connects many clients at the same time while blocks continue, and waits until the last client has live data.

import { spreadOf } from '../kit/statistics.ts'
import type { Kind } from './blocks.ts'
import { Client, type ClientOwner, type SwarmTarget } from './client.node.ts'
import type { CrowdName } from './crowds.ts'
import type { Feed } from './feed.node.ts'

/** From the moment at which they came. */
export interface Stormed {
  /** To the last acknowledgement. */
  readonly ackedMs: number
  /** To a frame of a new block after it: the middle client, and the last one. */
  readonly middleMs: number
  readonly lastMs: number
}

/** Whether they are connected before and only subscribe at once; the blocks meanwhile. */
export type StormHow = [isConnected: boolean, kind: Kind, everyMs: number]

const OPENING_AT_ONCE = 50
const WARM_MS = 500
const LIMIT_MS = 55_000
const SNAPSHOT = Buffer.from('"Snapshot"')
const NAMED_WITHIN = 60

export class Storm implements ClientOwner {
  readonly target: SwarmTarget
  readonly crowd: CrowdName
  readonly #feed: Feed
  readonly #clients: Client[] = []
  readonly #acked = new Map<Client, number>()
  readonly #live = new Map<Client, number>()
  #opened = 0
  /** Of the newest block before. */
  #height = 0
  #trouble: string | null = null

  constructor(target: SwarmTarget, feed: Feed, crowd: CrowdName) {
    this.target = target
    this.crowd = crowd
    this.#feed = feed
  }

  get size(): number {
    return this.#clients.length
  }

  acknowledged(client: Client): void {
    this.#acked.set(client, performance.now())
  }

  told(text: string): void {
    if (!text.includes('"code":"fresh"')) this.#trouble ??= `a client was told ${text}`
  }

  data(client: Client, height: number, chunk: Buffer, from: number): void {
    if (height <= this.#height || this.#live.has(client) || !this.#acked.has(client)) return
    if (!chunk.subarray(from, from + NAMED_WITHIN).includes(SNAPSHOT)) this.#live.set(client, performance.now())
  }

  async run(count: number, ...[isConnected, kind, everyMs]: StormHow): Promise<Stormed> {
    for (let left = isConnected ? count : 0; left > 0; left -= OPENING_AT_ONCE)
      await Promise.all(Array.from({ length: Math.min(OPENING_AT_ONCE, left) }, () => this.#connect()))
    const blocks = setInterval(() => this.#feed.publish(kind, this.crowd), everyMs)
    try {
      await sleep(WARM_MS)
      this.#height = this.#feed.height
      const startMs = performance.now()
      if (isConnected) for (const client of this.#clients) client.subscribe()
      else await Promise.all(Array.from({ length: count }, async () => (await this.#connect()).subscribe()))
      await this.#allLive(startMs + LIMIT_MS)
      const { p50, max } = spreadOf(Float64Array.from(this.#live.values()), count)
      return { ackedMs: Math.max(...this.#acked.values()) - startMs, middleMs: p50 - startMs, lastMs: max - startMs }
    } finally {
      clearInterval(blocks)
      for (const client of this.#clients) client.close()
    }
  }

  async #connect(): Promise<Client> {
    const client = await Client.open(this, this.#opened++, true)
    this.#clients.push(client)
    return client
  }

  async #allLive(deadlineMs: number): Promise<void> {
    while (this.#live.size < this.#clients.length) {
      const lost = this.#clients.find((client) => client.lost)?.lost
      const late = performance.now() > deadlineMs ? `${this.#live.size} of ${this.#clients.length} are live` : null
      const trouble = this.#trouble ?? this.#feed.trouble ?? lost ?? late
      if (trouble) throw new Error(`${this.target.kind}: ${trouble}`)
      await sleep(2)
    }
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
