// The blocks that the log holds, and how far they are: those that wait for storage, those that are stored, and those
// that are durable. Laws: nothing is called durable before storage has confirmed it, and what was saved before a reset
// never is; a write holds no frame back.

import type { ArchivePage } from '../protocol/feed/archive-api.ts'
import type { Block } from '../protocol/feed/block.ts'
import type { FillsRequest, FillsResponse } from '../protocol/feed/durable-api.ts'
import type { BuilderFill, EventsRequest, EventsResponse } from '../protocol/feed/log-api.ts'
import type { GapReason, SkippedHeights } from '../protocol/feed/status-shape.ts'
import type { BlockLogStore } from './block-log.store.ts'
import { BuilderStore } from './builder.store.ts'
import { type ChainState, EMPTY_CHAIN } from './chain.ts'
import { archivePage, eventsPage, ReplayQueue } from './pages.ts'
import { type NewSegment, PendingSegment } from './pending-segment.ts'
import type { GapLookup, SegmentLookup } from './reader-link.ts'
import { ReadBudget, searchSegment } from './retained-fills.ts'
import { searchPayments } from './retained-payments.ts'
import { SegmentStore } from './segment.store.ts'
import { type BlockTexts, type BooksTexts, readBooksLine, SEGMENT_MS, type SegmentKind } from './segment.ts'

/** How long books and events are kept for readers that come back: five minutes of blocks. */
const WINDOW_MS = 5 * 60_000

/** So long the log stands still at most because another feeder says to have what one of them lacks. */
const STALLED_MS = 30_000

/** Stored text read in one turn for questions about fills: a few milliseconds, for which blocks wait. */
const READ_CHARS = 1024 * 1024

/** What readers that are behind are served from. */
export interface Backlog {
  readonly lookUp: SegmentLookup
  /** Blocks that wait for storage. */
  readonly pending: () => readonly BlockTexts[]
  readonly gapAt: GapLookup
}

/** Of each kind of answer. */
type Unversioned<T> = T extends unknown ? Omit<T, 'v'> : never

