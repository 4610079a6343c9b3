// One relay's subscriptions against scripted hubs and a scripted meter.

import { deflateRawSync } from 'node:zlib'
import type { Identity } from '../../src/accounts/identity.ts'
import type { ArchiveReader } from '../../src/archive/archive/archive-read.ts'
import { dexOf, marketTypeOf, shardOf } from '../../src/core/coin.ts'
import { nearestCoin } from '../../src/core/nearest.ts'
import { queryOf } from '../../src/info/queries/catalogue.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import { renderView, shapeOf } from '../../src/order-books/view.ts'
import { ViewInterests } from '../../src/order-books/view-interests.ts'
import type { BookSnapshot, JoinResponse, ViewsResponse } from '../../src/protocol/hub/hub-api.ts'
import type { CoinMark } from '../../src/protocol/hub/hub-link.ts'
import { BookFanout } from '../../src/relay/books/book-fanout.ts'
import type { BlockEvents, InfoRequest, L4Channel } from '../../src/relay/channel.ts'
import { CHANNELS } from '../../src/relay/channels/catalogue.ts'
import { EventFanout } from '../../src/relay/events/event-fanout.ts'
import type { HistoryResponse } from '../../src/relay/events/first-frames.ts'
import { L4Fanout } from '../../src/relay/l4/l4-fanout.ts'
import { Accounts } from '../../src/relay/minutes/account.ts'
import { Connection } from '../../src/relay/sockets/connection.ts'
import { StateFanout } from '../../src/relay/states/state-fanout.ts'
import { Subscriptions } from '../../src/relay/subscriptions/subscriptions.ts'
import { identityOf } from '../kit/identity.ts'
import { ModelStreams } from '../metering/streams/model-streams.ts'

const SHARDS = 2
export const identity = identityOf('entry', ['stream'], 'acme')
// biome-ignore lint/suspicious/noExplicitAny: frames of a test are looked into freely.
export type Frame = any

/** The book of every coin. */
const BOOK = LevelBook.of([[{ px: '99.0', sz: '1.0', n: 1 }], [{ px: '101.0', sz: '2.0', n: 2 }]])

/** Hubs with these coins, a meter with a balance, one socket. */
export class World {
  clock = { nowMs: 1_000_000 }
  height = 10
  eventsHeight = 11
  coins = ['BTC', 'ETH', 'SOL', '@1']
  ready = true
  /** Coins with fills in files. */
  traded: string[] = []
  /** Connections whose replays started or ended. */
  readonly playing: (readonly [id: string, isPlaying: boolean])[] = []
  /** Whether order-level books are ready, and how often that was polled. */
  ordersReady = true
  looks = 0
  readonly meter = new ModelStreams(100_000_000)
  meterDown = 0
  /** Delays the meter's reports. */
  meterGate: Promise<void> = Promise.resolve()
  /** Called while a hub joins, to interleave other events. */
  during: () => void = () => undefined
  /** Coins whose books were requested, and a delay of the responses. */
  readonly reads: string[] = []
  gate: Promise<void> = Promise.resolve()
  /** Info responses for first frames; the examples by default. */
  past: (question: InfoRequest) => HistoryResponse | null = ({ type, dex }) => {
    const { response } = queryOf(type)!.example
    return { body: JSON.stringify(dex === 'ALL_DEXES' ? { native: response } : response) }
  }
  /** Pending timers. */
  readonly timers: (() => void)[] = []
  /** Background work. */
  readonly work: Promise<unknown>[] = []
  /** View and checksum interests sent to hubs. */
  readonly wants = new ViewInterests()
  /** Number of view requests to hubs. */
  viewsAsked = 0
  /** Snapshots per hub response. */
  perAnswer = 100
  readonly log: string[] = []
  readonly frames: Frame[] = []
  closed: number | null = null
  readonly books = new BookFanout<Connection>(SHARDS, { heightOf: () => -1, onSent: () => undefined })
  readonly events = new EventFanout<Connection>(CHANNELS)
  readonly l4 = new L4Fanout<Connection>()
  readonly connection: Connection
  readonly states: StateFanout<Connection>
  readonly subscriptions: Subscriptions
  readonly accounts: Accounts

