// The log's side of one reader: its position and the next frames. It is pure: the shell sends frames and reads storage.
// A reader that is behind is served from storage in slices and, once it has caught up, gets live blocks. It never
// misses a height and never gets one twice.

import type { Coin } from '../core/coin.ts'
import type { AttachRequest, ReaderKind } from '../protocol/feed/log-api.ts'
import type { Interests } from './interest-counts.ts'
import {
  type BlockTexts,
  type EventsTexts,
  eventsText,
  gapText,
  hubBlockText,
  l4BlockText,
  readBooksLine,
  readEventsLine,
  type SegmentKind,
} from './segment.ts'

/** Returns the lines of the stored segment that contains a height; null if there is none. */
export type SegmentLookup = (kind: SegmentKind, height: number) => readonly string[] | null

/** Returns the last height of the recorded gap that contains a height; null if there is none. */
export type GapLookup = (height: number) => number | null

/**
 * A returning relay gets the order rows of at most this many missed blocks. Its clients could not keep up with more,
 * and starting over from a snapshot is faster.
 */
const ROWS_BLOCKS = 50
/**
 * While relays and order-level books together have more unread characters than this, no order rows are sent to those
 * above the mean. Order rows are by far the largest part of frames.
 */
export const ROWS_AHEAD_CHARS = 24 * 1024 * 1024
const NO_INTERESTS: Interests = { orders: new Set(), l4: new Set() }

/** The dialed socket. If a send fails, the socket closes and the reader attaches again. */
interface ReaderSocket {
  send(text: string): void
  close(): void
}

export class ReaderLink {
  readonly name: string
  readonly kind: ReaderKind
  readonly #accepts: (coin: Coin) => boolean
  readonly #interests: Interests
  /** Order rows of blocks below this height are left out. */
  readonly #rowsFrom: number
  readonly #socket: ReaderSocket
  readonly #rowsLimit: () => number
  readonly #follows: boolean
  #next: number
  #sent = 0
  #read = 0
  /** When the reader last reported progress, or last had nothing unread. */
  readMs = 0

  /**
   * `next`: the first height to send. `interests`: the reader's interests in order rows, updated in place. `head`: last
   * height of the log. `rowsLimit`: unread characters above which a relay gets no order rows.
   */
  constructor(
    request: AttachRequest,
    next: number,
    socket: ReaderSocket,
    shardOf: (coin: Coin, shards: number) => number,
    interests: Interests = NO_INTERESTS,
    head = next - 1,
    rowsLimit = () => ROWS_AHEAD_CHARS,
  ) {
    this.#rowsLimit = rowsLimit
    this.#rowsFrom = request.reader.kind === 'relay' ? head - ROWS_BLOCKS : 0
    // Order rows are useless to a new reader until it has a snapshot of the orders.
    this.#interests = request.reader.kind === 'l4' && request.cursor === null ? NO_INTERESTS : interests
    this.#socket = socket
    this.#follows = request.follows === true
    this.name = request.name
    this.kind = request.reader
    this.#next = next
    const { reader } = request
    this.#accepts = reader.kind === 'hub' ? (coin) => shardOf(coin, reader.shards) === reader.index : () => false
  }

  /** Characters that were sent but not yet reported as read. */
  get queued(): number {
    return this.#sent - this.#read
  }

  /** The same for a reader whose reports delay other readers; 0 for all others. */
  get unread(): number {
    return this.#follows ? this.queued : 0
  }

  /** Whether the reader understands ticks and verified digests. */
  get follows(): boolean {
    return this.#follows
  }

