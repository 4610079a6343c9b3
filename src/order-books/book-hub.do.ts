// BookHub: the books of one shard of coins. A thin shell around shard-books.ts. The hub accepts frames from the log,
// sends each relay one frame per block, and serves snapshots. It sends a block's frames before it writes checkpoints.

import { DurableObject } from 'cloudflare:workers'
import { type Coin, type MarketType, marketTypeOf, shardOf } from '../core/coin.ts'
import { countStart, reportCounters } from '../core/counter-reports.client.ts'
import { orReject } from '../core/deadline.ts'
import { objectName } from '../core/object-name.store.ts'
import { Objects, shardOfHub } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import {
  type HubFrame,
  type HubSeed,
  type HubVerified,
  LINK_HEADER,
  LOG_API_VERSION,
} from '../protocol/feed/log-api.ts'
import {
  type BookHubApi,
  type BookInterest,
  type BookSnapshot,
  HUB_API_VERSION,
  type HubBooks,
  type JoinResponse,
  type RelayAttachRequest,
  type RelayAttachResponse,
  type SnapshotResponse,
  type TopOfBook,
  type ViewsResponse,
} from '../protocol/hub/hub-api.ts'
import type { CoinFragment, HubTick } from '../protocol/hub/hub-link.ts'
import { bookPage } from './book-page.ts'
import { CheckpointStore } from './checkpoint.store.ts'
import type { Checkpoint } from './coin-book.ts'
import { LogLink } from './log-link.do.ts'
import { encodeAll } from './relay-link.ts'
import { RelayLinks } from './relay-links.do.ts'
import { Ring } from './ring.ts'
import { Rotation } from './rotation.ts'
import { ShardBooks } from './shard-books.ts'
import { ShardViews } from './shard-views.ts'
import { ViewInterests } from './view-interests.ts'

/** Timeout of the log's response. It is shorter than the time a relay waits for its link. */
const ATTACH_MS = 4000
/** Maximum length of the snapshots in one response to a relay, in characters. */
const JOIN_CHARS = 1024 * 1024
/** Time after which a reseed that did not arrive is requested again. */
const RESEED_RETRY_MS = 3000