  /** `hasOrders`: false on a gateway without order-level books. */
  constructor(archive?: ArchiveReader, hasOrders = true) {
    const sink = {
      send: (text: string) => {
        const frame: Frame = JSON.parse(text)
        this.frames.push(frame)
        this.log.push(frame.data?.Snapshot ? `Snapshot ${frame.data.Snapshot.coin}` : frame.channel)
      },
      close: (code: number) => {
        this.closed = code
      },
    }
    this.connection = new Connection('c', { identity, terms: 0 }, sink, this.clock, (ended) => {
      this.subscriptions.onConnectionEnd(ended)
      this.accounts.of('acme').remove(ended)
    })
    this.accounts = new Accounts({
      relay: 'relay',
      life: 1,
      clock: this.clock,
      exchange: async (_, report) => {
        await this.meterGate
        if (this.meterDown-- > 0) throw new Error('the meter is down')
        const before = this.meter.charges.length
        const answer = this.meter.take(report, this.clock.nowMs)
        if (this.meter.charges.length > before) this.log.push('charge')
        return answer
      },
      refreshCallers: () => undefined,
    })
    this.connection.persist = () => void this.playing.push([this.connection.id, this.connection.isPlaying])
    this.accounts.of('acme').add(this.connection)
    let ids = 0
    const ports = {
      shards: SHARDS,
      clock: this.clock,
      accounts: this.accounts,
      digest: async (text: string) => text,
      books: {
        ensure: async () => undefined,
        join: async (hub: number, coins: readonly string[], withBooks: boolean) => this.#join(hub, coins, withBooks),
        joinTypes: async (hub: number, types: readonly string[]) => ({
          coins: this.coins.filter((coin) => shardOf(coin, SHARDS) === hub && types.includes(marketTypeOf(coin))),
        }),
        joinViews: async (hub: number, wants: readonly string[]) => this.#views(hub, wants),
      },
      l4: hasOrders
        ? {
            isReady: async () => {
              this.looks++
              return this.ready && this.ordersReady
            },
            fetch: async (coin: string, _: number, snapshot: L4Channel<unknown>['snapshot']) => {
              const place = { height: this.eventsHeight, time: 5, epoch: 'e' }
              return { position: place, text: snapshot(coin, place, ['[[],[]]']) }
            },
          }
        : null,
      archive: archive ?? null,
      newId: () => `s${ids++}`,
      hadTrades: async (coin: string) => this.traded.includes(coin),
      hasBook: async (coin: string) => (this.ready ? this.coins.includes(coin) : null),
      dexes: async () => [...new Set(this.coins.map(dexOf))],
      nearestCoin: async (coin: string) => nearestCoin(coin, this.coins),
      wait: async (ms: number) => {
        this.clock.nowMs += ms
        // Runs everything that is ready.
        await new Promise((resolve) => setImmediate(resolve))
      },
      ensureLog: async () => undefined,
      withLinks: <T>(run: () => Promise<T>) => run(),
      read: async (question: InfoRequest) => this.past(question),
      blockHeight: () => this.eventsHeight,
      events: async () => ({ v: 1, frames: null, first: null, head: null }),
      after: (_: number, run: () => void) => {
        this.timers.push(run)
        return () => undefined
      },
      deflate: async (text: string) => deflateRawSync(text).toString('base64'),
      onDeflateError: () => undefined,
      waitUntil: (work: Promise<unknown>) => void this.work.push(work),
      save: () => undefined,
      forget: () => undefined,
      onError: (_: unknown, error: unknown) => {
        throw error
      },
    }
    this.states = new StateFanout(ports, this.events)
    this.subscriptions = new Subscriptions(ports, this)
  }

