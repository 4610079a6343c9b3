// BlockLog: the one place where the order of blocks is decided, and the only one that acknowledges.
// A thin shell of its parts: chain.ts judges, held-blocks.do.ts stores and knows what is durable, whole-books.do.ts takes whole
// books, feeder-trust.do.ts says who is believed. Send first, then persist, then acknowledge: no write holds a frame back.

import { DurableObject } from 'cloudflare:workers'
import type { Coin } from '../core/coin.ts'
import { Objects, regionOfRelay } from '../core/objects.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import { type AgeReport, ReportedAges } from '../protocol/feed/ages.ts'
import type { ArchivePage, ArchiveRequest, FilesReport } from '../protocol/feed/archive-api.ts'
import type { DurablePage, DurableRequest, FillsAnswer, FillsRequest } from '../protocol/feed/durable-api.ts'
import {
  type AttachAnswer,
  type AttachRequest,
  type BlockLogApi,
  type Differing,
  type EventsAnswer,
  type EventsRequest,
  LOG_API_VERSION,
} from '../protocol/feed/log-api.ts'
import type { BlockFrame, FeederFrame, Hello } from '../protocol/feed/protocol.ts'
import type { GapReason, SkippedHeights } from '../protocol/feed/status-shape.ts'
import { ArchiveDesk } from './archive-desk.do.ts'
import { BlockLogStore } from './block-log.store.ts'
import { gapAfterGone, judgeBlock, whyGone } from './chain.ts'
import { DurableDesk } from './durable-desk.do.ts'
import { FeederLinks, type FeederSocket } from './feeder-links.do.ts'
import { FeederTrust } from './feeder-trust.do.ts'
import { readFeederFrame } from './frame-check.ts'
import { HeldBlocks } from './held-blocks.do.ts'
import { L4Seeds } from './l4-seeds.ts'
import { OrderWants } from './order-wants.do.ts'
import { FULL_CHARS, mostUnread, SLOW_CHARS, SLOW_MS } from './reader-link.ts'
import { ReaderLinks } from './reader-links.do.ts'
import { encodeBlock, gapText } from './segment.ts'
import { verdict } from './verdict.ts'
import { WholeBooks } from './whole-books.do.ts'

/** A greeting waits no longer for hubs to attach: a feeder takes the connection for dead after 5 s. */
const HUBS_WAIT_MS = 2000

