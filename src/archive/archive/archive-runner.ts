// Runs the Archiver's rounds. A round writes blocks of the log into segments and, periodically, a checkpoint of all
// books. Invariants: everything that counts as archived has its objects and its row; an interrupted round restarts from
// the saved state and writes the same names and bytes; heights are neither lost nor repeated.

import type { Backoff } from '../../core/backoff.ts'
import { fromChunks } from '../../core/chunks.ts'
import { MINUTE_MS } from '../../core/time.ts'
import type { ArchivePage, ArchivePart, ArchiveReport, StoredBlocks } from '../../protocol/feed/archive-api.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { withPayments } from '../../protocol/feed/payments.ts'
import type { HubBooks } from '../../protocol/hub/hub-api.ts'
import { bookLine } from './checkpoint-lines.ts'
import { type ArchiveLine, type Cut, type CutGap, type CutSegment, SegmentCutter } from './segment-cutter.ts'

/** Maximum segments per round, which take a few seconds. */
const MAX_CUTS = 16
/** Maximum attempts to collect books while some are unverified. */
const MAX_BOOK_ATTEMPTS = 12
/** Delay between these attempts. */
const BOOK_RETRY_MS = 5_000
/** Delay until the blocks of collected books are checked for durability again. */
const DURABLE_MS = 2_000

export interface ArchiveState {
  /** The last archived block. After a gap, the last missing height with the time of the block before the gap. */
  readonly last: HeightAndTime | null
  readonly segments: number
  readonly bytes: number
  readonly checkpoint: LastCheckpoint | null
  readonly failure: ArchiveReport['failure']
}

export const EMPTY_ARCHIVE_STATE: ArchiveState = { last: null, segments: 0, bytes: 0, checkpoint: null, failure: null }

export interface ArchiveRunnerPorts {
  /** Returns blocks of the log from a height (null: no blocks), and reports the state to the log. */
  page(from: number | null, state: ArchiveState): Promise<ArchivePage>
  /** `putSegment` and `putCheckpoint` return the bytes written. */
  putSegment(cut: CutSegment): Promise<number>
  putCheckpoint(books: CheckpointBooks): Promise<number>
  putGap(gap: CutGap): Promise<void>
  readonly hubs: number
  hubBooks(hub: number, after: string | null): Promise<HubBooks>
  trim(state: ArchiveState): Promise<Pick<ArchiveState, 'segments' | 'bytes'> | null>
  /** The last block of the last segment that has a row; null if there is none. */
  lastBlock(): Promise<HeightAndTime | null>
  /** Stores the state. A stored state is never rolled back. */
  save(state: ArchiveState): void
}

export class ArchiveRunner {
  readonly #ports: ArchiveRunnerPorts
  #state: ArchiveState
  /** Collected books whose blocks are not durable yet. */
  #pendingBooks: CheckpointBooks | null = null
  #bookAttempts = 0
  /** The last height that the previous round saw. */
  #lastSeen: number | null = null

  constructor(ports: ArchiveRunnerPorts, state: ArchiveState) {
    this.#ports = ports
    this.#state = state
  }

  get state(): ArchiveState {
    return this.#state
  }

  /** Adds data that was written outside the rounds. */
  addWritten(segments: number, bytes: number): void {
    const { segments: before, bytes: total } = this.#state
    this.#save({ segments: before + segments, bytes: total + bytes })
  }

  /** Subtracts data that was removed outside the rounds. */
  subtractRemoved({ segments, bytes }: Pick<ArchiveState, 'segments' | 'bytes'>): void {
    this.#save({ segments: this.#state.segments - segments, bytes: this.#state.bytes - bytes })
  }

  recordFailure(atMs: number, message: string): void {
    this.#save({ failure: { atMs, words: message } })
  }

