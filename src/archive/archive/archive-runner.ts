// One round of the Archiver: from the log into segments, and now and then all books. Laws: what is called archived has its
// objects and its row; a round that ends anywhere is begun again from what was saved, and writes the same under the same
// names; heights are neither missing nor doubled.

import type { Backoff } from '../../core/backoff.ts'
import { fromChunks } from '../../core/chunks.ts'
import { MINUTE_MS } from '../../core/time.ts'
import type { ArchivePage, ArchivePart, ArchiveReport, StoredBlocks } from '../../protocol/feed/archive-api.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { withPayments } from '../../protocol/feed/payments.ts'
import type { HubBooks } from '../../protocol/hub/hub-api.ts'
import { type ArchiveLine, type Cut, type CutGap, type CutSegment, SegmentCutter } from './segment-cutter.ts'

/** Segments of one round: some seconds of work. */
const MAX_CUTS = 16
/** Books that are not sure are waited for through so many rounds … */
const MAX_BOOK_ATTEMPTS = 12
/** … each so long after the last. */
const BOOK_RETRY_MS = 5_000
/** Books are written when the blocks that they stand at are durable. */
const DURABLE_MS = 2_000

export interface ArchiveState {
  /** All up to here is archived: the last block, or the end of a gap with the time of the block before. */
  readonly last: HeightAndTime | null
  readonly segments: number
  readonly bytes: number
  readonly checkpoint: LastCheckpoint | null
  readonly failure: ArchiveReport['failure']
}

export const EMPTY_ARCHIVE_STATE: ArchiveState = { last: null, segments: 0, bytes: 0, checkpoint: null, failure: null }

export interface ArchiveRunnerPorts {
  /** What the log has from a height on, null for nothing; it is told of the state. */
  page(from: number | null, state: ArchiveState): Promise<ArchivePage>
  /** Each answers how many bytes it took. */
  putSegment(cut: CutSegment): Promise<number>
  putCheckpoint(books: CheckpointBooks): Promise<number>
  putGap(gap: CutGap): Promise<void>
  readonly hubs: number
  hubBooks(hub: number, after: string | null): Promise<HubBooks>
  trim(state: ArchiveState): Promise<Pick<ArchiveState, 'segments' | 'bytes'> | null>
  /** The last block of the last segment that has a row; null without one. */
  lastBlock(): Promise<HeightAndTime | null>
  /** Keeps the state; what is saved is never taken back. */
  save(state: ArchiveState): void
}

export class ArchiveRunner {
  readonly #ports: ArchiveRunnerPorts
  #state: ArchiveState
  /** Books that wait to be durable. */
  #pendingBooks: CheckpointBooks | null = null
  #bookAttempts = 0
  /** The last height that the round before saw. */
  #lastSeen: number | null = null

  constructor(ports: ArchiveRunnerPorts, state: ArchiveState) {
    this.#ports = ports
    this.#state = state
  }

  get state(): ArchiveState {
    return this.#state
  }

  /** Others wrote so much beside the rounds. */
  addWritten(segments: number, bytes: number): void {
    const { segments: before, bytes: held } = this.#state
    this.#save({ segments: before + segments, bytes: held + bytes })
  }

  /** So much went beside a round. */
  subtractRemoved({ segments, bytes }: Pick<ArchiveState, 'segments' | 'bytes'>): void {
    this.#save({ segments: this.#state.segments - segments, bytes: this.#state.bytes - bytes })
  }

  recordFailure(atMs: number, words: string): void {
    this.#save({ failure: { atMs, words } })
  }