export class BlockLog extends DurableObject<Cloudflare.Env> implements BlockLogApi {
  readonly #settings: LiveSettings
  readonly #objects: Objects
  readonly #store: BlockLogStore
  readonly #held: HeldBlocks
  readonly #feeders: FeederLinks
  readonly #wants: OrderWants
  readonly #readers: ReaderLinks
  readonly #books: WholeBooks
  readonly #trust: FeederTrust
  readonly #l4: L4Seeds
  readonly #archive: ArchiveDesk
  readonly #durable: DurableDesk
  readonly #ages = new ReportedAges()
  #blocks = 0

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#settings = readVariables(LiveSettings, env)
    this.#objects = new Objects(env, this.#settings)
    this.#store = new BlockLogStore(ctx.storage)
    this.#feeders = new FeederLinks(ctx, this.#store, Date.now())
    this.#held = new HeldBlocks(ctx, this.#store, (height) => {
      this.#feeders.broadcast({ type: 'ack', height })
      this.#archive.wake(Date.now())
    })
    const waitUntil = (work: Promise<unknown>) => this.ctx.waitUntil(work)
    this.#archive = new ArchiveDesk({ env, objects: this.#objects, held: this.#held, waitUntil })
    this.#wants = new OrderWants((frame) => this.#feeders.broadcast(frame), Date.now())
    this.#durable = new DurableDesk(this.#held, this.#wants)
    this.#readers = new ReaderLinks(this.#objects, this.#held.backlog, this.#wants, ({ kind }) => {
      if (kind.kind === 'hub') this.ctx.waitUntil(this.#objects.wakeHub(kind.index))
    })
    this.#l4 = new L4Seeds(
      (coin, text) => this.#readers.get(this.#objects.nameOfOrders(coin))?.frame(text),
      (coin) => this.#feeders.ofRows(coin),
    )
    this.#trust = new FeederTrust(this.#held, this.#feeders, this.#readers)
    this.#books = new WholeBooks({
      held: this.#held,
      feeders: this.#feeders,
      readers: this.#readers,
      store: this.#store,
      trust: this.#trust,
      skip: (gap) => this.#skip(gap, 'seeded_above'),
    })
    // The first look at an empty log makes the hubs too.
    if (this.#held.durable === null) this.ctx.waitUntil(this.#objects.wakeHubs(this.#settings.BOOK_HUBS))
  }

  /** `GET /feed`, already authorised by the gateway: one feeder's socket. */
  override fetch(request: Request): Response {
    if (request.headers.get('upgrade') !== 'websocket') return new Response('send a WebSocket upgrade', { status: 426 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.#feeders.accept(server)
    return new Response(null, { status: 101, webSocket: client })
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    // What is still on its way over a connection that was ended is of before a reset.
    if (socket.readyState !== WebSocket.OPEN) return
    const feeder = this.#feeders.of(socket)
    feeder.heard({ heardMs: Date.now() })
    const frame = readFeederFrame(message)
    if (!frame.ok) return feeder.refuse(...frame.error)
    this.#take(feeder, frame.value, message as string)
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    const feeder = this.#feeders.of(socket)
    this.#feeders.drop(socket, code, reason, Date.now())
    this.#l4.left(feeder)
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket, 1006, '')
  }

  #take(feeder: FeederSocket, frame: FeederFrame, text: string): void {
    if (frame.type === 'hello') return this.#welcome(feeder, frame)
    if (feeder.state === null) return feeder.refuse('type', 'say hello first')
    const now = Date.now()
    if (frame.type === 'pulse') {
      this.#readers.tick(this.#held.chain.height, this.#held.time ?? 0, now)
      this.#wants.tick(now)
      return feeder.heard({ heardMs: now, pulse: { atMs: now, said: frame } })
    }
    feeder.seenMs = now
    if (frame.type === 'verified') return this.#trust.verified(feeder, frame)
    if (frame.type === 'l4') return this.#l4.take(feeder, frame, text)
    if (frame.type === 'gone') return this.#gone(feeder, frame.first)
    if (frame.type === 'snapshot') {
      this.#unread(feeder, now)
      return this.#books.take(feeder, frame)
    }
    feeder.seed = null
    const joined = feeder.joiner.push(frame, text.length)
    if (joined === null) return
    if ('refused' in joined) return feeder.refuse('part', joined.refused)
    this.#accept(feeder, joined)
  }

  #welcome(feeder: FeederSocket, hello: Hello): void {
    const { CHAIN } = this.#settings
    if (hello.chain !== CHAIN)
      return feeder.refuse(
        'chain',
        `this gateway carries ${CHAIN} and the feeder says ${JSON.stringify(hello.chain)}: start the feeder with --chain ${CHAIN}`,
      )
    this.ctx.waitUntil(this.#greet(feeder, hello, this.#objects.wakeHubs(this.#settings.BOOK_HUBS)))
  }

  /** A hub that attaches while whole books come would miss them, and ask for them again: it comes before the welcome. */
  async #greet(feeder: FeederSocket, hello: Hello, woken: Promise<unknown>): Promise<void> {
    // What is not durable yet might be lost with this object: a feeder is told of the durable height alone.
    this.#held.flush()
    await this.#held.confirm()
    if (!this.#held.chain.booksKnown) await Promise.race([woken, scheduler.wait(HUBS_WAIT_MS)])
    for (const frame of this.#wants.frames()) feeder.send(frame)
    this.#feeders.greet(feeder, hello, { ...this.#held.chain, height: this.#held.durable }, Date.now())
    this.#l4.greeted(feeder)
  }

  #gone(feeder: FeederSocket, first: number): void {
    if (!feeder.state || feeder.state.conflict) return
    const now = Date.now()
    const others = this.#held.isStill(now) ? [] : this.#feeders.alive(feeder, now)
    const gap = gapAfterGone(this.#held.chain, others, first)
    if (gap) this.#skip(gap, whyGone(feeder.state, gap.from, feeder.refused))
    feeder.update({ first })
  }

  /** Records heights that will never come; the books are unknown from here to the next seed. */
  #skip(gap: SkippedHeights, why: GapReason): void {
    this.#held.skip(gap, why)
    const text = gapText(gap.from, gap.to)
    // A reader that is behind comes to the gap in its turn.
    for (const reader of this.#readers) if (reader.height === gap.from - 1) reader.frame(text, gap.to + 1)
  }

  /**
   * The way of a block through the log. Sent first, then stored, then acknowledged, so that no write holds a frame back:
   *
   *     feeder ──▶ judge ──take──▶ encode once ──▶ readers ──▶ store, a segment a second ──▶ ack, once it is durable
   *                  ├─ ignore        (a feeder in conflict, or one that was asked for an earlier block)
   *                  ├─ resend        (heights are missing)
   *                  └─ acknowledge   (it was taken before: the copies are compared)
   */
  #accept(feeder: FeederSocket, frame: BlockFrame): void {
    const now = Date.now()
    feeder.heard({ heardMs: now, blockMs: now })
    feeder.update({ head: Math.max(frame.height, feeder.state?.head ?? 0) })
    const judged = judgeBlock(this.#held.chain, feeder.state, frame)
    if (judged.do === 'ignore') return
    if (judged.do === 'resend') return this.#trust.askAgain(feeder, judged.from)
    const { type: _, part: __, parts: ___, ...block } = frame
    if (frame.height >= (feeder.state?.awaiting ?? 0)) feeder.update({ awaiting: null })
    if (judged.do === 'acknowledge') return this.#trust.compare(feeder, block)
    // Its next block is asked for again as soon as nobody else's comes.
    if (this.#books.areComing(feeder, now) || this.#trust.isPassedOver(feeder, block, now)) return
    if (this.#unread(feeder, now) > FULL_CHARS) return
    this.#feeders.leader = feeder.name
    feeder.refused = false

    const { epoch, height, booksKnown: wereKnown } = this.#held.chain
    const booksKnown = epoch !== null && wereKnown && block.books !== null
    const rows = { orders: this.#trust.ordersWith(feeder, block), l4: this.#l4.trusted(block.l4) }
    const known = { ...block, books: booksKnown ? block.books : null, ...rows }
    const texts = encodeBlock(known, booksKnown ? epoch : null, this.#held.through(block.fills))
    if (block.books && !booksKnown) this.#books.askForAll()
    if (booksKnown) this.#books.note(block.books ?? [])
    this.#trust.taken(texts, feeder)
    this.#blocks++
    for (const reader of this.#readers) {
      if (height === null) reader.begin(block.height)
      reader.offer(texts)
    }
    this.#readers.sent(now)
    this.#held.append(texts, booksKnown)
  }

  /** Characters that the slowest reader has yet to read; the feeder pauses where they are many. */
  #unread(feeder: FeederSocket, now: number): number {
    const unread = this.#archive.isFull(now) ? Number.POSITIVE_INFINITY : mostUnread(this.#readers, now)
    if (unread > SLOW_CHARS) feeder.pause(SLOW_MS, now)
    return unread
  }

  async attach(request: AttachRequest): Promise<AttachAnswer> {
    const socket = await this.#readers.dial(request)
    // From here to the end nothing is awaited: what the answer says is where the link begins.
    const { epoch, height, booksKnown } = this.#held.chain
    const { cursor, reader: kind } = request
    const head = height ?? -1
    const next = cursor ? Math.min(cursor.height, head) + 1 : head + 1
    const isSameEpoch = cursor === null || kind.kind !== 'hub' || cursor.epoch === epoch
    const isHeld = cursor === null || this.#held.holds(kind.kind === 'hub' ? 'books' : 'events', next)
    const lost = !isSameEpoch || !isHeld
    const from = lost ? head + 1 : next
    const reader = this.#readers.open(request, from, socket, head)
    const told = this.#books.tell(reader, cursor?.height ?? null)
    return { v: LOG_API_VERSION, epoch: booksKnown ? epoch : null, height, from, lost, ...told }
  }

  async differing(found: Differing): Promise<void> {
    this.#trust.differing(found)
  }

  async reseed(coins: readonly string[] | null, reason: string): Promise<void> {
    this.#books.ask(coins, reason)
  }

  async reseedL4(coin: Coin, isWrong: boolean): Promise<void> {
    // Feeders answer of wanted coins alone.
    this.#wants.tell()
    this.#l4.ask(coin, isWrong)
  }

  async status(): ReturnType<BlockLogApi['status']> {
    const nowMs = Date.now()
    const { CHAIN, FEED_REGION } = this.#settings
    const { chain, durable, time, blockMs, isFull } = this.#held
    const place = { ...chain, durable, time, blockMs }
    const feeders = this.#feeders.views(nowMs)
    return {
      v: LOG_API_VERSION,
      ...verdict({ ...place, isFull }, feeders, nowMs),
      ...place,
      feeders,
      regions: this.#ages.view(nowMs, regionOfRelay),
      readers: [...this.#readers].map(({ name, height }) => ({ name, height: height < 0 ? null : height })),
      chain: CHAIN,
      feedRegion: FEED_REGION,
      archive: this.#archive.view(),
      gaps: this.#store.gaps(20),
      ...this.#trust.view,
      blocksSinceWake: this.#blocks,
    }
  }

  async ages(report: AgeReport): Promise<void> {
    this.#ages.note(report, Date.now())
  }

  async events(request: EventsRequest): Promise<EventsAnswer> {
    return { v: LOG_API_VERSION, ...this.#held.eventsFrom(request, Date.now()) }
  }

  async fills(request: FillsRequest): Promise<FillsAnswer> {
    return { v: LOG_API_VERSION, ...this.#held.fillsBefore(request, Date.now()) }
  }

  async durable(request: DurableRequest): Promise<DurablePage> {
    return { v: LOG_API_VERSION, ...this.#durable.page(request, Date.now()) }
  }

  async archive(request: ArchiveRequest): Promise<ArchivePage> {
    return this.#archive.page(request, this.#books, Date.now())
  }

  async files(report: FilesReport): Promise<void> {
    this.#archive.files(report)
  }

  async reset(): Promise<void> {
    const forgotten = this.#held.reset()
    this.#trust.clear()
    this.#books.clear()
    this.#l4.clear()
    this.#readers.closeAll()
    this.#feeders.closeAll(1012, 'the feed was reset', Date.now())
    await forgotten
  }
}
