// BlockLog: the one place where the order of blocks is decided, and the only one that acknowledges.
// A thin shell: chain.ts judges, segment.ts encodes, reader-link.ts paces. Send first, then persist, then
// acknowledge what is confirmed: no write of a block holds a frame back.
// Over 300 lines because the order of these steps is the point, and is read in one place.

import { DurableObject } from 'cloudflare:workers'
import { isDeeperThan } from '../core/json.ts'
import { Objects, regionOfRelay } from '../core/objects.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import { type AgeReport, ReportedAges } from './ages.ts'
import { Agreement } from './agreement.ts'
import type { Block, BookChange } from './block.ts'
import { BlockLogStore } from './block-log.store.ts'
import {
  type ChainState,
  EMPTY_CHAIN,
  type GapReason,
  gapAfterGone,
  judgeBlock,
  judgeSnapshot,
  type SkippedHeights,
  startedOver,
  type TakenSeed,
  whyGone,
} from './chain.ts'
import { FeederLinks, type FeederSocket } from './feeder-links.do.ts'
import { parseFeederFrame } from './frame-check.ts'
import { type FillsAnswer, type FillsRequest, ReadBudget, searched } from './held-fills.ts'
import {
  type AttachAnswer,
  type AttachRequest,
  type BlockLogApi,
  type Differing,
  type HubVerified,
  LOG_API_VERSION,
} from './log-api.ts'
import { type NewSegment, PendingSegment } from './pending-segment.ts'
import type { BlockFrame, FeederFrame, Hello, SnapshotFrame, Verified } from './protocol.ts'
import { ReaderLinks } from './reader-links.do.ts'
import { SeedRelay } from './seed-relay.ts'
import { SegmentStore } from './segment.store.ts'
import { type BlockTexts, type BooksTexts, encodeBlock, gapText, readBooksLine, SEGMENT_MS } from './segment.ts'
import { FULL_CHARS, mostUnread, SLOW_CHARS, SLOW_MS } from './unread.ts'
import { verdict } from './verdict.ts'

/** How long books and events are kept for readers that come back: five minutes of blocks. */
const WINDOW_MS = 5 * 60_000
/** Hard bound of a frame: twice what the protocol allows, so that a clear refusal can still be given. */
const FRAME_LIMIT_CHARS = 1024 * 1024
/** How much of a refused frame may stand in the refusal. */
const ECHO_CHARS = 256
/** Whole books are asked for again after this time where they did not come. */
const SEED_RETRY_MS = 5000
/** Stored text read in one turn for questions about fills: a few milliseconds, for which blocks wait. */
const READ_CHARS = 1024 * 1024
/** A greeting waits no longer for hubs to attach: a feeder takes the connection for dead after 5 s. */
const HUBS_WAIT_MS = 2000

