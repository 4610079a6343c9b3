// One reader of the log as the log sees it: where it stands and what it is sent next. Pure: the shell gives it
// a way to send and a way to look blocks up. A reader that is behind is served from storage, a slice at a time,
// and joins the live blocks when it has caught up; it never misses a height and never sees one twice.

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

/** How a reader gets at what it has missed: lines of the stored segment with a height, or null. */
export type SegmentLookup = (kind: SegmentKind, height: number) => readonly string[] | null

/** The last height of a recorded gap that has a height, or null where none has. */
export type GapLookup = (height: number) => number | null

/** A relay is sent rows of coins again of so many blocks: its clients could not take more, and begin anew sooner. */
const ROWS_BLOCKS = 50
/** A relay that has yet to read so much, more than those, is sent no rows until it has: nothing else here is as much. */
const ROWS_AHEAD_CHARS = 24 * 1024 * 1024
const NO_INTERESTS: Interests = { orders: new Set(), l4: new Set() }

/** The dialled socket: a failed send closes it, and the reader attaches again. */
interface ReaderSocket {
  send(text: string): void
  close(): void
}

export class ReaderLink {
  readonly name: string
  readonly kind: ReaderKind
  readonly #hasCoinOf: (coin: Coin) => boolean
  readonly #interests: Interests
  /** Rows of coins in stored blocks below it are left out. */
  readonly #rowsFrom: number
  readonly #socket: ReaderSocket
  readonly #follows: boolean
  #next: number
  #sent = 0
  #read = 0
  /** When it last said that it has read something, or nothing was under way. */
  readMs = 0

  /** `next` is the first height this reader is to be sent, `wanted` whose rows of orders at each time, `head` where the log stands. */
  constructor(
    request: AttachRequest,
    next: number,
    socket: ReaderSocket,
    shardOf: (coin: Coin, shards: number) => number,
    wanted: Interests = NO_INTERESTS,
    head = next - 1,
  ) {
    this.#rowsFrom = request.reader.kind === 'relay' ? head - ROWS_BLOCKS : 0
    // Before it has whole orders it could do nothing with the rows of blocks.
    this.#interests = request.reader.kind === 'l4' && request.cursor === null ? NO_INTERESTS : wanted
    this.#socket = socket
    this.#follows = request.follows === true
    this.name = request.name
    this.kind = request.reader
    this.#next = next
    const { reader } = request
    this.#hasCoinOf = reader.kind === 'hub' ? (coin) => shardOf(coin, reader.shards) === reader.index : () => false
  }

  /** Characters that were sent and that it has not said to have read; 0 for one that does not follow. */
  get unread(): number {
    return this.#follows ? this.#sent - this.#read : 0
  }

  /** True for one that knows ticks and verified digests. */
  get follows(): boolean {
    return this.#follows
  }

  /** It says that it has read so many characters of this link. */
  onRead(chars: number, nowMs: number): void {
    if (!(chars > this.#read && chars <= this.#sent)) return
    this.#read = chars
    this.readMs = nowMs
  }

  /** A relay says that it has read so many more. */
  onReadMore(chars: number): void {
    this.#read = Math.min(this.#sent, this.#read + chars)
  }

  #send(text: string): void {
    this.#sent += text.length
    this.#socket.send(text)
  }

  /** Last height sent; -1 while the log was empty and nothing was. */
  get height(): number {
    return this.#next - 1
  }

  /** Sends a live block if it is this reader's next; otherwise the reader is behind and `catchUp` will send it. */
  offer(block: BlockTexts): void {
    if (block.height !== this.#next) return
    this.#next++
    this.#send(this.kind.kind === 'hub' ? hubBlockText(block, this.#hasCoinOf) : this.#textOf(block))
  }

  #textOf(block: EventsTexts): string {
    const { orders, l4 } = this.#interests
    if (this.kind.kind === 'l4') return l4BlockText(block, l4)
    return eventsText(block, orders, this.#sent - this.#read > ROWS_AHEAD_CHARS ? NO_INTERESTS.l4 : l4)
  }

  /** Sends a frame that is not a block (a seed, a gap) and moves over the heights it replaces. */
  sendFrame(text: string, next?: number): void {
    if (next !== undefined) this.#next = Math.max(this.#next, next)
    this.#send(text)
  }

  /** The log was empty and begins with this height. */
  beginAt(height: number): void {
    this.#next = height
  }

  /** Ends the link; the reader attaches again and learns where the log stands. */
  close(): void {
    this.#socket.close()
  }

  /** True for a coin of this reader's shard. */
  hasCoin(coin: Coin): boolean {
    return this.#hasCoinOf(coin)
  }

  /**
   * Sends the stored lines that come next, one segment, or the gap that stands there; answers how many characters of
   * storage that took, 0 where it holds nothing more for this reader.
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
    return { height: block.height, text: hubBlockText(block, this.#hasCoinOf) }
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

// Backpressure. The platform does not tell what a socket has yet to send, so hubs report how much they read. Where one lags,
// feeders are asked to pause; where they do not, no further block is taken; a hub that stands still is disconnected.

/** Characters under way to one reader at which feeders are asked to pause: twice a second of the worst catch-up … */
export const SLOW_CHARS = 16 * 1024 * 1024
/** … and at which no block is taken. */
export const FULL_CHARS = 2 * SLOW_CHARS
/** For how long feeders are asked to pause. */
export const SLOW_MS = 250
/** A reader that has read nothing of so much for this long is let go: it attaches again where it lives. */
const STUCK_MS = 10_000

type Reader = Pick<ReaderLink, 'kind' | 'unread' | 'readMs' | 'close'>

/** Unread characters of the slowest reader. Closes readers that stand still, and leaves them out. */
export function maxUnread(readers: Iterable<Reader>, nowMs: number): number {
  let most = 0
  for (const reader of readers) {
    // A single order-level book keeps nobody waiting: it reads on from where it is, out of what is stored.
    if (reader.kind.kind === 'l4') {
      if (reader.unread > FULL_CHARS) reader.close()
    } else if (reader.unread > SLOW_CHARS && nowMs - reader.readMs > STUCK_MS) reader.close()
    else most = Math.max(most, reader.unread)
  }
  return most
}
