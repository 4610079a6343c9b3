// Joins checkpoints, book segments and event segments of an archive into the events of a few coins. Invariants: a book that is lost
// continues from the first checkpoint after the loss, and never without one; one segment is in memory at a time.

import type { ArchivedBook, ArchivedCheckpoint } from '../../archive/archive/archive-read.ts'
import { readBooksLine } from '../../archive/replay/books-line.ts'
import type { Coin } from '../../core/coin.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts'
import type { UserFill } from '../../protocol/feed/block.ts'
import type { HubBlock } from '../../protocol/feed/log-api.ts'
import { type Trade, tradesOf } from '../../protocol/feed/trades.ts'
import { BookTape, type TapeEvent } from './book-tape.ts'

/** A range of times, Unix ms, inclusive. */
export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

interface TapeSegment {
  readonly first: number
  readonly last: number
  lines(): AsyncIterable<string>
}

export interface TapeCheckpoint {
  readonly height: number
  readonly timeMs: number
  /** `coins`: all coins that have a book. `books`: the books of the requested coins. */
  read(coins: ReadonlySet<string>): Promise<{
    readonly head: ArchivedCheckpoint
    readonly coins: readonly string[]
    readonly books: readonly ArchivedBook[]
  }>
}

/** Parts of an archive by the time of their first block, in order. */
export interface TapeSource {
  segments(kind: 'books' | 'events', range: TimeRange): AsyncIterable<TapeSegment>
  checkpoints(range: TimeRange): AsyncIterable<TapeCheckpoint>
}

export interface TapeRequest extends TimeRange {
  readonly coins: ReadonlySet<Coin>
  readonly hasTrades: boolean
}

/** An event of a coin. `dayMs`: start of the UTC day of its block. Each day starts with a snapshot or a gap of each coin. */
export interface CoinEvent {
  readonly coin: Coin
  readonly dayMs: number
  readonly event: TapeEvent
}

/** Checkpoints are written every 15 minutes, unless an object is busy or restarting. */
const CHECKPOINT_SPAN_MS = 20 * MINUTE_MS
/** Where to look for a checkpoint before a range, in order. */
export function checkpointSpans({ fromMs }: TimeRange): TimeRange[] {
  const span = (farMs: number, nearMs: number) => ({ fromMs: Math.max(0, fromMs - farMs), toMs: fromMs - nearMs })
  return [span(CHECKPOINT_SPAN_MS, 0), span(2 * HOUR_MS, CHECKPOINT_SPAN_MS + 1)]
}

const FILLS = '"fills":[[' as const

export class HistoryTape {
  readonly #source: TapeSource
  readonly #request: TapeRequest
  readonly #tapes: readonly BookTape[]
  #pending: TapeCheckpoint | null = null
  #hasCheckpoints = true
  #dayMs = -1
  /** The last block of the range so far. */
  last: { readonly height: number; readonly time: number } | null = null
  #startMs: number

  constructor(source: TapeSource, request: TapeRequest) {
    this.#source = source
    this.#request = request
    this.#startMs = minuteOf(request.fromMs)
    this.#tapes = [...request.coins].map((coin) => new BookTape(coin))
  }

  /**
   * Reads the checkpoint before the range. Call it before `events`. Returns the coins that have a book in it, or null if there is no
   * checkpoint.
   */
  async open(): Promise<readonly string[] | null> {
    const first = await this.#firstCheckpoint()
    if (first === null) return null
    this.#startMs = minuteOf(first.timeMs)
    return this.#restart(first)
  }