  /** Handles a report of the total characters that the reader has read on this link. */
  onRead(chars: number, nowMs: number): void {
    if (!(chars > this.#read && chars <= this.#sent)) return
    this.#read = chars
    this.readMs = nowMs
  }

  /** Handles a relay's report of the characters that it has read since its last report. */
  onReadMore(chars: number): void {
    this.#read = Math.min(this.#sent, this.#read + chars)
  }

  #send(text: string): void {
    this.#sent += text.length
    this.#socket.send(text)
  }

  /** Last height that was sent; -1 before the first block of an empty log. */
  get height(): number {
    return this.#next - 1
  }

  /**
   * Sends a live block if it is the next one for this reader. Otherwise the reader is behind, and `catchUp` sends the
   * block.
   */
  offer(block: BlockTexts): void {
    if (block.height !== this.#next) return
    this.#next++
    this.#send(this.kind.kind === 'hub' ? hubBlockText(block, this.#accepts) : this.#textOf(block))
  }

  #textOf(block: EventsTexts): string {
    const { orders, l4 } = this.#interests
    if (this.kind.kind === 'l4') return l4BlockText(block, l4)
    const hasRoom = l4.size === 0 || this.queued <= this.#rowsLimit()
    return eventsText(block, orders, hasRoom ? l4 : NO_INTERESTS.l4)
  }

  /** Sends a frame that is not a block (a seed or a gap) and skips the heights that it replaces. */
  sendFrame(text: string, next?: number): void {
    if (next !== undefined) this.#next = Math.max(this.#next, next)
    this.#send(text)
  }

  /** Sets the first height of a log that was empty. */
  beginAt(height: number): void {
    this.#next = height
  }

  /** Ends the link. The reader then attaches again and gets the log's position. */
  close(): void {
    this.#socket.close()
  }

  /** Whether a coin belongs to this reader's shard. */
  hasCoin(coin: Coin): boolean {
    return this.#accepts(coin)
  }

  /**
   * Sends the next stored lines, up to one segment, or the gap in their place. Returns the number of characters read
   * from storage; 0 if storage has nothing more for this reader.
   */
  catchUp(lookUp: SegmentLookup, gapAt: GapLookup): number {
    const kind: SegmentKind = this.kind.kind === 'hub' ? 'books' : 'events'
    const lines = lookUp(kind, this.#next)
    if (!lines) return this.#crossGap(gapAt)
    const rowsOf = (ofRows: 'orders' | 'l4') =>
      kind === 'events' && this.#interests[ofRows].size > 0 ? lookUp(ofRows, this.#next) : null
    const orders = rowsOf('orders')
    const l4 = this.#next < this.#rowsFrom ? null : rowsOf('l4')
    for (const [at, line] of lines.entries()) {
      const ofEvents = () => this.#eventsFrame(line, orders?.[at], l4?.[at])
      const { height, text } = kind === 'books' ? this.#booksFrame(line) : ofEvents()
      if (height !== this.#next) continue
      this.#next++
      this.#send(text)
    }
    return [...lines, ...(orders ?? []), ...(l4 ?? [])].reduce((sum, { length }) => sum + length + 1, 0)
  }

  #booksFrame(line: string): { height: number; text: string } {
    const block = readBooksLine(line)
    return { height: block.height, text: hubBlockText(block, this.#accepts) }
  }

  #eventsFrame(...lines: Parameters<typeof readEventsLine>): { height: number; text: string } {
    const block = readEventsLine(...lines)
    return { height: block.height, text: this.#textOf(block) }
  }

  #crossGap(gapAt: GapLookup): number {
    const to = gapAt(this.#next)
    if (to === null) return 0
    const text = gapText(this.#next, to)
    this.sendFrame(text, to + 1)
    return text.length
  }
}

// Backpressure. The platform does not report how much of a socket's data is still unsent, so hubs report what they have
// read. If a hub lags, feeders are asked to pause. If they do not pause, no further block is accepted. A stalled hub is
// disconnected.

/**
 * If a reader has more unread characters than this, feeders are asked to pause. It is twice what a reader can read per
 * second during the fastest catch-up.
 */
export const SLOW_CHARS = 16 * 1024 * 1024
/** If a reader has more unread characters than this, no further block is accepted. */
export const FULL_CHARS = 2 * SLOW_CHARS
/** Duration of the pause. */
export const SLOW_MS = 250
/** A reader without progress for this long is disconnected. If it is alive, it attaches again. */
const STUCK_MS = 10_000

type Reader = Pick<ReaderLink, 'kind' | 'queued' | 'unread' | 'readMs' | 'close'>

/**
 * Unread characters above which a reader gets no order rows. Invariant: all readers of order rows together have at most
 * twice ROWS_AHEAD_CHARS of them queued, plus one block each.
 */
export function rowsLimit(readers: Iterable<Pick<Reader, 'kind' | 'queued'>>): number {
  let sum = 0
  let count = 0
  for (const { kind, queued } of readers) {
    if (kind.kind === 'hub' || queued === 0) continue
    sum += queued
    count++
  }
  return sum > ROWS_AHEAD_CHARS ? Math.floor(ROWS_AHEAD_CHARS / count) : ROWS_AHEAD_CHARS
}

/** Unread characters of the slowest reader. Closes stalled readers, which do not count. */
export function maxUnread(readers: Iterable<Reader>, nowMs: number): number {
  const limit = rowsLimit(readers)
  let slowest = 0
  for (const reader of readers) {
    // An order-level book never delays other readers, because it can resume from stored blocks.
    if (reader.kind.kind === 'l4') {
      if (reader.unread > limit) reader.close()
    } else if (reader.unread > SLOW_CHARS && nowMs - reader.readMs > STUCK_MS) reader.close()
    else slowest = Math.max(slowest, reader.unread)
  }
  return slowest
}
