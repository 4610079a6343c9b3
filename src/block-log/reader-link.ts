// The log's side of one reader: its position and the next frames. Pure: the shell sends and reads storage. A reader
// that is behind is served from storage, a slice at a time, and joins the live blocks once it has caught up. It never
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

/** Lines of the stored segment that contains a height, or null. */
export type SegmentLookup = (kind: SegmentKind, height: number) => readonly string[] | null

/** Last height of the recorded gap that contains a height, or null. */
export type GapLookup = (height: number) => number | null

/**
 * A relay gets rows of coins again for this many blocks: its clients could not keep up with more, and starting over is
 * faster.
 */
const ROWS_BLOCKS = 50
/** A relay with more unread characters than this gets no rows, which are by far the largest frames. */
const ROWS_AHEAD_CHARS = 24 * 1024 * 1024
const NO_INTERESTS: Interests = { orders: new Set(), l4: new Set() }

/** The dialed socket. A failed send closes it, and the reader attaches again. */
interface ReaderSocket {
  send(text: string): void
  close(): void
}

export class ReaderLink {
  readonly name: string
  readonly kind: ReaderKind
  readonly #accepts: (coin: Coin) => boolean
  readonly #interests: Interests
  /** Rows of coins are left out below this height. */
  readonly #rowsFrom: number
  readonly #socket: ReaderSocket
  readonly #follows: boolean
  #next: number
  #sent = 0
  #read = 0
  /** When it last reported progress, or last had nothing unread. */
  readMs = 0

  /** `next`: the first height to send. `interests`: live interests in order rows. `head`: height of the log. */
  constructor(
    request: AttachRequest,
    next: number,
    socket: ReaderSocket,
    shardOf: (coin: Coin, shards: number) => number,
    interests: Interests = NO_INTERESTS,
    head = next - 1,
  ) {
    this.#rowsFrom = request.reader.kind === 'relay' ? head - ROWS_BLOCKS : 0
    // Rows of blocks are useless before it has a snapshot of the orders.
    this.#interests = request.reader.kind === 'l4' && request.cursor === null ? NO_INTERESTS : interests
    this.#socket = socket
    this.#follows = request.follows === true
    this.name = request.name
    this.kind = request.reader
    this.#next = next
    const { reader } = request
    this.#accepts = reader.kind === 'hub' ? (coin) => shardOf(coin, reader.shards) === reader.index : () => false
  }

  /** Characters sent but not yet reported as read; 0 for a reader that does not report. */
  get unread(): number {
    return this.#follows ? this.#sent - this.#read : 0
  }

  /** True for a reader that knows ticks and verified digests. */
  get follows(): boolean {
    return this.#follows
  }

  /** The reader reports the total characters it has read on this link. */
  onRead(chars: number, nowMs: number): void {
    if (!(chars > this.#read && chars <= this.#sent)) return
    this.#read = chars
    this.readMs = nowMs
  }

  /** A relay reports characters it has read since its last report. */
  onReadMore(chars: number): void {
    this.#read = Math.min(this.#sent, this.#read + chars)
  }

  #send(text: string): void {
    this.#sent += text.length
    this.#socket.send(text)
  }

  /** Last height sent; -1 before the first block of an empty log. */
  get height(): number {
    return this.#next - 1
  }

  /** Sends a live block if it is this reader's next. Otherwise the reader is behind, and `catchUp` sends it. */
  offer(block: BlockTexts): void {
    if (block.height !== this.#next) return
    this.#next++
    this.#send(this.kind.kind === 'hub' ? hubBlockText(block, this.#accepts) : this.#textOf(block))
  }

  #textOf(block: EventsTexts): string {
    const { orders, l4 } = this.#interests
    if (this.kind.kind === 'l4') return l4BlockText(block, l4)
    return eventsText(block, orders, this.#sent - this.#read > ROWS_AHEAD_CHARS ? NO_INTERESTS.l4 : l4)
  }

  /** Sends a frame other than a block (a seed, a gap) and skips the heights it replaces. */
  sendFrame(text: string, next?: number): void {
    if (next !== undefined) this.#next = Math.max(this.#next, next)
    this.#send(text)
  }

  /** The log was empty and starts at this height. */
  beginAt(height: number): void {
    this.#next = height
  }

  /** Ends the link. The reader then attaches again and gets the log's position. */
  close(): void {
    this.#socket.close()
  }

  /** True for a coin of this reader's shard. */
  hasCoin(coin: Coin): boolean {
    return this.#accepts(coin)
  }

  /**
   * Sends the next stored lines, up to one segment, or the gap in their place. Returns the characters read from
   * storage; 0 when it holds nothing more for this reader.
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

// Backpressure. The platform does not report what a socket has yet to send, so hubs report what they read. When one
// lags, feeders are asked to pause; if they do not, no further block is accepted. A stalled hub is disconnected.

/** Unread characters of one reader at which feeders are asked to pause: twice one second of the fastest catch-up. */
export const SLOW_CHARS = 16 * 1024 * 1024
/** Number of unread characters at which no further block is accepted. */
export const FULL_CHARS = 2 * SLOW_CHARS
/** Length of the pause. */
export const SLOW_MS = 250
/** A reader that makes no progress for this long is disconnected; it attaches again if it is alive. */
const STUCK_MS = 10_000

type Reader = Pick<ReaderLink, 'kind' | 'unread' | 'readMs' | 'close'>

/** Unread characters of the slowest reader. Closes stalled readers and leaves them out. */
export function maxUnread(readers: Iterable<Reader>, nowMs: number): number {
  let slowest = 0
  for (const reader of readers) {
    // An order-level book never delays others: it resumes from stored blocks.
    if (reader.kind.kind === 'l4') {
      if (reader.unread > FULL_CHARS) reader.close()
    } else if (reader.unread > SLOW_CHARS && nowMs - reader.readMs > STUCK_MS) reader.close()
    else slowest = Math.max(slowest, reader.unread)
  }
  return slowest
}