export class BookHub extends DurableObject<Cloudflare.Env> implements BookHubApi {
  readonly #objects: Objects
  readonly #store: CheckpointStore
  readonly #books = new ShardBooks()
  readonly #views = new ShardViews(this.#books)
  readonly #ring = new Ring()
  readonly #rotation = new Rotation()
  readonly #relays: RelayLinks
  readonly #name: string
  readonly #index: number
  readonly #shards: number
  readonly #log: LogLink
  #reseedRequestedMs = 0
  /**
   * First height at which the books can be served. Below it, after a restart, coins may have books of different
   * heights, or relays may already have later ones.
   */
  #completeFrom = -1

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    countStart('BookHub')
    this.#name = objectName(ctx)
    const settings = readVariables(LiveSettings, env)
    this.#index = shardOfHub(this.#name)
    this.#shards = settings.BOOK_HUBS
    this.#objects = new Objects(env, settings)
    this.#store = new CheckpointStore(ctx.storage)
    this.#relays = new RelayLinks(this.#objects, this.#index, this.#views)
    this.#log = new LogLink(ctx, {
      attach: () => this.#attach(),
      onFrame: (text) => this.#apply(JSON.parse(text) as HubFrame),
      onSettled: () => this.#requestRepair(),
    })
    this.#restore()
  }

  #restore(): void {
    const stored = this.#store.load()
    const stamp = this.#store.stamp()
    if (stamp?.shards !== this.#shards || stamp.index !== this.#index) return
    this.#books.restore(stamp.epoch, stamp.seedHeight, stored)
  }

  async wake(): Promise<void> {
    await this.#log.ensureAttached()
  }

  /** `GET /link`: the log dials in. Only our own objects can reach this. */
  override async fetch(request: Request): Promise<Response> {
    if (!request.headers.has(LINK_HEADER)) return new Response('not a link', { status: 404 })
    return this.#log.accept()
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#log.onMessage(socket, message)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#log.onClose(socket, code)
  }

  override webSocketError(): void {
    this.#log.reattach()
  }

  override async alarm(): Promise<void> {
    if (this.#exists) await this.#log.onAlarm()
    reportCounters(this.ctx, this.env)
  }

  /** False without a name, and for a hub beyond the number of shards, which may have existed before a change. */
  get #exists(): boolean {
    return this.#index < this.#shards
  }

  /** Without this check, such a hub would report every coin as unknown, and callers would pay for that answer. */
  #checkExists(): void {
    if (this.#exists) return
    throw new Error(`hub ${this.#name || '(no name)'} does not exist: BOOK_HUBS is ${this.#shards} here`)
  }

  async #attach(): Promise<void> {
    this.#checkExists()
    const { epoch, height } = this.#books
    const cursor = epoch !== null && height !== null ? { epoch, height } : null
    const reader = { kind: 'hub', index: this.#index, shards: this.#shards } as const
    const request = this.#objects.log().attach({ v: LOG_API_VERSION, name: this.#name, reader, cursor, follows: true })
    const answer = await orReject(request, ATTACH_MS, after)
    // True if the log knows books that this hub lacks, and no seed with those books is on its way.
    const { ready } = this.#books
    const lacksBooks = cursor === null || (answer.epoch !== null && !ready)
    // While the attach was pending, the previous link may have brought the books up to the start of this link.
    const isCaughtUp = ready && this.#books.epoch === answer.epoch && (this.#books.height ?? -1) >= answer.from - 1
    if ((answer.lost || lacksBooks) && !isCaughtUp) {
      this.#ring.clear()
      this.#books.resetTo(answer.epoch, answer.height === null ? null : answer.from - 1, answer.coins)
      if (answer.epoch !== null) this.#beginEpoch(answer.epoch, answer.from - 1)
    } else {
      this.#books.expectCoins(answer.coins)
      this.#store.drop(this.#books.invalidate(answer.repaired ?? [], height ?? -1))
    }
    this.#completeFrom = Math.max(this.#completeFrom, this.#books.completeAt, answer.height ?? -1)
  }

  #beginEpoch(epoch: string, seedHeight: number): void {
    this.#completeFrom = -1
    this.#rotation.clear()
    this.#store.begin({ shards: this.#shards, index: this.#index, epoch, seedHeight })
  }

  get #isReady(): boolean {
    return this.#books.ready && (this.#books.height ?? -1) >= this.#completeFrom
  }

  /**
   * The path of a block through the shard:
   *
   *     log ──frame──▶ books.apply ──fragments──▶ views touched ──▶ ring (for later relays), then relays (one string
   *                      │                                          per coin) ──▶ checkpoints that are due
   *                      ├─ duplicate: nothing
   *                      └─ heights are missing: the hub attaches again, and the log resends them
   */
  #apply(frame: HubFrame): void {
    if (frame.t === 'gap') return this.#books.skip(frame.to)
    if (frame.t === 'tick') return this.#tick()
    if (frame.t === 'verified') return this.#verify(frame)
    if (frame.t === 'seed') return this.#seed(frame)
    const outcome = this.#books.apply(frame)
    if (outcome.kind === 'duplicate') return
    if (outcome.kind === 'missing') return this.#log.reattach()
    this.#views.touch([...outcome.fragments.map(({ coin }) => coin), ...Object.keys(frame.px)])
    this.#publish(this.#relays.withChecksums(outcome.fragments), frame.height, frame.time)
    // The log knows the books, but this hub missed them. The hub attaches again to get them.
    if (frame.epoch !== null && !this.#books.ready) return this.#log.reattach()
    this.#requestRepair()
    this.#checkpoint(outcome.fragments, frame.height)
  }

  /** Keeps relays from treating an idle link as dead. */
  #tick(): void {
    const { height, time, ready } = this.#books
    if (height === null) return
    const tick: HubTick = { v: HUB_API_VERSION, epoch: ready ? this.#books.epoch : null, height, time }
    for (const relay of this.#relays) relay.send(tick, [])
  }

  /** Compares the books at a height with those that a feeder verified against its node. */
  #verify({ feeder, height, books }: HubVerified): void {
    const wrong = this.#books.differing(height, books)
    if (wrong.length === 0) return
    const report = this.#objects.log().reportMismatch({ v: LOG_API_VERSION, feeder, height, coins: wrong })
    this.ctx.waitUntil(report.catch(() => undefined))
  }

  #publish(fragments: readonly CoinFragment[], height: number, time: number): void {
    const epoch = this.#books.ready ? this.#books.epoch : null
    const tick: HubTick = { v: HUB_API_VERSION, epoch, height, time }
    if (height > this.#books.completeAt) this.#ring.push({ tick, fragments })
    this.#relays.publish(tick, encodeAll(fragments), this.#isReady)
  }

  #seed(frame: HubSeed): void {
    const coins = this.#books.seed(frame)
    if (!coins) return
    this.#views.touch(this.#books.coins())
    if (frame.scope === 'all') this.#beginEpoch(frame.epoch, frame.height)
    else this.#store.drop(coins)
    for (const coin of coins) this.#rotation.markChanged(coin, frame.height)
  }

  /** Requests the books of coins that have changes but no book. */
  #requestRepair(): void {
    const { suspects } = this.#books
    // While the hub is catching up, later blocks may bring the missing books, and a repair at the log's height would
    // not fit.
    if (suspects.length === 0 || !this.#isReady || Date.now() - this.#reseedRequestedMs < RESEED_RETRY_MS) return
    this.#reseedRequestedMs = Date.now()
    this.ctx.waitUntil(
      this.#objects
        .log()
        .reseed(suspects, 'a hub has lost these books')
        .catch(() => undefined),
    )
  }

  #checkpoint(changed: readonly CoinFragment[], height: number): void {
    for (const { coin } of changed) this.#rotation.markChanged(coin, height)
    const clean = this.#rotation.cleanUpTo(height)
    const due = this.#rotation.due(Date.now(), height)
    if (due.length === 0) return
    const checkpoints: Checkpoint[] = []
    for (const [coin, since] of due) {
      const checkpoint = this.#books.checkpoint(coin)
      if (checkpoint) checkpoints.push(checkpoint)
      else this.#rotation.markChanged(coin, since)
    }
    this.#store.save(checkpoints.map((checkpoint) => ({ ...checkpoint, clean })))
  }

  async snapshot(coin: Coin, depth?: number): Promise<SnapshotResponse> {
    this.#checkExists()
    // A Worker configured with a different number of shards must not conclude that the coin does not exist.
    if (shardOf(coin, this.#shards) !== this.#index)
      throw new Error(`hub ${this.#name} does not serve this coin: BOOK_HUBS is ${this.#shards} here`)
    await this.#log.ensureAttached()
    const v = HUB_API_VERSION
    if (!this.#isReady) return { v, ok: false, reason: 'not_ready' }
    const snapshot = this.#snapshotOf(coin, depth)
    if (snapshot) return { v, ok: true, snapshot }
    return { v, ok: false, reason: this.#books.isSettled(coin) ? 'unknown_coin' : 'not_ready' }
  }

  #snapshotOf(coin: Coin, depth?: number): BookSnapshot | null {
    const { time, height, epoch } = this.#books
    const book = this.#books.encode(coin, depth)
    return book && height !== null && epoch !== null ? { coin, time, height, epoch, ...book } : null
  }

  async tops(): Promise<{ v: number; height: number; time: number; tops: TopOfBook[] } | null> {
    await this.#log.ensureAttached()
    const { height, time } = this.#books
    return this.#isReady && height !== null ? { v: HUB_API_VERSION, height, time, tops: [...this.#books.tops()] } : null
  }

  async books(after: string | null): Promise<HubBooks> {
    await this.#log.ensureAttached()
    const { epoch, time } = this.#books
    return { v: HUB_API_VERSION, epoch: this.#isReady ? epoch : null, time, ...bookPage(this.#books, after) }
  }

  async attach(request: RelayAttachRequest): Promise<RelayAttachResponse> {
    this.#checkExists()
    await this.#log.ensureAttached().catch(() => undefined)
    const link = this.#relays.open(request, await this.#relays.dial(request.relay))
    // Do not await below: the missed blocks must end where the link begins.
    const missed = request.cursor === null ? [] : this.#ring.missed(request.cursor, this.#books)
    for (const { tick, fragments } of missed ?? []) link.send(tick, encodeAll(fragments))
    const { ready, epoch, height } = this.#books
    if (request.cursor?.epoch === epoch) this.#completeFrom = Math.max(this.#completeFrom, request.cursor.height)
    return { v: HUB_API_VERSION, epoch: ready ? epoch : null, height, lost: missed === null }
  }

  async join(relay: string, coins: readonly string[], withBooks = true): Promise<JoinResponse> {
    await this.#log.ensureAttached()
    this.#relays.get(relay)?.addCoins(coins)
    const answer = { v: HUB_API_VERSION, ready: true, snapshots: [] as BookSnapshot[], unknown: [] as string[] }
    const isWaiting = !this.#isReady || !coins.every((coin) => this.#books.isSettled(coin))
    if (isWaiting || !this.#relays.get(relay)) return { ...answer, ready: false, rest: coins }
    if (!withBooks) return { ...answer, unknown: coins.filter((coin) => !this.#books.has(coin)), rest: [] }
    let chars = 0
    for (const [at, coin] of coins.entries()) {
      if (chars >= JOIN_CHARS) return { ...answer, rest: coins.slice(at) }
      const snapshot = this.#snapshotOf(coin)
      if (snapshot) answer.snapshots.push(snapshot)
      else answer.unknown.push(coin)
      chars += snapshot?.levels.length ?? 0
    }
    return { ...answer, rest: [] }
  }

  async joinTypes(relay: string, types: readonly MarketType[]): Promise<{ v: number; coins: string[] }> {
    await this.#log.ensureAttached()
    this.#relays.get(relay)?.addTypes(types)
    const coins = [...this.#books.coins(), ...this.#books.suspects]
    return { v: HUB_API_VERSION, coins: coins.filter((coin) => types.includes(marketTypeOf(coin))) }
  }

  async joinViews(relay: string, wants: readonly string[]): Promise<ViewsResponse> {
    await this.#log.ensureAttached()
    const { height, time } = this.#books
    const ready = this.#relays.addViews(relay, wants) && height !== null && this.#isReady
    const views = ready ? this.#views.renderAll(new ViewInterests(wants)) : []
    return { v: HUB_API_VERSION, ready, height: height ?? -1, time, views }
  }

  async setInterest(relay: string, interest: BookInterest): Promise<void> {
    this.#relays.setInterest(relay, interest)
  }
}