  /** Time passes, with a check every five seconds. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 5000) {
      this.clock.nowMs += Math.min(5000, left)
      await this.tick()
    }
  }

  async tick(): Promise<void> {
    this.accounts.tick()
    await this.accounts.settled()
    await this.connection.drained()
  }

  async #join(hub: number, coins: readonly string[], withBooks: boolean): Promise<JoinResponse> {
    this.during()
    if (withBooks) {
      this.reads.push(...coins)
      await this.gate
    }
    if (!this.ready) return { v: 1, ready: false, snapshots: [], unknown: [], rest: coins }
    const present = coins.filter((coin) => withBooks && this.coins.includes(coin) && shardOf(coin, SHARDS) === hub)
    const snapshot = (coin: string): BookSnapshot => {
      return { coin, time: 0, height: this.height, epoch: 'e', seq: this.height, levels: '[[],[]]' }
    }
    return {
      v: 1,
      ready: true,
      snapshots: present.slice(0, this.perAnswer).map(snapshot),
      unknown: coins.filter((coin) => !this.coins.includes(coin)),
      rest: present.slice(this.perAnswer),
    }
  }

  #views(hub: number, wants: readonly string[]): ViewsResponse {
    this.viewsAsked++
    this.wants.add(wants)
    const target = new ViewInterests(wants)
    const own = this.ready ? this.coins.filter((coin) => shardOf(coin, SHARDS) === hub) : []
    const views = own.flatMap((coin) =>
      target.of(coin).map((view) => ({ view, coin, piece: renderView(shapeOf(view), BOOK, null) })),
    )
    return { v: 1, ready: this.ready, height: this.height, time: 7, views }
  }

  async subscribe(subscription: { type: string } & Record<string, unknown>): Promise<void> {
    await this.subscriptions.subscribe(this.connection, { method: 'subscribe', subscription })
    await this.subscriptions.settled()
    // Rows of a coin come as soon as it is subscribed.
    if (this.l4.size > 0)
      this.eventBlock(
        {},
        this.coins.map((coin) => [coin, '']),
      )
    await Promise.all(this.work.splice(0))
  }

  /** The events of the next block. */
  eventBlock(events: Partial<BlockEvents>, rows: readonly (readonly [coin: string, rows: string])[] = []): void {
    const height = ++this.eventsHeight
    const block = { v: 1, t: 'events', height, time: 5, fills: [], ledger: [], ...events } as const
    this.subscriptions.deliver(block, new Map(rows))
  }

  unsubscribe(subscription: { type: string }): void {
    this.subscriptions.unsubscribe(this.connection, { method: 'unsubscribe', subscription })
  }

  /** The coin's hub sends a new view. */
  shows(view: string, coin: string, piece: string, time: number): void {
    const frame = { v: 1, epoch: 'e', height: ++this.height, time, coins: [], views: [{ view, coin, piece }] }
    this.books.push(shardOf(coin, SHARDS), frame, this.clock.nowMs)
  }

  block(coins: readonly string[], mark: CoinMark = '='): void {
    this.height++
    for (let hub = 0; hub < SHARDS; hub++) {
      const own = coins.filter((coin) => shardOf(coin, SHARDS) === hub)
      const entries = own.map((coin) => {
        return { mark, coin, prevSeq: 0, levels: '[[],[]]', ...(this.wants.needsChecksum(coin) && { checksum: 7 }) }
      })
      this.books.push(hub, { v: 1, epoch: 'e', height: this.height, time: 0, coins: entries }, this.clock.nowMs)
    }
  }

  updates(): [number, string[]][] {
    return this.frames
      .filter(({ data }) => data?.Updates)
      .map(({ data }) => [data.Updates.block_height, data.Updates.book_diffs.map((d: Frame) => d.coin).sort()])
  }
}

/** Another socket, of the world's account or of another one. */
export class Client {
  readonly frames: Frame[] = []
  readonly connection: Connection
  readonly #world: World
  closed: number | null = null
  onFrame: () => void = () => undefined

  constructor(world: World, more: Partial<Identity>) {
    this.#world = world
    const own = { ...identity, ...more }
    const sink = {
      send: (text: string) => {
        this.frames.push(JSON.parse(text))
        this.onFrame()
      },
      close: (code: number) => {
        this.closed = code
      },
    }
    this.connection = new Connection('d', { identity: own, terms: 0 }, sink, world.clock, (ended) => {
      world.subscriptions.onConnectionEnd(ended)
      world.accounts.of(own.account).remove(ended)
    })
    world.accounts.of(own.account).add(this.connection)
  }

  subscribe(subscription: { readonly type: string; readonly coin?: string }): Promise<void> {
    return this.#world.subscriptions.subscribe(this.connection, { method: 'subscribe', subscription })
  }
}
