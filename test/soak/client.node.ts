// One soak client of any kind: connects, follows its subscriptions, reports its health, and captures its books at a
// height.

import { WebSocket } from 'ws'
import type { Listener } from '../../src/client/connection.ts'
import { Connection } from '../../src/client/connection.ts'
import { DiffBooks } from '../../src/client/diff-books.ts'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import { type ClientRuntime, type Endpoint, infoUrl } from '../../src/client/runtime.ts'
import { type BookScope, bodyKey, listedCoins, type SubscriptionBody } from '../../src/client/subscription.ts'
import { channelOf } from '../../src/relay/channels/catalogue.ts'
import { hashOf } from '../kit/book-hash.ts'
import { BookReplicas } from '../kit/book-replicas.ts'
import { bookFrame, Capture, type ReadBook } from './capture.ts'
import type { ClientPlan } from './mix.ts'
import { RawConnection } from './raw-connection.ts'
import { Served } from './served.ts'
import { tapped } from './tapped-runtime.ts'
import { Told } from './told.ts'
import { Wellness } from './wellness.ts'

/** Frames of changes older than this are no live data. */
const STALE_MS = 5_000
const INFO_EVERY_MS = 4_000
const INFO_RETRY_MS = 1_000
const SLOW_READS_MS = 1_000
const SLOW_RESTS_MS = 3_000
const VANISHES_WITHIN_MS = 15_000

export interface ClientWorld {
  readonly endpoint: Endpoint
  /** All that there are, the busiest first. */
  readonly coins: readonly string[]
  readonly wallets: readonly string[]
  readonly faults: readonly number[]
}

export class Client {
  readonly plan: ClientPlan
  readonly served = new Served()
  readonly wellness: Wellness
  /** On the channel that is not of books followed level by level; null where there is none. */
  readonly told: Told | null
  /** Close codes, statuses and checksums that differed, and how often each. */
  readonly ends: Record<string, number> = {}
  readonly #world: ClientWorld
  readonly #runtime: ClientRuntime
  #socket: WebSocket | null = null
  #capture: Capture | null = null
  #read: ReadBook = () => undefined
  #named: (() => Iterable<string>) | null = null
  #isLive = false
  #lostMs: number
  /** Time of the newest block of books, as it says itself. */
  #blockMs = 0
  #stop = () => {}
  #ended = false

