// BlockLog decides the order of blocks, and is the only object that acknowledges them. It is a thin shell: chain.ts
// judges frames, retained-blocks.do.ts stores them, book-seeds.do.ts accepts snapshots, and feeder-trust.do.ts decides
// which feeder to believe. A block is sent first, then stored, then acknowledged, so that no write delays a frame.

import { DurableObject } from 'cloudflare:workers'
import type { Coin } from '../core/coin.ts'
import { countStart, reportCounters } from '../core/counter-reports.client.ts'
import { Objects, regionOfRelay } from '../core/objects.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import { type AgeReport, ReportedAges } from '../protocol/feed/ages.ts'
import type { ArchivePage, ArchiveRequest, FilesReport } from '../protocol/feed/archive-api.ts'
import type { DurablePage, DurableRequest, FillsRequest, FillsResponse } from '../protocol/feed/durable-api.ts'
import {
  type AttachRequest,
  type AttachResponse,
  type BlockLogApi,
  type BookMismatch,
  type EventsRequest,
  type EventsResponse,
  LOG_API_VERSION,
} from '../protocol/feed/log-api.ts'
import type { BlockFrame, FeederFrame, Hello } from '../protocol/feed/protocol.ts'
import type { GapReason, SkippedHeights } from '../protocol/feed/status-shape.ts'
import { ArchiveService } from './archive-service.do.ts'
import { BlockLogStore } from './block-log.store.ts'
import { BookSeeds } from './book-seeds.do.ts'
import { gapAfterGone, gapReason, judgeBlock } from './chain.ts'
import { FeederLinks, type FeederSocket } from './feeder-links.do.ts'
import { FeederTrust } from './feeder-trust.do.ts'
import { readFeederFrame } from './frame-check.ts'
import { repairOf } from './gap-repair.ts'
import { L4SeedRelay } from './l4-seed-relay.ts'
import { OrderInterests } from './order-interests.do.ts'
import { PipelineService } from './pipeline-service.do.ts'
import { FULL_CHARS, maxUnread, SLOW_CHARS, SLOW_MS } from './reader-link.ts'
import { ReaderLinks } from './reader-links.do.ts'
import { RetainedBlocks } from './retained-blocks.do.ts'
import { encodeBlock, gapText } from './segment.ts'
import { verdict } from './verdict.ts'

/** Maximum wait for hubs before the welcome. After 5 s, a feeder considers the connection dead. */
const HUBS_WAIT_MS = 2000

