// The blocks that the log retains, and their state: pending, stored or durable. Invariants: a block is durable only
// after storage has confirmed it; nothing that was saved before a reset ever becomes durable; no write delays a frame.

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

/** How long books and events are retained for readers that return, in block time. */
const WINDOW_MS = 5 * 60_000

/** Maximum time that the log waits for a missing block because another feeder claims to have it. */
const STALLED_MS = 30_000

/** As many gaps as `/status` shows. */
const NEWEST_GAPS = 20

/**
 * Characters of stored text to read per request for fills. Reading them takes a few milliseconds, during which blocks
 * wait.
 */
const READ_CHARS = 1024 * 1024

/** Where a reader that is behind finds its blocks. */
export interface Backlog {
  readonly lookUp: SegmentLookup
  /** Blocks that are not stored yet. */
  readonly pending: () => readonly BlockTexts[]
  readonly gapAt: GapLookup
}

/** Omits `v` from each member of a union. */
type Unversioned<T> = T extends unknown ? Omit<T, 'v'> : never

export class RetainedBlocks {
  readonly #ctx: DurableObjectState
  readonly #gaps: Pick<BlockLogStore, 'addGap' | 'gapAt' | 'gaps'>
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
  /** Last height that was passed to storage. */
  #savedHeight: number | null
  #durable: number | null
  /** When the chain last advanced or was reset. */
  #movedMs = Date.now()
  /** When the last block was accepted; null if none was accepted since this object restarted. */
  blockMs: number | null = null
  /** Number of resets since this object started. */
  #era = 0
  #flushTimer: ReturnType<typeof setTimeout> | null = null
  #rowsTimer: ReturnType<typeof setTimeout> | null = null

  /** `onDurable` is called with each height up to which all blocks are durable. */
  constructor(
    ctx: DurableObjectState,
    gaps: Pick<BlockLogStore, 'addGap' | 'gapAt' | 'gaps'>,
    onDurable: (height: number) => void,
  ) {
    this.#ctx = ctx
    this.#gaps = gaps
    this.#onDurable = onDurable
    this.#segments = new SegmentStore(ctx.storage)
    this.#builders = new BuilderStore(ctx.storage.kv, this.#segments)
    const { chain, time, repaired } = this.#segments.state
    this.#pending.addRepaired(repaired)
    this.#chain = chain
    this.#time = time
    this.#savedHeight = this.#chain.height
    this.#durable = this.#savedHeight
  }

  /** The log's position. */
  get chain(): ChainState {
    return this.#chain
  }

  /** Last height that storage has confirmed; null if there is none. */
  get durable(): number | null {
    return this.#durable
  }

  /** Block time of the last block or snapshot; null while the log is empty. */
  get time(): number | null {
    return this.#time
  }

  /** Whether no block was accepted for so long that the log no longer waits for other feeders. */
  isStalled(nowMs: number): boolean {
    return nowMs - this.#movedMs > STALLED_MS
  }

  /** Applies the fills of the next block. Returns the builder of each liquidation. */
  builderAttributions(fills: Block['fills']): BuilderFill[] {
    return this.#builders.onFills(fills)
  }