  async *events(): AsyncGenerator<CoinEvent> {
    const { coins, fromMs, toMs, hasTrades } = this.#request
    const events = hasTrades ? this.#source.segments('events', { fromMs: minuteOf(fromMs), toMs }) : noSegments()
    const trades = new TradeReader(coins, events)
    for await (const segment of this.#source.segments('books', { fromMs: this.#startMs, toMs })) {
      await trades.read(segment.last)
      for await (const line of segment.lines()) {
        const block = readBooksLine(line, coins)
        if (block.time > toMs) return
        if (this.#pending && block.height > this.#pending.height) await this.#restart(this.#pending)
        yield* this.#eventsOf(block, trades.take(block.height))
        if (this.#hasCheckpoints && this.#pending === null && this.#tapes.some(({ isLost }) => isLost))
          await this.#findCheckpoint(block)
      }
    }
  }

  *#eventsOf(block: HubBlock, trades: readonly Trade[]): Generator<CoinEvent> {
    const isWanted = block.time >= this.#request.fromMs
    const dayMs = Math.floor(block.time / DAY_MS) * DAY_MS
    if (isWanted) this.last = block
    if (isWanted && dayMs > this.#dayMs) {
      this.#dayMs = dayMs
      for (const tape of this.#tapes) tape.begin()
    }
    for (const tape of this.#tapes) {
      const [first, ...rest] = tape.apply(block, isWanted)
      const own = isWanted ? trades.filter(({ coin }) => coin === tape.coin) : []
      const traded = own.map((trade): TapeEvent => ({ kind: 'trade', height: block.height, timeMs: block.time, trade }))
      // A part starts with its snapshot or gap. Otherwise trades precede the changes that they cause.
      const isStart = first !== undefined && first.kind !== 'change'
      const ordered = isStart ? [first, ...traded, ...rest] : [...traded, ...(first ? [first] : []), ...rest]
      for (const event of ordered) yield { coin: tape.coin, dayMs: this.#dayMs, event }
    }
  }

  /** The last checkpoint before the range. */
  async #firstCheckpoint(): Promise<TapeCheckpoint | null> {
    let last: TapeCheckpoint | null = null
    for (const span of checkpointSpans(this.#request)) {
      for await (const checkpoint of this.#source.checkpoints(span)) last = checkpoint
      if (last) break
    }
    return last
  }

  /** Looks for the first checkpoint at or after the last block that was read. */
  async #findCheckpoint(block: HubBlock): Promise<void> {
    const { toMs } = this.#request
    for await (const checkpoint of this.#source.checkpoints({ fromMs: block.time, toMs }))
      if (checkpoint.height >= block.height) {
        this.#pending = checkpoint
        return
      }
    this.#hasCheckpoints = false
  }

  async #restart(checkpoint: TapeCheckpoint): Promise<readonly string[]> {
    this.#pending = null
    const { head, coins, books } = await checkpoint.read(this.#request.coins)
    for (const tape of this.#tapes)
      if (tape.isLost) tape.restart(head, books.find(({ coin }) => coin === tape.coin) ?? null)
    return coins
  }
}

/** All blocks of a segment are of one minute. */
export const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

async function* noSegments(): AsyncGenerator<TapeSegment> {}

/** Trades of a few coins, read one event segment at a time. */
class TradeReader {
  readonly #coins: readonly (readonly [coin: Coin, text: string])[]
  readonly #segments: AsyncIterator<TapeSegment>
  #last = -1
  readonly #trades = new Map<number, readonly Trade[]>()

  constructor(coins: ReadonlySet<Coin>, segments: AsyncIterable<TapeSegment>) {
    this.#coins = [...coins].map((coin) => [coin, `"coin":${JSON.stringify(coin)}`] as const)
    this.#segments = segments[Symbol.asyncIterator]()
  }

  /** Reads up to this height, if there are event segments. */
  async read(height: number): Promise<void> {
    while (this.#last < height) {
      const next = await this.#segments.next()
      this.#last = next.done ? Number.POSITIVE_INFINITY : next.value.last
      if (next.done) return
      for await (const line of next.value.lines()) this.#readLine(line)
    }
  }

  #readLine(line: string): void {
    if (!line.includes(FILLS) || !this.#coins.some(([, text]) => line.includes(text))) return
    const { height, fills } = JSON.parse(line) as { readonly height: number; readonly fills: readonly UserFill[] }
    const own = fills.filter(([, { coin }]) => this.#coins.some(([name]) => name === coin))
    const trades = tradesOf(own)
    if (trades.length > 0) this.#trades.set(height, trades)
  }

  /** The trades of a block. Drops those of earlier blocks. */
  take(height: number): readonly Trade[] {
    const found = this.#trades.get(height) ?? []
    for (const each of this.#trades.keys()) {
      if (each > height) break
      this.#trades.delete(each)
    }
    return found
  }
}