  constructor(plan: ClientPlan, world: ClientWorld) {
    this.plan = plan
    this.#world = world
    this.#lostMs = Date.now()
    this.wellness = new Wellness(world.faults, this.#lostMs)
    const body = plan.bodies.find(({ type }) => !type.startsWith('l2BookDiff'))
    this.told = body ? new Told(body) : null
    const keep = (socket: WebSocket) => {
      this.#socket = socket
    }
    class Kept extends WebSocket {
      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        super(...args)
        keep(this)
      }
    }
    this.#runtime = tapped(nodeRuntime(Kept as typeof WebSocket), this.served, {
      frame: (text) => this.#frame(text),
      ended: (code) => this.#lost(code),
    })
  }

  start(): void {
    const { kind, bodies } = this.plan
    if (kind === 'info') return this.#ask(0)
    if (kind === 'wildcard' || kind === 'list' || kind === 'events' || kind === 'orders')
      return this.#follow(bodies[0]!)
    const connection = new RawConnection(this.#runtime, this.#world.endpoint, this.plan.number % 2 === 0)
    for (const body of bodies) {
      if (body.type === 'l2BookDiff') this.#seeded(connection as unknown as Connection, body)
      else connection.subscribe(body, this.#others(body))
    }
    connection.start()
    this.#stop = () => connection.drop(false)
    if (kind === 'slow') this.#rest()
    if (kind === 'mute') this.#every(500, () => this.#socket?.pause())
    if (kind === 'vanisher') this.#every(VANISHES_WITHIN_MS, () => connection.drop(true))
  }

  /** Ends it; what it was served is known after. */
  end(): void {
    this.#ended = true
    this.#stop()
    this.served.ended(Date.now())
  }

  get blockMs(): number {
    return this.#blockMs
  }

  /** Looks at itself; `newestMs`: time of the newest block that anybody has. */
  look(newestMs: number): void {
    const now = Date.now()
    this.wellness.see(this.#badSince(now), now)
    this.told?.look(now - newestMs, now)
  }

  capture(height: number): void {
    this.#capture = new Capture(height, (coin) => this.#read(coin), hashOf)
  }

  /** The hashes of those of `coins` (null: all) that it could catch; null where it follows no books. */
  captured(coins: readonly string[] | null): Record<string, string> | null {
    const capture = this.#capture
    this.#capture = null
    if (capture === null || this.#named === null) return null
    return capture.finish([...this.#named()].filter((coin) => coins === null || coins.includes(coin)))
  }

  #follow(body: SubscriptionBody): void {
    const connection = new Connection(this.#runtime, { endpoint: () => this.#world.endpoint })
    if (body.type === 'l2BookDiff') this.#seeded(connection, body)
    else if (body.type === 'l2BookDiff2') this.#diffs(connection, body)
    else connection.subscribe(body, this.#others(body))
    connection.start()
    this.#stop = () => connection.close()
  }

  #others(body: SubscriptionBody): Listener {
    const { type } = body
    const isOfEvents = channelOf(type)!.source === 'events'
    const told = this.told!
    return {
      live: () => {
        told.live(Date.now())
        this.#isLive ||= isOfEvents
      },
      lost: () => told.lost(),
      // What is a whole state has one at once.
      frame: (frame) => {
        told.take(frame)
        this.served.whole(bodyKey(body), Date.now())
        this.#isLive = true
      },
      refused: () => {},
    }
  }

  #seeded(connection: Connection, body: SubscriptionBody): void {
    const wanted = (listedCoins(body) ?? this.#world.coins).length
    let have = 0
    const { type: _, ...scope } = body
    const books = new BookReplicas(connection, scope as unknown as BookScope, {
      changed: ({ time }) => {
        this.#blockMs = Math.max(this.#blockMs, time)
        if (this.#isLive) return
        have = [...books.coins()].length
        if (have < wanted) return
        this.#isLive = true
        this.served.whole(bodyKey(body), Date.now())
      },
    })
    this.#read = (coin) => books.get(coin)
    this.#named = () => books.coins()
  }

  #diffs(connection: Connection, body: SubscriptionBody): void {
    const wanted = listedCoins(body) ?? this.#world.coins
    const live = new Set<string>()
    const { type: _, ...scope } = body
    const books = new DiffBooks(connection, this.#runtime, scope as unknown as BookScope, {
      changed: ({ coin, time }) => {
        this.#blockMs = Math.max(this.#blockMs, time)
        live.add(coin)
        this.#isLive = live.size >= wanted.length
      },
      gap: (coin, why) => {
        if (why.startsWith('checksum')) this.ends.checksum = (this.ends.checksum ?? 0) + 1
        live.delete(coin)
        if (this.#isLive) this.#lostMs = Date.now()
        this.#isLive = false
      },
    })
    this.#read = (coin) => (books.get(coin)?.live ? books.get(coin) : undefined)
    this.#named = () => books.coins()
  }

  #frame(text: string): void {
    const frame = this.#capture && bookFrame(text)
    if (frame) this.#capture!.before(frame.height, frame.coins)
  }

  #lost(code: number | null): void {
    this.ends[String(code)] = (this.ends[String(code)] ?? 0) + 1
    this.#capture?.lost()
    if (this.#isLive) this.#lostMs = Date.now()
    this.#isLive = false
  }

  #badSince(now: number): number | null {
    if (!this.#isLive) return this.#lostMs
    const isOld = this.#blockMs > 0 && now - this.#blockMs > STALE_MS
    return isOld ? this.#blockMs : null
  }

  #ask(asked: number): void {
    if (this.#ended) return
    const { coins, wallets, endpoint } = this.#world
    const coin = coins[(this.plan.number + asked) % Math.min(40, coins.length)]!
    const user = wallets[(this.plan.number + asked) % wallets.length]!
    const questions = [
      { type: 'l2Book', coin },
      { type: 'allMids' },
      { type: 'l2BookDiffSnapshot', coin },
      { type: 'recentTrades', coin },
      { type: 'meta' },
      { type: 'clearinghouseState', user },
    ]
    const body = JSON.stringify(questions[(this.plan.number + asked) % questions.length])
    const next = (isWell: boolean) => {
      if (this.#isLive && !isWell) this.#lostMs = Date.now()
      this.#isLive = isWell
      setTimeout(() => this.#ask(asked + 1), isWell ? INFO_EVERY_MS : INFO_RETRY_MS)
    }
    this.#runtime.post(infoUrl(endpoint), endpoint.key, body).then(
      ({ status }) => {
        if (status !== 200) this.ends[String(status)] = (this.ends[String(status)] ?? 0) + 1
        next(status === 200)
      },
      () => next(false),
    )
  }

  #rest(): void {
    this.#every(SLOW_READS_MS + SLOW_RESTS_MS, () => {
      const socket = this.#socket
      socket?.pause()
      setTimeout(() => socket?.resume(), SLOW_RESTS_MS)
    })
  }

  /** At a time of its own of each stretch, until it ends. */
  #every(ms: number, run: () => void): void {
    setTimeout(
      () => {
        if (this.#ended) return
        run()
        this.#every(ms, run)
      },
      ms * (0.1 + 0.9 * Math.random()),
    )
  }
}