  /** Appends the next block, which has already been sent to readers. */
  append(texts: BlockTexts, booksKnown: boolean): void {
    this.#moveTo({ ...this.#chain, height: texts.height, booksKnown }, texts.time)
    this.blockMs = this.#movedMs
    if (this.#pending.push(texts, this.blockMs)) return this.flush()
    this.#flushTimer ??= setTimeout(() => this.flush(), SEGMENT_MS)
  }

  /** Records heights that will never arrive. The books are unknown from there to the next seed. */
  skip(gap: SkippedHeights, why: GapReason): void {
    this.flush()
    this.#builders.forget()
    this.#gaps.addGap({ ...gap, why, atMs: Date.now() })
    this.#moveTo({ ...this.#chain, height: gap.to, booksKnown: false }, this.#time)
    this.#save(null)
  }

  /** Records books that were repaired after the last block. The next line names them, even after a restart. */
  recordRepairs(coins: Iterable<string>): void {
    this.flush()
    this.#pending.addRepaired(coins)
    this.#save(null)
  }

  /** Starts an epoch with the books as of `height`. */
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

  /** Stores the pending blocks as one segment. */
  flush(): void {
    if (this.#flushTimer) clearTimeout(this.#flushTimer)
    this.#flushTimer = null
    const segment = this.#pending.take()
    if (segment) this.#save(segment)
  }

  #save(segment: NewSegment | null): void {
    const state = { chain: this.#chain, time: this.#time, repaired: this.#pending.unrecordedRepairs }
    // The clock limits the block time, so that a block whose time is far in the future does not empty the window.
    const newestMs = Math.min(segment?.time ?? this.#time ?? 0, Date.now())
    this.#segments.save(segment, state, newestMs - WINDOW_MS, this.#builders.takeChanged())
    this.#savedHeight = this.#chain.height
    this.#ctx.waitUntil(this.awaitDurable())
    if (segment?.lines.l4 !== undefined) this.#storeRows()
  }

  /** Stores one piece of order rows per turn, so that blocks can arrive in between. */
  #storeRows(): void {
    this.#rowsTimer ??= setTimeout(() => {
      this.#rowsTimer = null
      if (this.#segments.storeRows()) this.#storeRows()
    }, 0)
  }

  /** Waits until everything that was saved is durable. */
  async awaitDurable(): Promise<void> {
    const era = this.#era
    const saved = this.#savedHeight
    try {
      await this.#segments.untilDurable()
    } catch (error) {
      // The next instance resumes from what is stored, and feeders send the other blocks again.
      this.#ctx.abort(`cannot store blocks: ${String(error)}`)
      throw error
    }
    if (saved === null || era !== this.#era || saved <= (this.#durable ?? -1)) return
    this.#durable = saved
    this.#onDurable(saved)
  }

  /** Whether the heights from `next` onward are retained or part of a gap. */
  has(kind: SegmentKind, next: number): boolean {
    if (next > (this.#chain.height ?? -1)) return true
    const oldest = this.#pending.blocks[0]
    if (oldest && next >= oldest.height) return true
    return this.#gaps.gapAt(next) !== null || this.#segments.segmentWith(kind, next) !== null
  }

  /** Returns frames of events for a relay from a height onward, or the time until the relay may read. */
  eventsFrom({ from, relay = '' }: EventsRequest, nowMs: number): Omit<EventsResponse, 'v'> {
    const { height } = this.#chain
    const retryMs = this.#replayQueue.waitMs(relay, nowMs)
    if (retryMs > 0) return { frames: [], first: null, head: height, retryMs }
    const { gapAt } = this.backlog
    const segmentWith = (at: number) => this.#segments.eventsWith(at)
    const source = { height, first: this.#segments.first, segmentWith, gapAt, waiting: this.#pending.blocks }
    const page = eventsPage(from, source)
    // The cost is the number of characters, because relays parse all of them.
    this.#replayQueue.spend(page.frames?.reduce((sum, { length }) => sum + length, 0) ?? 0, nowMs)
    return page
  }

  /**
   * Returns durable blocks for the archive from a height onward. `only`: the only kind of lines to return, and `replica`
   * if `hasReplica`.
   */
  archivePage(from: number | null, only?: SegmentKind, hasReplica = false): Pick<ArchivePage, 'head' | 'parts'> {
    const time = this.#segments.newest()?.time ?? this.#time
    const durable = this.#durable
    if (durable === null || time === null) return { head: null, parts: [] }
    const blocksWith = (height: number) => this.#segments.blocksWith(height, only, hasReplica)
    const firstAbove = (height: number) => this.#segments.firstAbove(height)
    const source = { durable, blocksWith, firstAbove, gapAt: this.backlog.gapAt }
    return { head: { height: durable, time }, parts: from === null ? [] : archivePage(from, source) }
  }

  /** The gaps that `/status` shows, newest first. */
  get newestGaps(): SkippedHeights[] {
    return this.#gaps.gaps(NEWEST_GAPS).map(({ from, to }) => ({ from, to }))
  }

  /** Sets the height up to which everything is archived; null if there is no archive. */
  setArchived(height: number | null): void {
    this.#segments.setArchived(height)
  }

  /** Whether the archive's backlog is full, so that no block can be accepted. */
  get isFull(): boolean {
    return this.#segments.isFull
  }

  /** The book changes of a retained height. */
  booksAt(height: number): BooksTexts | undefined {
    const isHeight = (one: BooksTexts) => one.height === height
    const stored = () => this.#segments.segmentWith('books', height)?.map(readBooksLine).find(isHeight)
    return this.#pending.blocks.find(isHeight) ?? stored()
  }

  /** A page of the stored data for a scope below height `before`, or the time until the next read is possible. */
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

  /** Discards the chain and its blocks, and records that later blocks do not continue it. */
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