  /** Answers after how long the next round is due; null: when blocks come. */
  async round(): Promise<number | null> {
    // A segment may have been written before its first state was.
    if (this.#state.last === null) this.#save({ last: await this.#ports.lastBlock() })
    const { last } = this.#state
    const cutter = new SegmentCutter(last)
    let cuts = 0
    let page: ArchivePage
    for (;;) {
      const from = (cutter.height ?? -1) + 1
      page = await this.#ports.page(from, this.#state)
      if (last && page.head && page.head.height < last.height)
        throw new Error(`the log stands at ${page.head.height}, below ${last.height}, up to which all is archived`)
      for (const part of page.parts)
        for (const cut of cutsOf(cutter, part)) {
          await this.#write(cut)
          cuts++
        }
      if (cuts >= MAX_CUTS) return 0
      if ((cutter.height ?? -1) + 1 === from) break
    }
    const told = this.#state
    const trimmed = cuts > 0 ? await this.#ports.trim(this.#state) : null
    if (trimmed) this.#save(trimmed)
    const booksMs = await this.#books(page)
    if (this.#state !== told) await this.#ports.page(null, this.#state)
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

  /** Sees to a checkpoint that is due; answers when to come again for it, null where that is not needed. */
  async #books(page: ArchivePage): Promise<number | null> {
    if (this.#pendingBooks) return this.#putBooks(this.#pendingBooks, page)
    if (page.epoch === null || !isCheckpointDue(this.#state.checkpoint, page)) return null
    const { hubs, hubBooks } = this.#ports
    const taken = await collectBooks(hubs, page.epoch, hubBooks)
    if (!taken) return BOOK_RETRY_MS
    if (taken.unsure > 0 && ++this.#bookAttempts < MAX_BOOK_ATTEMPTS) return BOOK_RETRY_MS
    this.#bookAttempts = 0
    this.#pendingBooks = taken
    return DURABLE_MS
  }

  async #putBooks(taken: CheckpointBooks, { head, epoch }: ArchivePage): Promise<number | null> {
    const isDurable = head !== null && head.height >= taken.through
    if (epoch === taken.epoch && !isDurable) return DURABLE_MS
    this.#pendingBooks = null
    // Of another epoch, and where one of that height is there, books are taken anew: a name has one content.
    if (epoch !== taken.epoch || taken.height <= (this.#state.checkpoint?.height ?? -1)) return BOOK_RETRY_MS
    const bytes = (await this.#ports.putCheckpoint(taken)) + this.#state.bytes
    const { height, time } = taken
    this.#save({ bytes, checkpoint: { epoch: taken.epoch, height, time } })
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

/** From one checkpoint to the next: what lies between has to be read for a book of the past, some 13,000 lines. */
const CHECKPOINT_EVERY_MS = 15 * MINUTE_MS
/** A block is durable in the log so soon after its time. */
const LOG_DURABLE_MS = 1_500
/** Books that were repaired are written anew no more often. */
const REPAIR_INTERVAL_MS = MINUTE_MS

/** After failures: the log keeps what waits, for hours. */
export const RETRY: Backoff = { firstMs: 1_000, capMs: MINUTE_MS, jitter: 0.5 }

export interface LastCheckpoint {
  readonly epoch: string
  readonly height: number
  readonly time: number
}

/** How long after the newest block (of time `headMs`) the segment that ends at `endMs` of block time can be whole. */
export function waitMs(endMs: number, headMs: number): number {
  return Math.min(MINUTE_MS, Math.max(1_000, endMs - headMs + LOG_DURABLE_MS))
}

/** Whether all books are to be written: each quarter of an hour, in each epoch, and where no block leads to a book. */
export function isCheckpointDue(
  last: LastCheckpoint | null,
  { head, epoch, repairedAt }: Pick<ArchivePage, 'head' | 'epoch' | 'repairedAt'>,
): boolean {
  if (head === null || epoch === null) return false
  if (last === null || last.epoch !== epoch) return true
  // Times of blocks may fall, as where a clock was ahead.
  if (Math.floor(head.time / CHECKPOINT_EVERY_MS) !== Math.floor(last.time / CHECKPOINT_EVERY_MS)) return true
  return repairedAt !== null && repairedAt >= last.height && Math.abs(head.time - last.time) >= REPAIR_INTERVAL_MS
}

// What the log handed over, as the lines it is made of. Invariant: both kinds have a line for each height.

/** What a stored line of books begins with (block-log/segment.ts): the rest, which is nearly all, is not parsed. */
const AFTER_HEAD = ',"px":{'

type Head = Pick<ArchiveLine, 'height' | 'time' | 'epoch'>

/** Throws where the lines are not of the heights that they should be of. */
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
    if (height !== first + at) throw new Error(`the log has block ${height} in the place of ${first + at}`)
    return { height, time, epoch, books: line, events: withPayments(ofEvents[at] ?? '', paid[at] ?? '') }
  })
}

// All books of a chain out of its hubs, as the lines of a checkpoint. Invariant: books of one epoch or none; each says the height
// after which it is true, since hubs go on while they are asked.

/** Characters of all books: an object has the memory for them and not for several times as many. */
const MAX_BOOK_CHARS = 40 * 1024 * 1024

export interface CheckpointBooks {
  readonly epoch: string
  /** The least height of a book, and the highest. */
  readonly height: number
  readonly through: number
  readonly time: number
  readonly coins: number
  /** Books that were not sure, and are not among them. */
  readonly unsure: number
  readonly lines: readonly string[]
}

/** Null where the books of `epoch` are not known to every hub; `ask` is for a page of one. */
export async function collectBooks(
  hubs: number,
  epoch: string,
  fetchPage: (hub: number, after: string | null) => Promise<HubBooks>,
): Promise<CheckpointBooks | null> {
  const lines: string[] = []
  const taken = { height: Number.POSITIVE_INFINITY, through: -1, time: Number.POSITIVE_INFINITY, left: 0, chars: 0 }
  for (let hub = 0; hub < hubs; hub++) {
    for (let after: string | null = null; ; ) {
      const page: HubBooks = await fetchPage(hub, after)
      if (page.epoch !== epoch) return null
      for (const { coin, height, seq, levels } of page.books) {
        lines.push(`{"coin":${JSON.stringify(coin)},"height":${height},"seq":${seq},"levels":${levels}}`)
        taken.height = Math.min(taken.height, height)
        taken.through = Math.max(taken.through, height)
        taken.chars += levels.length
      }
      if (page.books.length > 0) taken.time = Math.min(taken.time, page.time)
      taken.left += page.left
      if (taken.chars > MAX_BOOK_CHARS) throw new Error(`all books have more than ${MAX_BOOK_CHARS} characters`)
      if (page.next === null) break
      after = page.next
    }
  }
  if (lines.length === 0) return null
  const { height, through, time, left } = taken
  const head = JSON.stringify({ epoch, height, time, coins: lines.length })
  return { epoch, height, through, time, unsure: left, coins: lines.length, lines: [head, ...lines] }
}