export class RetainedBlocks {
  readonly #ctx: DurableObjectState
  readonly #gaps: Pick<BlockLogStore, 'addGap' | 'gapAt'>
  readonly #onDurable: (height: number) => void
  readonly #segments: SegmentStore
  readonly #builders: BuilderStore
  readonly #pending = new PendingSegment()
  readonly #replayQueue = new ReplayQueue()
  readonly #readBudget = new ReadBudget()
  readonly backlog: Backlog = {
    lookUp: (kind, height) => this.#segments.segmentWith(kind, height),
    pending: () => this.#pending.blocks,
    gapAt: (height) => (height > (this.#savedHeight ?? -1) ? null : this.#gaps.gapAt(height)),
  }
  #chain: ChainState
  #time: number | null
  /** Last height handed to storage. */
  #savedHeight: number | null
  #durable: number | null
  /** When the chain last became another. */
  #movedMs = Date.now()
  /** When the last block was taken, null since this object woke. */
  blockMs: number | null = null
  /** Counts resets. */
  #era = 0
  #flushTimer: ReturnType<typeof setTimeout> | null = null
  #rowsTimer: ReturnType<typeof setTimeout> | null = null

  /** `confirmed` hears of each height up to which all is durable. */
  constructor(
    ctx: DurableObjectState,
    gaps: Pick<BlockLogStore, 'addGap' | 'gapAt'>,
    confirmed: (height: number) => void,
  ) {
    this.#ctx = ctx
    this.#gaps = gaps
    this.#onDurable = confirmed
    this.#segments = new SegmentStore(ctx.storage)
    this.#builders = new BuilderStore(ctx.storage.kv, this.#segments)
    const { chain, time, repaired } = this.#segments.state
    this.#pending.addRepaired(repaired)
    this.#chain = chain
    this.#time = time
    this.#savedHeight = this.#chain.height
    this.#durable = this.#savedHeight
  }

  /** Where the log stands. */
  get chain(): ChainState {
    return this.#chain
  }

  /** Last height that storage has confirmed, null while there is none. */
  get durable(): number | null {
    return this.#durable
  }

  /** The node's time of the last block or whole books, null while the log is empty. */
  get time(): number | null {
    return this.#time
  }

  /** True where nothing was taken for so long that nothing is left to another feeder any more. */
  isStalled(nowMs: number): boolean {
    return nowMs - this.#movedMs > STALLED_MS
  }

  /** Takes the fills of the next block: those that are liquidations to be told to a builder. */
  builderAttributions(fills: Block['fills']): BuilderFill[] {
    return this.#builders.onFills(fills)
  }

  /** Adds the next block, which readers have been sent. */
  append(texts: BlockTexts, booksKnown: boolean): void {
    this.#moveTo({ ...this.#chain, height: texts.height, booksKnown }, texts.time)
    this.blockMs = this.#movedMs
    if (this.#pending.push(texts, this.blockMs)) return this.flush()
    this.#flushTimer ??= setTimeout(() => this.flush(), SEGMENT_MS)
  }

  /** Records heights that will never come; the books are unknown from here to the next seed. */
  skip(gap: SkippedHeights, why: GapReason): void {
    this.flush()
    this.#builders.forget()
    this.#gaps.addGap({ ...gap, why, atMs: Date.now() })
    this.#moveTo({ ...this.#chain, height: gap.to, booksKnown: false }, this.#time)
    this.#save(null)
  }

  /** Books were repaired inside the epoch, behind the last block: the next line says so, whoever writes it. */
  recordRepairs(coins: Iterable<string>): void {
    this.flush()
    this.#pending.addRepaired(coins)
    this.#save(null)
  }

  /** A new epoch begins with the books after `height`. */
  beginEpoch(epoch: string, height: number, time: number): void {
    this.flush()
    this.#pending.forgetRepairs()
    this.#moveTo({ epoch, height, booksKnown: true }, time)
    this.#save(null)
  }

  #moveTo(chain: ChainState, time: number | null): void {
    this.#chain = chain
    this.#time = time
    this.#movedMs = Date.now()
  }

  /** Stores what waits as one segment. */
  flush(): void {
    if (this.#flushTimer) clearTimeout(this.#flushTimer)
    this.#flushTimer = null
    const segment = this.#pending.take()
    if (segment) this.#save(segment)
  }

  #save(segment: NewSegment | null): void {
    const place = { chain: this.#chain, time: this.#time, repaired: this.#pending.unrecordedRepairs }
    // A block that says to be of another year must not end the window of the others.
    const newestMs = Math.min(segment?.time ?? this.#time ?? 0, Date.now())
    this.#segments.save(segment, place, newestMs - WINDOW_MS, this.#builders.takeChanged())
    this.#savedHeight = this.#chain.height
    this.#ctx.waitUntil(this.awaitDurable())
    if (segment?.lines.l4 !== undefined) this.#storeRows()
  }

  /** A piece a turn, with blocks between. */
  #storeRows(): void {
    this.#rowsTimer ??= setTimeout(() => {
      this.#rowsTimer = null
      if (this.#segments.storeRows()) this.#storeRows()
    }, 0)
  }

  /** Waits until all that was saved is durable. */
  async awaitDurable(): Promise<void> {
    const era = this.#era
    const saved = this.#savedHeight
    try {
      await this.#segments.untilDurable()
    } catch (error) {
      // Whoever wakes next goes on from what is stored, and feeders send what follows again.
      this.#ctx.abort(`blocks could not be stored: ${String(error)}`)
      throw error
    }
    if (saved === null || era !== this.#era || saved <= (this.#durable ?? -1)) return
    this.#durable = saved
    this.#onDurable(saved)
  }

  /** True where the heights from `next` on are held, or recorded as a gap. */
  has(kind: SegmentKind, next: number): boolean {
    if (next > (this.#chain.height ?? -1)) return true
    const oldest = this.#pending.blocks[0]
    if (oldest && next >= oldest.height) return true
    return this.#gaps.gapAt(next) !== null || this.#segments.segmentWith(kind, next) !== null
  }

  /** Frames of events from a height on for a relay, unless so much was read just now that it is not its turn. */
  eventsFrom({ from, relay = '' }: EventsRequest, nowMs: number): Omit<EventsResponse, 'v'> {
    const { height } = this.#chain
    const retryMs = this.#replayQueue.waitMs(relay, nowMs)
    if (retryMs > 0) return { frames: [], first: null, head: height, retryMs }
    const { gapAt } = this.backlog
    const segmentWith = (at: number) => this.#segments.eventsWith(at)
    const held = { height, first: this.#segments.first, segmentWith, gapAt, waiting: this.#pending.blocks }
    const page = eventsPage(from, held)
    // Relays parse all of it.
    this.#replayQueue.spend(page.frames?.reduce((sum, { length }) => sum + length, 0) ?? 0, nowMs)
    return page
  }

  /** What of the next blocks is durable, for the archive; `only`: lines of one kind. */
  archivePage(from: number | null, only?: SegmentKind): Pick<ArchivePage, 'head' | 'parts'> {
    const time = this.#segments.newest()?.time ?? this.#time
    const durable = this.#durable
    if (durable === null || time === null) return { head: null, parts: [] }
    const blocksWith = (height: number) => this.#segments.blocksWith(height, only)
    const firstAbove = (height: number) => this.#segments.firstAbove(height)
    const held = { durable, blocksWith, firstAbove, gapAt: this.backlog.gapAt }
    return { head: { height: durable, time }, parts: from === null ? [] : archivePage(from, held) }
  }

  /** Nothing up to here need be kept for an archive; null: there is no archive. */
  setArchived(height: number | null): void {
    this.#segments.setArchived(height)
  }

  /** More is kept for the archive than may be: nothing more can be taken. */
  get isFull(): boolean {
    return this.#segments.isFull
  }

  /** The changes of books of a held height. */
  booksAt(height: number): BooksTexts | undefined {
    const isIt = (one: BooksTexts) => one.height === height
    const stored = () => this.#segments.segmentWith('books', height)?.map(readBooksLine).find(isIt)
    return this.#pending.blocks.find(isIt) ?? stored()
  }

  /** A page of what is stored for a scope below `before`, unless others have read too much just now. */
  fillsBefore({ scope, before, kind }: FillsRequest, nowMs: number): Unversioned<FillsResponse> {
    const retryMs = this.#readBudget.waitMs(nowMs)
    if (retryMs > 0) return { retryMs }
    const { segments, next } = this.#segments.eventsBefore(before ?? Number.MAX_SAFE_INTEGER, READ_CHARS)
    const stretches = segments.flatMap((segment) => {
      const { stretch, cost } = searchSegment(segment, scope, kind)
      this.#readBudget.spend(cost, nowMs)
      if (kind !== 'funding' || scope.by !== 'user') return stretch
      const paid = searchPayments(segment, this.#segments.paymentsWith(segment.last), scope.address)
      this.#readBudget.spend(paid.cost, nowMs)
      return paid.stretches
    })
    return { head: this.#segments.newest(), stretches, next }
  }

  /** Forgets the chain and its blocks, and records that what follows does not continue it. */
  async reset(): Promise<void> {
    const last = this.#chain.height
    this.#era++
    this.#pending.take()
    this.#pending.forgetRepairs()
    this.#builders.forget()
    this.#segments.reset(this.#builders.takeChanged())
    if (last !== null) this.#gaps.addGap({ from: last + 1, to: last + 1, why: 'reset', atMs: Date.now() })
    this.#moveTo(EMPTY_CHAIN, null)
    this.blockMs = null
    this.#savedHeight = null
    this.#durable = null
    await this.awaitDurable()
  }
}