export class BlockLog extends DurableObject<Cloudflare.Env> implements BlockLogApi {
  readonly #settings: LiveSettings
  readonly #objects: Objects
  readonly #store: BlockLogStore
  readonly #blocks: RetainedBlocks
  readonly #feeders: FeederLinks
  readonly #interests: OrderInterests
  readonly #readers: ReaderLinks
  readonly #bookSeeds: BookSeeds
  readonly #trust: FeederTrust
  readonly #l4Seeds: L4SeedRelay
  readonly #archive: ArchiveService
  readonly #pipelines: PipelineService
  readonly #ages = new ReportedAges()
  #blockCount = 0

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    countStart('BlockLog')
    this.#settings = readVariables(LiveSettings, env)
    this.#objects = new Objects(env, this.#settings)
    this.#store = new BlockLogStore(ctx.storage)
    this.#feeders = new FeederLinks(ctx, this.#store, Date.now())
    this.#blocks = new RetainedBlocks(ctx, this.#store, (height) => {
      this.#feeders.broadcast({ type: 'ack', height })
      this.#archive.wake(Date.now())
      this.#pipelines.onDurable(Date.now())
    })
    const waitUntil = (work: Promise<unknown>) => this.ctx.waitUntil(work)
    this.#archive = new ArchiveService({ env, objects: this.#objects, blocks: this.#blocks, waitUntil })
    this.#interests = new OrderInterests((frame) => this.#feeders.broadcast(frame), Date.now())
    this.#pipelines = new PipelineService(this.#blocks, this.#interests, async () => this.#objects.follower().advance())
    this.#readers = new ReaderLinks(this.#objects, this.#blocks.backlog, this.#interests, ({ kind }) => {
      if (kind.kind === 'hub') this.ctx.waitUntil(this.#objects.wakeHub(kind.index))
    })
    this.#l4Seeds = new L4SeedRelay(
      (coin, text) => this.#readers.get(this.#objects.orderBookName(coin))?.sendFrame(text),
      (coin) => this.#feeders.rowSenders(coin),
    )
    this.#trust = new FeederTrust(this.#blocks, this.#feeders, this.#readers)
    this.#bookSeeds = new BookSeeds({
      blocks: this.#blocks,
      feeders: this.#feeders,
      readers: this.#readers,
      store: this.#store,
      trust: this.#trust,
      recordGap: (gap) => this.#recordGap(gap, 'seeded_above'),
    })
    // If the log is empty, notify the hubs, which creates them.
    if (this.#blocks.durable === null) this.ctx.waitUntil(this.#objects.wakeHubs(this.#settings.BOOK_HUBS))
  }

  /** `GET /feed`, which the gateway has already authorized: opens the socket of one feeder. */
  override fetch(request: Request): Response {
    if (request.headers.get('upgrade') !== 'websocket')
      return new Response('Send a WebSocket upgrade request.', { status: 426 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.#feeders.accept(server)
    return new Response(null, { status: 101, webSocket: client })
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    // Frames that were in flight when the connection closed may be from before a reset.
    if (socket.readyState !== WebSocket.OPEN) return
    const feeder = this.#feeders.feederOf(socket)
    feeder.recordActivity({ heardMs: Date.now() })
    const frame = readFeederFrame(message)
    if (!frame.ok) return feeder.reject(...frame.error)
    this.#handleFrame(feeder, frame.value, message as string)
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    const feeder = this.#feeders.feederOf(socket)
    this.#feeders.onClose(socket, code, reason, Date.now())
    this.#l4Seeds.onFeederLeft(feeder)
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket, 1006, '')
  }

  #handleFrame(feeder: FeederSocket, frame: FeederFrame, text: string): void {
    if (frame.type === 'hello') return this.#onHello(feeder, frame)
    if (feeder.state === null) return feeder.reject('type', 'send a hello frame first')
    const now = Date.now()
    if (frame.type === 'pulse') {
      this.#readers.tick(this.#blocks.chain.height, this.#blocks.time ?? 0, now)
      this.#pipelines.tick(now)
      this.#interests.tick(now)
      return feeder.recordActivity({ heardMs: now, pulse: { atMs: now, said: frame } })
    }
    feeder.lastFrameMs = now
    if (frame.type === 'verified') return this.#trust.onVerified(feeder, frame)
    if (frame.type === 'l4') return this.#l4Seeds.onPart(feeder, frame, text)
    if (frame.type === 'gone') return this.#onGone(feeder, frame.first)
    if (frame.type === 'snapshot') {
      this.#applyBackpressure(feeder, now)
      return this.#bookSeeds.onPart(feeder, frame)
    }
    feeder.seed = null
    const whole = feeder.joiner.push(frame, text.length)
    if (whole === null) return
    if ('refused' in whole) return feeder.reject('part', whole.refused)
    this.#onBlock(feeder, whole)
  }

  #onHello(feeder: FeederSocket, hello: Hello): void {
    const { CHAIN } = this.#settings
    if (hello.chain !== CHAIN)
      return feeder.reject(
        'chain',
        `this gateway carries ${CHAIN}, not ${JSON.stringify(hello.chain)}. Start the feeder with --chain ${CHAIN}`,
      )
    this.ctx.waitUntil(this.#sendWelcome(feeder, hello, this.#objects.wakeHubs(this.#settings.BOOK_HUBS)))
  }

  /**
   * Sends the welcome after hubs have attached. A hub that attaches during a snapshot misses parts of it and has to
   * request it again.
   */
  async #sendWelcome(feeder: FeederSocket, hello: Hello, woken: Promise<unknown>): Promise<void> {
    // If this object is lost, blocks that are not durable may be lost with it. The welcome therefore names the durable
    // height.
    this.#blocks.flush()
    await this.#blocks.awaitDurable()
    if (!this.#blocks.chain.booksKnown) await Promise.race([woken, scheduler.wait(HUBS_WAIT_MS)])
    for (const frame of this.#interests.initialFrames()) feeder.send(frame)
    this.#feeders.greet(feeder, hello, { ...this.#blocks.chain, height: this.#blocks.durable }, Date.now())
    this.#l4Seeds.onFeederJoined(feeder)
  }

  #onGone(feeder: FeederSocket, first: number): void {
    if (!feeder.state || feeder.state.conflict) return
    const now = Date.now()
    const others = this.#blocks.isStalled(now) ? [] : this.#feeders.activeOthers(feeder, now)
    const gap = gapAfterGone(this.#blocks.chain, others, first)
    if (gap) this.#recordGap(gap, gapReason(feeder.state, gap.from, feeder.wasRejected))
    feeder.update({ first })
  }

  /** Records heights that will never arrive. The books are unknown from there to the next seed. */
  #recordGap(gap: SkippedHeights, why: GapReason): void {
    this.#blocks.skip(gap, why)
    const text = gapText(gap.from, gap.to)
    // Readers that are up to date get the gap now. A reader that is behind gets it when it reaches these heights.
    for (const reader of this.#readers) if (reader.height === gap.from - 1) reader.sendFrame(text, gap.to + 1)
  }

  /**
   * The path of a block through the log. It is sent first, then stored, then acknowledged, so that no write delays a
   * frame:
   *
   *     feeder ──▶ judge ──take──▶ encode once ──▶ readers ──▶ store, a segment a second ──▶ ack, when durable
   *                  ├─ ignore        (the feeder is in conflict, or was asked for an earlier block)
   *                  ├─ resend        (heights are missing)
   *                  └─ acknowledge   (already taken: the copies are compared)
   */
  #onBlock(feeder: FeederSocket, frame: BlockFrame): void {
    const now = Date.now()
    feeder.recordActivity({ heardMs: now, blockMs: now })
    feeder.update({ head: Math.max(frame.height, feeder.state?.head ?? 0) })
    const decision = judgeBlock(this.#blocks.chain, feeder.state, frame)
    if (decision.do === 'ignore') return
    if (decision.do === 'resend') return this.#trust.requestResend(feeder, decision.from)
    const { type: _, part: __, parts: ___, ...block } = frame
    if (frame.height >= (feeder.state?.awaiting ?? 0)) feeder.update({ awaiting: null })
    if (decision.do === 'acknowledge') return this.#trust.compare(feeder, block)
    // The block is skipped for now. If no other feeder sends it, it is requested from this feeder again.
    if (this.#bookSeeds.areArriving(feeder, now) || this.#trust.shouldWaitForOther(feeder, block, now)) return
    if (this.#applyBackpressure(feeder, now) > FULL_CHARS) return
    this.#feeders.leader = feeder.name
    feeder.wasRejected = false

    const { epoch, height, booksKnown: wereKnown } = this.#blocks.chain
    const booksKnown = epoch !== null && wereKnown && block.books !== null
    const optional = { ...this.#trust.optionalPartsFor(feeder, block), l4: this.#l4Seeds.acceptRows(block.l4) }
    const { time, fills } = block
    const known = { height: block.height, time, fills, ...optional, books: booksKnown ? block.books : null }
    const texts = encodeBlock(known, booksKnown ? epoch : null, this.#blocks.builderAttributions(fills))
    if (block.books && !booksKnown) this.#bookSeeds.requestAll()
    if (booksKnown) this.#bookSeeds.addCoins(block.books ?? [])
    this.#trust.onTaken(texts, feeder)
    this.#blockCount++
    for (const reader of this.#readers) {
      if (height === null) reader.beginAt(block.height)
      reader.offer(texts)
    }
    this.#readers.onSent(now)
    this.#blocks.append(texts, booksKnown)
  }

  /** Returns the unread characters of the slowest reader. Pauses the feeder if there are too many. */
  #applyBackpressure(feeder: FeederSocket, now: number): number {
    const unread = this.#archive.isFull(now) ? Number.POSITIVE_INFINITY : maxUnread(this.#readers, now)
    if (unread > SLOW_CHARS) feeder.pause(SLOW_MS, now)
    return unread
  }

  async attach(request: AttachRequest): Promise<AttachResponse> {
    const socket = await this.#readers.dial(request)
    // Do not await below: the link must begin at the position that the response names.
    const { epoch, height, booksKnown } = this.#blocks.chain
    const { cursor, reader: kind } = request
    const head = height ?? -1
    const next = cursor ? Math.min(cursor.height, head) + 1 : head + 1
    const isSameEpoch = cursor === null || kind.kind !== 'hub' || cursor.epoch === epoch
    const isHeld = cursor === null || this.#blocks.has(kind.kind === 'hub' ? 'books' : 'events', next)
    const lost = !isSameEpoch || !isHeld
    const from = lost ? head + 1 : next
    const reader = this.#readers.open(request, from, socket, head)
    const coins = this.#bookSeeds.attachInfo(reader, cursor?.height ?? null)
    return { v: LOG_API_VERSION, epoch: booksKnown ? epoch : null, height, from, lost, ...coins }
  }

  async reportMismatch(found: BookMismatch): Promise<void> {
    this.#trust.onDiffering(found)
  }

  async reseed(coins: readonly string[] | null, reason: string): Promise<void> {
    this.#bookSeeds.request(coins, reason)
  }

  async reseedL4(coin: Coin, isWrong: boolean): Promise<void> {
    // Tell the feeders about the interests now: a feeder answers a request only for coins that it knows are wanted.
    this.#interests.notifyFeeders()
    this.#l4Seeds.request(coin, isWrong)
  }

  async status(): ReturnType<BlockLogApi['status']> {
    reportCounters(this.ctx, this.env)
    const nowMs = Date.now()
    const { CHAIN, FEED_REGION } = this.#settings
    const { chain, durable, time, blockMs, isFull } = this.#blocks
    const position = { ...chain, durable, time, blockMs }
    const feeders = this.#feeders.views(nowMs)
    return {
      v: LOG_API_VERSION,
      ...verdict({ ...position, isFull }, feeders, nowMs),
      ...position,
      feeders,
      regions: this.#ages.view(nowMs, regionOfRelay),
      readers: [...this.#readers].map(({ name, height }) => ({ name, height: height < 0 ? null : height })),
      chain: CHAIN,
      feedRegion: FEED_REGION,
      archive: this.#archive.view(),
      gaps: this.#store.gaps(20).map((gap) => ({ ...gap, ...repairOf(gap, this.#archive.outcomes) })),
      ...this.#trust.view,
      blocksSinceWake: this.#blockCount,
    }
  }

  async ages(report: AgeReport): Promise<void> {
    this.#ages.record(report, Date.now())
  }

  async events(request: EventsRequest): Promise<EventsResponse> {
    return { v: LOG_API_VERSION, ...this.#blocks.eventsFrom(request, Date.now()) }
  }

  async fills(request: FillsRequest): Promise<FillsResponse> {
    return { v: LOG_API_VERSION, ...this.#blocks.fillsBefore(request, Date.now()) }
  }

  async durable(request: DurableRequest): Promise<DurablePage> {
    return { v: LOG_API_VERSION, ...this.#pipelines.page(request, Date.now()) }
  }

  async archive(request: ArchiveRequest): Promise<ArchivePage> {
    return this.#archive.page(request, this.#bookSeeds, Date.now())
  }

  async follow(): Promise<void> {
    this.#pipelines.follow(Date.now())
  }

  async files(report: FilesReport): Promise<void> {
    this.#archive.files(report)
  }

  async reset(): Promise<void> {
    const cleared = this.#blocks.reset()
    this.#trust.clear()
    this.#bookSeeds.clear()
    this.#l4Seeds.clear()
    this.#readers.closeAll()
    this.#feeders.closeAll(1012, 'the feed was reset', Date.now())
    await cleared
    this.#pipelines.onDurable(Date.now())
  }
}