export class BlockLog extends DurableObject<Cloudflare.Env> implements BlockLogApi {
  readonly #settings: LiveSettings
  readonly #objects: Objects
  readonly #store: BlockLogStore
  readonly #segments: SegmentStore
  readonly #feeders: FeederLinks
  readonly #readers: ReaderLinks
  readonly #pending = new PendingSegment()
  readonly #reads = new ReadBudget()
  readonly #ages = new ReportedAges()
  readonly #coins: Set<string>
  readonly #agreement = new Agreement()
  #chain: ChainState
  /** Last height handed to storage. */
  #saved: number | null
  /** Last height that storage has confirmed. */
  #durable: number | null
  #time: number | null
  /** When the last block was taken, null since this object woke. */
  #blockMs: number | null = null
  #blocks = 0
  /** Counts resets: what was saved before one is not acknowledged after it. */
  #era = 0
  #flushTimer: ReturnType<typeof setTimeout> | null = null
  #reseeds = new Map<string, number>()
  #askedForSeedMs = 0
  /** Height at which a coin of this epoch was last repaired; in memory alone, as are the links that miss it. */
  readonly #repairs = new Map<string, number>()

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#settings = readVariables(LiveSettings, env)
    this.#objects = new Objects(env, this.#settings)
    this.#store = new BlockLogStore(ctx.storage)
    this.#segments = new SegmentStore(ctx.storage)
    this.#feeders = new FeederLinks(ctx, this.#store, Date.now())
    this.#readers = new ReaderLinks(
      this.#objects,
      {
        lookUp: (kind, height) => this.#segments.segmentWith(kind, height),
        pending: () => this.#pending.blocks,
        gapAt: (height) => (height > (this.#saved ?? -1) ? null : this.#store.gapAt(height)),
      },
      ({ kind }) => {
        if (kind.kind === 'hub') this.ctx.waitUntil(this.#wake(kind.index))
      },
    )
    this.#chain = this.#segments.chain
    this.#coins = new Set(this.#store.coins())
    this.#saved = this.#chain.height
    this.#durable = this.#saved
    this.#time = this.#segments.newest()?.time ?? null
    // The first look at an empty log makes the hubs too.
    if (this.#durable === null) this.ctx.waitUntil(this.#wakeHubs())
  }

  /** `GET /feed`, already authorised by the gateway: one feeder's socket. */
  override fetch(request: Request): Response {
    if (request.headers.get('upgrade') !== 'websocket') return new Response('send a WebSocket upgrade', { status: 426 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.#feeders.accept(server)
    return new Response(null, { status: 101, webSocket: client })
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    const feeder = this.#feeders.of(socket)
    feeder.heard({ heardMs: Date.now() })
    if (typeof message !== 'string') return feeder.refuse('', 'send text frames of JSON, not binary')
    if (message.length > FRAME_LIMIT_CHARS) return feeder.refuse('', 'the frame is over 512 KiB: split it in parts')
    if (isDeeperThan(message)) return feeder.refuse('', 'the frame nests deeper than 64 levels')
    let value: unknown
    try {
      value = JSON.parse(message)
    } catch {
      return feeder.refuse('', 'the frame is not valid JSON')
    }
    const parsed = parseFeederFrame(value)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!
      return feeder.refuse(issue.path.join('.').slice(0, ECHO_CHARS), issue.message.slice(0, ECHO_CHARS))
    }
    this.#take(feeder, parsed.data, message.length)
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#feeders.drop(socket, code, reason, Date.now())
  }

  override webSocketError(socket: WebSocket): void {
    this.#feeders.drop(socket, 1006, '', Date.now())
  }

  #take(feeder: FeederSocket, frame: FeederFrame, units: number): void {
    if (frame.type === 'hello') return this.#welcome(feeder, frame)
    if (feeder.state === null) return feeder.refuse('type', 'say hello first')
    const now = Date.now()
    if (frame.type === 'pulse') {
      this.#readers.tick(this.#chain.height, this.#time ?? 0, now)
      return feeder.heard({ heardMs: now, pulse: { atMs: now, said: frame } })
    }
    feeder.seenMs = now
    if (frame.type === 'verified') return this.#verified(feeder, frame)
    if (frame.type === 'gone') return this.#gone(feeder, frame.first)
    if (frame.type === 'snapshot') return this.#seed(feeder, frame)
    feeder.seed = null
    const joined = feeder.joiner.push(frame, units)
    if (joined === null) return
    if ('refused' in joined) return feeder.refuse('part', joined.refused)
    this.#block(feeder, joined)
  }

  #welcome(feeder: FeederSocket, hello: Hello): void {
    const { CHAIN } = this.#settings
    if (hello.chain !== CHAIN)
      return feeder.refuse(
        'chain',
        `this gateway carries ${CHAIN} and the feeder says ${JSON.stringify(hello.chain)}: start the feeder with --chain ${CHAIN}`,
      )
    this.ctx.waitUntil(this.#greet(feeder, hello, this.#wakeHubs()))
  }

  /** A hub whose link is gone attaches again when it is spoken to. */
  async #wake(index: number): Promise<void> {
    await this.#objects
      .hub(index)
      .wake()
      .catch(() => undefined)
  }

  #wakeHubs(): Promise<unknown> {
    return Promise.all(Array.from({ length: this.#settings.BOOK_HUBS }, (_, index) => this.#wake(index)))
  }

  /** A hub that attaches while whole books come would miss them, and ask for them again: it comes before the welcome. */
  async #greet(feeder: FeederSocket, hello: Hello, woken: Promise<unknown>): Promise<void> {
    // What is not durable yet might be lost with this object: a feeder is told of the durable height alone.
    this.#flush()
    await this.#confirm()
    if (!this.#chain.booksKnown) await Promise.race([woken, scheduler.wait(HUBS_WAIT_MS)])
    this.#feeders.greet(feeder, hello, { ...this.#chain, height: this.#durable }, Date.now())
  }

  #gone(feeder: FeederSocket, first: number): void {
    if (feeder.state?.conflict) return
    const gap = gapAfterGone(this.#chain, this.#feeders.states(feeder), first)
    if (gap) this.#skip(gap, whyGone(feeder.state!, gap.from, feeder.refused))
    feeder.update({ first })
  }

  /** Records heights that will never come; the books are unknown from here to the next seed. */
  #skip(gap: SkippedHeights, why: GapReason): void {
    this.#flush()
    this.#store.addGap({ ...gap, why, atMs: Date.now() })
    this.#chain = { ...this.#chain, height: gap.to, booksKnown: false }
    this.#save()
    const text = gapText(gap.from, gap.to)
    // A reader that is behind comes to the gap in its turn.
    for (const reader of this.#readers) if (reader.height === gap.from - 1) reader.frame(text, gap.to + 1)
  }

  #block(feeder: FeederSocket, frame: BlockFrame): void {
    const now = Date.now()
    feeder.heard({ heardMs: now, blockMs: now })
    feeder.update({ head: Math.max(frame.height, feeder.state?.head ?? 0) })
    const judged = judgeBlock(this.#chain, feeder.state!, frame)
    if (judged.do === 'ignore') return
    if (judged.do === 'resend') return feeder.askAgain(judged.from)
    const { type: _, part: __, parts: ___, ...block } = frame
    if (frame.height >= (feeder.state?.awaiting ?? 0)) feeder.update({ awaiting: null })
    if (judged.do === 'acknowledge') return this.#compare(feeder, block)
    if (!this.#chain.booksKnown && this.#feeders.seeds(this.#chain.height, feeder, now)) return
    // Its next block is asked for again as soon as nobody else's comes.
    if (this.#isPassedOver(feeder, block, now) || this.#unread(feeder, now) > FULL_CHARS) return
    this.#feeders.lead(feeder)
    feeder.refused = false
    this.#blockMs = now
    this.#append(feeder, block)
  }

  /** Characters that the slowest reader has yet to read; the feeder pauses where they are many. */
  #unread(feeder: FeederSocket, now: number): number {
    const unread = mostUnread(this.#readers, now)
    if (unread > SLOW_CHARS) feeder.pause(SLOW_MS, now)
    return unread
  }

  #append(feeder: FeederSocket, block: Block): void {
    const booksKnown = this.#chain.epoch !== null && this.#chain.booksKnown && block.books !== null
    const texts = encodeBlock(booksKnown ? block : { ...block, books: null }, booksKnown ? this.#chain.epoch : null)
    if (this.#chain.height === null) for (const reader of this.#readers) reader.begin(block.height)
    this.#chain = { ...this.#chain, height: block.height, booksKnown }
    if (block.books && !booksKnown) this.#askForSeed()
    this.#time = block.time
    this.#blocks++
    if (booksKnown) this.#note(block.books ?? [])
    this.#agreement.taken({ texts, feeder: feeder.name })
    for (const reader of this.#readers) reader.offer(texts)
    this.#readers.sent(Date.now())
    this.#hold(texts)
  }

  #note(changes: readonly BookChange[]): void {
    const added = changes.filter(({ coin }) => !this.#coins.has(coin)).map(({ coin }) => coin)
    if (added.length === 0) return
    for (const coin of added) this.#coins.add(coin)
    this.#store.addCoins(added)
  }

  /** A copy of a held height: the first one stands. A feeder that contradicts its own copy has another chain. */
  #compare(feeder: FeederSocket, block: Block): void {
    const { height } = block
    const isIt = (one: BooksTexts) => one.height === height
    const held = () =>
      this.#pending.blocks.find(isIt) ?? this.#segments.segmentWith('books', height)?.map(readBooksLine).find(isIt)
    const copy = { texts: encodeBlock(block, null), feeder: feeder.name }
    if (!this.#agreement.compare(copy, Date.now(), held))
      return feeder.conflict(startedOver(height, this.#chain.height!))
    if (this.#durable !== null && height <= this.#durable) feeder.send({ type: 'ack', height: this.#durable })
  }

  /** Others come first while their blocks come: it is not to be trusted, or does not know the books that they may know. */
  #isPassedOver(feeder: FeederSocket, { height, books }: Block, now: number): boolean {
    const distrusts = (one: FeederSocket) => this.#agreement.wrong.distrusts(one.name, now)
    if (books === null && this.#chain.booksKnown) {
      feeder.blindAt = height
      return this.#feeders.others(feeder, now, (one) => one.blindAt !== height && !distrusts(one))
    }
    return distrusts(feeder) && this.#feeders.others(feeder, now, (one) => !distrusts(one))
  }

  /** What a feeder compared with its node is held against what the hubs had at that height. */
  #verified(feeder: FeederSocket, { height, books }: Verified): void {
    if (feeder.state?.conflict !== null || !this.#chain.booksKnown || height > this.#chain.height!) return
    for (const reader of this.#readers) {
      if (!reader.follows || reader.height < height) continue
      const own = books.filter(({ coin }) => reader.wants(coin)).map(({ coin, digest }) => [coin, digest] as const)
      if (own.length === 0) continue
      const frame: HubVerified = { v: LOG_API_VERSION, t: 'verified', feeder: feeder.name, height, books: own }
      reader.frame(JSON.stringify(frame))
    }
  }

  /** The books are repaired by whoever verified its own, and who is at fault is passed over where others can lead. */
  async differing({ feeder, height, coins }: Differing): Promise<void> {
    const now = Date.now()
    const leader = this.#feeders.leader?.name ?? feeder
    for (const coin of coins) this.#agreement.wrong.found(coin, leader, height, now)
    const reason = 'these books differ from those that you have verified'
    this.#feeders.named(feeder)?.send({ type: 'reseed', coins: [...coins], reason })
  }

  #hold(texts: BlockTexts): void {
    if (this.#pending.push(texts, Date.now())) return this.#flush()
    this.#flushTimer ??= setTimeout(() => this.#flush(), SEGMENT_MS)
  }

  /** Stores what is pending as one segment and acknowledges it once that is confirmed. */
  #flush(): void {
    if (this.#flushTimer) clearTimeout(this.#flushTimer)
    this.#flushTimer = null
    const segment = this.#pending.take()
    if (segment) this.#save(segment)
  }

  #save(segment: NewSegment | null = null): void {
    this.#segments.save(segment, this.#chain, (segment?.time ?? this.#time ?? 0) - WINDOW_MS)
    this.#saved = this.#chain.height
    this.ctx.waitUntil(this.#confirm())
  }

  /** Waits until all that was saved is durable, and acknowledges it. */
  async #confirm(): Promise<void> {
    const era = this.#era
    const saved = this.#saved
    await this.#segments.confirmed()
    if (saved === null || era !== this.#era || saved <= (this.#durable ?? -1)) return
    this.#durable = saved
    this.#feeders.broadcast({ type: 'ack', height: saved })
  }

  /** Takes a part of whole books and hands it on; with the last one they come into force. */
  #seed(feeder: FeederSocket, frame: SnapshotFrame): void {
    if ((frame.part ?? 0) === 0) feeder.seed = this.#seedBegun(feeder, frame)
    const { seed } = feeder
    if (!seed) return feeder.refuse('part', `expected part 0 of a snapshot, got part ${frame.part}`)
    this.#unread(feeder, Date.now())
    const wrong = seed.intake.push(frame)
    if (wrong || seed.intake.isWhole) feeder.seed = null
    if (wrong) return feeder.refuse(wrong.field, wrong.message)
    if (!seed.intake.isWhole || seed.isPassedOver) return seed.handOn(frame, (this.#chain.height ?? -1) + 1)
    // Others may have moved the log while the parts came.
    const judged = this.#judgedSeed(feeder, frame)
    if (judged) this.#seeded(seed, frame, judged.do === 'seed' ? judged.gap : null)
  }

  #judgedSeed(feeder: FeederSocket, snapshot: SnapshotFrame): TakenSeed | null {
    const judged = judgeSnapshot(this.#chain, feeder.state!, this.#feeders.states(feeder), snapshot)
    if (judged.do === 'refuse') feeder.refuse(judged.field, judged.message)
    if (judged.do === 'resend') feeder.askAgain(judged.from)
    return judged.do === 'seed' || judged.do === 'repair' ? judged : null
  }

  /** Of a snapshot that is not to be taken the later parts are passed over: it was answered with the first one. */
  #seedBegun(feeder: FeederSocket, frame: SnapshotFrame): SeedRelay {
    const judged = this.#judgedSeed(feeder, frame)
    const epoch = judged?.do === 'repair' ? this.#chain.epoch! : crypto.randomUUID()
    return new SeedRelay(frame, epoch, judged ? [...this.#readers].filter(({ kind }) => kind.kind === 'hub') : null)
  }

  /** Whole books have come: a new epoch, or coins repaired inside the present one. */
  #seeded(seed: SeedRelay, last: SnapshotFrame, gap: SkippedHeights | null): void {
    const { scope, height, time } = last
    const { coins } = seed.intake
    if (scope === 'all') {
      if (gap) this.#skip(gap, 'seeded_above')
      this.#flush()
      if (this.#chain.height === null) for (const reader of this.#readers) reader.begin(height + 1)
      this.#chain = { epoch: seed.epoch, height, booksKnown: true }
      this.#time = time
      this.#repairs.clear()
      this.#coins.clear()
      for (const coin of coins) this.#coins.add(coin)
      this.#store.setCoins(coins)
      this.#save()
    } else for (const coin of coins) this.#repairs.set(coin, height)
    this.#reseeds.clear()
    seed.handOn(last, height + 1)
    // Who came amid the parts lacks the first ones: it attaches again, and asks for what it has not.
    for (const reader of this.#readers) if (seed.isMissedBy(reader)) reader.close()
  }

  async attach(request: AttachRequest): Promise<AttachAnswer> {
    const socket = await this.#readers.dial(request)
    // From here to the end nothing is awaited: what the answer says is where the link begins.
    const { epoch, height, booksKnown } = this.#chain
    const { cursor } = request
    const head = height ?? -1
    const next = cursor ? Math.min(cursor.height, head) + 1 : head + 1
    const isSameEpoch = cursor === null || request.reader.kind === 'relay' || cursor.epoch === epoch
    const lost = cursor !== null && (!isSameEpoch || !this.#holds(request, next))
    const from = lost ? head + 1 : next
    const reader = this.#readers.open(request, from, socket)
    const coins = request.reader.kind === 'hub' ? [...this.#coins].filter((coin) => reader.wants(coin)) : []
    const repairs = coins.length > 0 && cursor ? [...this.#repairs] : []
    const repaired = repairs
      .map(([coin, at]) => ({ coin, height: at }))
      .filter((one) => one.height >= cursor!.height && reader.wants(one.coin))
    return { v: LOG_API_VERSION, epoch: booksKnown ? epoch : null, height, from, lost, coins, repaired }
  }

  #holds(request: AttachRequest, next: number): boolean {
    if (next > (this.#chain.height ?? -1)) return true
    const oldest = this.#pending.blocks[0]
    if (oldest && next >= oldest.height) return true
    if (this.#store.gapAt(next) !== null) return true
    return this.#segments.segmentWith(request.reader.kind === 'hub' ? 'books' : 'events', next) !== null
  }

  /** A feeder knows its books and the log does not, such as after another feeder went away before its snapshot. */
  #askForSeed(): void {
    const now = Date.now()
    if (now - this.#askedForSeedMs < SEED_RETRY_MS) return
    this.#askedForSeedMs = now
    this.#feeders.first()?.send({ type: 'reseed', coins: null, reason: 'the books are not known' })
  }

  async reseed(coins: readonly string[] | null, reason: string): Promise<void> {
    const now = Date.now()
    const wanted = coins?.filter((coin) => now - (this.#reseeds.get(coin) ?? 0) > 1000) ?? null
    if (wanted?.length === 0 || (wanted === null && now - (this.#reseeds.get('') ?? 0) <= 1000)) return
    for (const coin of wanted ?? ['']) this.#reseeds.set(coin, now)
    this.#feeders.first()?.send({ type: 'reseed', coins: wanted, reason })
  }

  async status(): ReturnType<BlockLogApi['status']> {
    const now = Date.now()
    const { epoch, height, booksKnown } = this.#chain
    const place = { epoch, height, durable: this.#durable, time: this.#time, blockMs: this.#blockMs, booksKnown }
    const feeders = this.#feeders.views(now)
    return {
      v: LOG_API_VERSION,
      ...verdict(place, feeders, now),
      chain: this.#settings.CHAIN,
      feedRegion: this.#settings.FEED_REGION,
      ...place,
      feeders,
      regions: this.#ages.view(now, regionOfRelay),
      readers: [...this.#readers].map((one) => ({ name: one.name, height: one.height < 0 ? null : one.height })),
      gaps: this.#store.gaps(20),
      disagreements: this.#agreement.disagreements,
      wrongBooks: this.#agreement.wrong.list,
      blocksSinceWake: this.#blocks,
    }
  }

  async ages(report: AgeReport): Promise<void> {
    this.#ages.note(report, Date.now())
  }

  async fills({ scope, before }: FillsRequest): Promise<FillsAnswer> {
    const now = Date.now()
    const retryMs = this.#reads.waitMs(now)
    if (retryMs > 0) return { v: LOG_API_VERSION, retryMs }
    const { segments, next } = this.#segments.eventsBefore(before ?? Number.MAX_SAFE_INTEGER, READ_CHARS)
    const found = segments.map((segment) => searched(segment, scope))
    for (const { cost } of found) this.#reads.spend(cost, now)
    const stretches = found.map(({ stretch }) => stretch)
    return { v: LOG_API_VERSION, head: this.#segments.newest(), stretches, next }
  }

  async reset(): Promise<void> {
    const last = this.#chain.height
    this.#pending.take()
    this.#segments.reset()
    this.#era++
    // Readers hold heights of the old chain: the gap tells them that what follows does not continue it.
    if (last !== null) this.#store.addGap({ from: last + 1, to: last + 1, why: 'reset', atMs: Date.now() })
    this.#chain = EMPTY_CHAIN
    this.#saved = null
    this.#durable = null
    this.#time = null
    this.#blockMs = null
    this.#agreement.clear()
    this.#repairs.clear()
    this.#readers.closeAll()
    this.#feeders.closeAll(1012, 'the feed was reset', Date.now())
  }
}