  /** Returns the delay before the next round; null if it must wait for blocks. */
  async round(): Promise<number | null> {
    // A segment may have been written before the first state was saved.
    if (this.#state.last === null) this.#save({ last: await this.#ports.lastBlock() })
    const { last } = this.#state
    const cutter = new SegmentCutter(last)
    let cuts = 0
    let page: ArchivePage
    for (;;) {
      const from = (cutter.height ?? -1) + 1
      page = await this.#ports.page(from, this.#state)
      if (last && page.head && page.head.height < last.height)
        throw new Error(`The log is at block ${page.head.height}, below ${last.height}, the last archived block`)
      for (const part of page.parts)
        for (const cut of cutsOf(cutter, part)) {
          await this.#write(cut)
          cuts++
        }
      if (cuts >= MAX_CUTS) return 0
      if ((cutter.height ?? -1) + 1 === from) break
    }
    const reported = this.#state
    const trimmed = cuts > 0 ? await this.#ports.trim(this.#state) : null
    if (trimmed) this.#save(trimmed)
    const booksMs = await this.#books(page)
    if (this.#state !== reported) await this.#ports.page(null, this.#state)
    const isStill = cutter.height === this.#lastSeen && cuts === 0
    this.#lastSeen = cutter.height
    const endMs = isStill ? null : cutter.endMs
    const blocksMs = endMs === null || !page.head ? null : waitMs(endMs, page.head.time)
    return booksMs === null || blocksMs === null ? (booksMs ?? blocksMs) : Math.min(booksMs, blocksMs)
  }

  async #write(cut: Cut): Promise<void> {
    if ('gap' in cut) {
      await this.#ports.putGap(cut.gap)
      return this.#save({ last: { height: cut.gap.to, time: cut.gap.afterMs } })
    }
    const { segment } = cut
    const bytes = await this.#ports.putSegment(segment)
    const { segments, bytes: before } = this.#state
    const last = { height: segment.last, time: segment.lastMs }
    this.#save({ last, segments: segments + 1, bytes: before + bytes })
  }

  /** Writes a checkpoint if one is due. Returns the delay before the next attempt; null if none is needed. */
  async #books(page: ArchivePage): Promise<number | null> {
    if (this.#pendingBooks) return this.#putBooks(this.#pendingBooks, page)
    if (page.epoch === null || !isCheckpointDue(this.#state.checkpoint, page)) return null
    const { hubs, hubBooks } = this.#ports
    const collected = await collectBooks(hubs, page.epoch, hubBooks)
    if (!collected) return BOOK_RETRY_MS
    if (collected.unsure > 0 && ++this.#bookAttempts < MAX_BOOK_ATTEMPTS) return BOOK_RETRY_MS
    this.#bookAttempts = 0
    this.#pendingBooks = collected
    return DURABLE_MS
  }

  async #putBooks(collected: CheckpointBooks, { head, epoch }: ArchivePage): Promise<number | null> {
    const isDurable = head !== null && head.height >= collected.through
    if (epoch === collected.epoch && !isDurable) return DURABLE_MS
    this.#pendingBooks = null
    // Collect the books again after an epoch change. Also collect them again if a checkpoint of that height exists,
    // because a written checkpoint never changes.
    if (epoch !== collected.epoch || collected.height <= (this.#state.checkpoint?.height ?? -1)) return BOOK_RETRY_MS
    const bytes = (await this.#ports.putCheckpoint(collected)) + this.#state.bytes
    const { height, time } = collected
    this.#save({ bytes, checkpoint: { epoch: collected.epoch, height, time } })
    return null
  }

  #save(change: Partial<ArchiveState>): void {
    this.#state = { ...this.#state, ...change }
    this.#ports.save(this.#state)
  }
}

function* cutsOf(cutter: SegmentCutter, part: ArchivePart): Generator<Cut> {
  if ('gap' in part) yield* cutter.addGap(part.gap.from, part.gap.to)
  else for (const line of linesOf(part)) yield* cutter.addBlock(line)
}

/**
 * Interval of checkpoints. To restore a book, a reader applies the blocks since a checkpoint: at most about 13,000
 * lines.
 */
const CHECKPOINT_EVERY_MS = 15 * MINUTE_MS
/** Delay until a block in the log is durable. */
const LOG_DURABLE_MS = 1_500
/** Minimum interval between checkpoints after repairs. */
const REPAIR_INTERVAL_MS = MINUTE_MS

/** Backoff after failures. The log keeps unarchived blocks for hours. */
export const RETRY: Backoff = { firstMs: 1_000, capMs: MINUTE_MS, jitter: 0.5 }

export interface LastCheckpoint {
  readonly epoch: string
  readonly height: number
  readonly time: number
}

/** Delay until the segment that ends at `endMs` can be complete, if the newest block has time `headMs`. */
export function waitMs(endMs: number, headMs: number): number {
  return Math.min(MINUTE_MS, Math.max(1_000, endMs - headMs + LOG_DURABLE_MS))
}

/** Whether a checkpoint is due: every 15 minutes, after an epoch change, and after repairs. */
export function isCheckpointDue(
  last: LastCheckpoint | null,
  { head, epoch, repairedAt }: Pick<ArchivePage, 'head' | 'epoch' | 'repairedAt'>,
): boolean {
  if (head === null || epoch === null) return false
  if (last === null || last.epoch !== epoch) return true
  // Block times may decrease, for example after a clock ran ahead.
  if (Math.floor(head.time / CHECKPOINT_EVERY_MS) !== Math.floor(last.time / CHECKPOINT_EVERY_MS)) return true
  return repairedAt !== null && repairedAt >= last.height && Math.abs(head.time - last.time) >= REPAIR_INTERVAL_MS
}

// Splits blocks of the log into lines. Invariant: there is one books line and one events line per height.

/** Marks the end of the head of a stored books line (block-log/segment.ts). The rest is large and is not parsed. */
const AFTER_HEAD = ',"px":{'

type Head = Pick<ArchiveLine, 'height' | 'time' | 'epoch'>

/** Throws if the lines do not match the heights. */
export function linesOf({ first, last, books, events, payments }: StoredBlocks): ArchiveLine[] {
  const ofBooks = fromChunks(books).split('\n')
  const ofEvents = fromChunks(events).split('\n')
  const count = last - first + 1
  const paid = payments ? fromChunks(payments).split('\n') : Array<string>(count).fill('')
  const counts = [ofBooks.length, ofEvents.length, paid.length]
  if (counts.some((lines) => lines !== count))
    throw new Error(`the log has ${counts.join(', ')} lines of the ${count} blocks from ${first} on`)
  return ofBooks.map((line, at) => {
    const { height, time, epoch } = JSON.parse(`${line.slice(0, line.indexOf(AFTER_HEAD))}}`) as Head
    if (height !== first + at) throw new Error(`the log has block ${height} instead of block ${first + at}`)
    return { height, time, epoch, books: line, events: withPayments(ofEvents[at] ?? '', paid[at] ?? '') }
  })
}

// Collects all books of a chain from its hubs as checkpoint lines. Invariants: all books are of one epoch, or none is
// returned; each book states its height, because hubs advance during the collection.

/** Maximum length of all books together, in characters. The object's memory has room for only one copy of them. */
const MAX_BOOK_CHARS = 40 * 1024 * 1024

export interface CheckpointBooks {
  readonly epoch: string
  /** The lowest height of the books; `through` is the highest. */
  readonly height: number
  readonly through: number
  readonly time: number
  readonly coins: number
  /** Number of unverified books that were left out. */
  readonly unsure: number
  /** One line per book, starting with its coin. */
  readonly lines: readonly string[]
}

/** Returns null if a hub has no books of `epoch`. `fetchPage` fetches one page of a hub. */
export async function collectBooks(
  hubs: number,
  epoch: string,
  fetchPage: (hub: number, after: string | null) => Promise<HubBooks>,
): Promise<CheckpointBooks | null> {
  const lines: string[] = []
  const totals = { height: Number.POSITIVE_INFINITY, through: -1, time: Number.POSITIVE_INFINITY, left: 0, chars: 0 }
  for (let hub = 0; hub < hubs; hub++) {
    for (let after: string | null = null; ; ) {
      const page: HubBooks = await fetchPage(hub, after)
      if (page.epoch !== epoch) return null
      for (const { coin, height, seq, levels } of page.books) {
        lines.push(bookLine(coin, height, seq, levels))
        totals.height = Math.min(totals.height, height)
        totals.through = Math.max(totals.through, height)
        totals.chars += levels.length
      }
      if (page.books.length > 0) totals.time = Math.min(totals.time, page.time)
      totals.left += page.left
      if (totals.chars > MAX_BOOK_CHARS)
        throw new Error(`all books together have more than ${MAX_BOOK_CHARS} characters`)
      if (page.next === null) break
      after = page.next
    }
  }
  if (lines.length === 0) return null
  const { height, through, time, left } = totals
  return { epoch, height, through, time, unsure: left, coins: lines.length, lines }
}
