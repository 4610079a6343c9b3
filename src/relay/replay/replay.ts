// Replays one body to one socket. Invariants: frames equal the live ones, at the player's pace and never faster than
// they are read; each minute of data is paid before its first block; gaps are reported; nothing is sent after the end.

import type { ArchivedSegment, ArchiveReader } from '../../archive/archive/archive-read.ts'
import { ArchiveDamage } from '../../archive/archive/archive-read.ts'
import { booksAt, fromCheckpoint } from '../../archive/replay/archived-books.ts'
import { readBooksLine } from '../../archive/replay/books-line.ts'
import type { HistoricalBooks } from '../../archive/replay/historical-books.ts'
import {
  Player,
  type ReplayBlock,
  type ReplayItem,
  type ReplayPlan,
  type ReplayPosition,
} from '../../archive/replay/player.ts'
import { type Coin, marketTypeOf } from '../../core/coin.ts'
import { MINUTE_MS, YIELD_MS } from '../../core/time.ts'
import { bookChecksum, EMPTY_CHECKSUM } from '../../order-books/checksum.ts'
import type { HubBlock, RelayEvents } from '../../protocol/feed/log-api.ts'
import { withoutPayments } from '../../protocol/feed/payments.ts'
import { replayFrame } from '../../protocol/relay/frames.ts'
import type { BookBody } from '../body-fields.ts'
import { type BooksTarget, type EventsTarget, isReplayable, type Target } from '../channel.ts'
import { addToIndex, type Receiver, sendBlock } from '../events/event-frames.ts'
import type { ReplayReceiver } from '../events/log-replays.ts'

export interface ReplayPorts {
  readonly archive: ArchiveReader
  readonly clock: { readonly nowMs: number }
  wait(ms: number): Promise<void>
  /** Pays a minute of data unless it is no longer wanted. False if it was refused; the client was notified. */
  pay(isWanted: () => boolean): Promise<boolean>
  /** Runs tasks one at a time, because reading a segment takes memory. */
  serialize<T>(work: () => Promise<T>): Promise<T>
}

interface ReplayRequest {
  readonly target: Playable
  readonly meta: boolean
  /** JSON of the body as sent. */
  readonly echo: string
  readonly receiver: ReplayReceiver
}

/** How a replay ended. `live`: live data continues at this height. */
export type ReplayEnd = { readonly kind: 'over' | 'unpaid' } | { readonly kind: 'live'; readonly from: number }

type Replayer = ReturnType<typeof eventReplayer> | ReturnType<typeof bookReplayer>
type Block = ReplayBlock<never>

/** Polling interval of the archive. */
const POLL_MS = 5_000
/** A replay that is paused, or waits for the archive, ends after this time. */
const IDLE_MS = 5 * MINUTE_MS
/** Maximum number of lines read before yielding, because live blocks wait meanwhile. */
const LINES_PER_TURN = 16
/** Minimum room for a block's frames. */
const ROOM_BYTES = 64 * 1024

export class Replay {
  readonly #ports: ReplayPorts
  readonly #request: ReplayRequest
  readonly #replayer: Replayer
  readonly #player: Player<never>
  #books: HistoricalBooks | null = null
  #minute = -1
  /** Minute in which no books were found. The replay looks for them again in the next minute, or at `#retryHeight`. */
  #unknownMinute = -1
  /** Height of the next checkpoint. */
  #retryHeight = Number.POSITIVE_INFINITY
  #reading: Promise<void> | null = null
  #nextPollMs = 0
  #idleMs: number
  #isOver = false
  /** Number of seeks. Work that began before the last seek belongs to the old position and is discarded. */
  #seeks = 0
  #wake: () => void = () => undefined

  constructor(ports: ReplayPorts, request: ReplayRequest, plan: ReplayPlan) {
    this.#ports = ports
    this.#request = request
    const { target, meta } = request
    this.#replayer = target.source === 'events' ? eventReplayer(target, meta) : bookReplayer(target)
    this.#player = new Player(plan)
    this.#idleMs = ports.clock.nowMs
  }

  pause(): void {
    this.#player.pause(this.#ports.clock.nowMs)
    this.#notify('paused')
  }

  resume(): void {
    this.#player.resume(this.#ports.clock.nowMs)
    this.#notify('playing')
    this.#wake()
  }

  seek(position: ReplayPosition): void {
    this.#player.seek(position)
    this.#seeks++
    this.#books = null
    this.#minute = this.#unknownMinute = -1
    this.#nextPollMs = 0
    this.#idleMs = this.#ports.clock.nowMs
    this.#notify('sought')
    this.#wake()
  }

  /** Stops the replay, which then sends nothing more. */
  stop(): void {
    this.#isOver = true
    this.#wake()
  }

  get #hasEnded(): boolean {
    return this.#isOver || this.#request.receiver.isEnded
  }

  async #yield(): Promise<void> {
    await this.#ports.wait(YIELD_MS)
    if (this.#hasEnded) throw new Error('the replay ended')
  }

  /** Resolves with how the replay ended. Rejects only if there is a bug. */
  async run(): Promise<ReplayEnd> {
    try {
      return await this.#run()
    } finally {
      // Replays are counted until their memory is free.
      await this.#reading
      this.#player.end()
    }
  }

  async #run(): Promise<ReplayEnd> {
    const { clock, wait } = this.#ports
    for (let count = 0; !this.#hasEnded; ) {
      this.#startRead()
      const waitMs = this.#player.waitMs(clock.nowMs)
      if (waitMs !== null) this.#idleMs = clock.nowMs
      if (clock.nowMs - this.#idleMs > IDLE_MS) return this.#finish()
      const step = waitMs === 0 ? this.#player.take(clock.nowMs) : null
      const end = step && (await this.#playPiece(step))
      if (end) return end
      if (step && ++count % LINES_PER_TURN === 0) await wait(YIELD_MS)
      const woken = new Promise<void>((go) => {
        this.#wake = go
      })
      if (!step) await Promise.race([wait(Math.min(waitMs ?? 1_000, 1_000)), woken])
    }
    return { kind: 'over' }
  }

  #startRead(): void {
    const requested = this.#player.nextRead
    if (this.#reading || !requested || this.#ports.clock.nowMs < this.#nextPollMs) return
    this.#reading = this.#ports
      .serialize(() => this.#read(requested))
      // Archive failures may be temporary.
      .catch(() => {
        this.#nextPollMs = this.#ports.clock.nowMs + POLL_MS
      })
      .finally(() => {
        this.#reading = null
        this.#wake()
      })
  }

  async #read(requested: ReplayPosition): Promise<void> {
    const { archive, clock } = this.#ports
    if (this.#hasEnded || requested !== this.#player.nextRead) return
    const [segment] = await archive.segmentsFrom(requested, 1)
    if (segment) return this.#readSegment(requested, segment)
    this.#nextPollMs = clock.nowMs + POLL_MS
    const last = await archive.last()
    if (last !== null) this.#player.endOfArchive(requested, last)
  }

  async #readSegment(requested: ReplayPosition, segment: ArchivedSegment): Promise<void> {
    const blocks: Block[] = []
    try {
      for await (const line of this.#ports.archive.lines(segment, this.#request.target.source)) {
        if (isPartial(line, this.#request.target)) return this.#player.skip(requested, segment)
        blocks.push(this.#replayer.read(line) as Block)
        if (blocks.length % LINES_PER_TURN === 0) await this.#yield()
      }
    } catch (error) {
      if (!(error instanceof ArchiveDamage)) throw error
      return this.#player.skip(requested, segment)
    }
    this.#player.put(requested, blocks)
  }

  async #playPiece(step: ReplayItem<never>): Promise<ReplayEnd | null> {
    if (step.kind === 'gap') this.#notify('gap', { from: step.from, to: step.to })
    if (step.kind === 'end') return this.#finish()
    if (step.kind === 'live') return { kind: 'live', from: step.from }
    if (step.kind === 'block') return this.#sendBlock(step)
    return null
  }

  #finish(): ReplayEnd {
    this.#notify('ended')
    return { kind: 'over' }
  }

  async #sendBlock({ time, block }: Block): Promise<ReplayEnd | null> {
    const minute = Math.floor(time / MINUTE_MS)
    const seeks = this.#seeks
    const isWanted = () => seeks === this.#seeks && !this.#hasEnded
    const isOfBooks = 'snapshots' in this.#replayer
    const texts =
      'snapshots' in this.#replayer ? await this.#bookTexts(this.#replayer, block, minute) : this.#replayer.texts(block)
    if (!isWanted()) return null
    // If no book is known, nothing is sent or charged.
    const isCharged = minute !== this.#minute && !(isOfBooks && this.#books === null)
    if (isCharged && !(await this.#ports.pay(isWanted))) return { kind: 'unpaid' }
    if (isCharged && isWanted()) this.#minute = minute
    for (const text of texts) {
      await this.#waitForRoom(text.length)
      if (!isWanted()) break
      this.#request.receiver.send(text)
    }
    return null
  }

  /** A slow reader is served later. */
  async #waitForRoom(bytes: number): Promise<void> {
    const { receiver } = this.#request
    for (let waitMs = receiver.snapshotWaitMs(Math.max(bytes, ROOM_BYTES)); waitMs > 0 && !this.#hasEnded; ) {
      await this.#ports.wait(waitMs)
      waitMs = receiver.snapshotWaitMs(Math.max(bytes, ROOM_BYTES))
    }
  }

  async #bookTexts(
    count: ReturnType<typeof bookReplayer>,
    block: HubBlock,
    minute: number,
  ): Promise<readonly string[]> {
    const { height } = block
    const continued = this.#books && count.texts(block, this.#books)
    if (continued) return continued
    const isLost = this.#books?.loss?.kind === 'unknown'
    this.#books = null
    if (!isLost && this.#unknownMinute === minute && height < this.#retryHeight) return []
    const seeks = this.#seeks
    const books = isLost || block.epoch === null ? null : await this.#findBooks(height, block.epoch).catch(() => null)
    const next = books ? null : await this.#ports.archive.checkpointAfter(height).catch(() => null)
    if (seeks !== this.#seeks) return []
    this.#books = books
    if (books) {
      this.#unknownMinute = -1
      return [...count.snapshots(books), ...(count.texts(block, books) ?? [])]
    }
    if (this.#unknownMinute < 0 || isLost) this.#notify('unknown', { from: height })
    this.#unknownMinute = minute
    this.#retryHeight = next?.height ?? Number.POSITIVE_INFINITY
    return []
  }

  /**
   * Returns the books before the block at `height`. If an epoch starts there, returns the books of its first
   * checkpoint.
   */
  async #findBooks(height: number, epoch: string): Promise<HistoricalBooks | null> {
    const { archive } = this.#ports
    const coins = this.#request.target.source === 'books' ? coinsOf(this.#request.target.body) : null
    const seeks = this.#seeks
    const yieldTurn = async () => {
      await this.#yield()
      if (seeks !== this.#seeks) throw new Error('the replay was moved')
    }
    const result = await booksAt(archive, coins, height - 1, { yield: yieldTurn })
    if (result.ok && result.books.epoch === epoch) return result.books
    const checkpoint = await archive.checkpointAt(height)
    if (checkpoint?.height !== height || checkpoint.epoch !== epoch) return null
    const books = await fromCheckpoint(archive, coins, checkpoint)
    return books?.completeAt === height ? books : null
  }

  #notify(event: string, more?: Readonly<Record<string, number>>): void {
    if (!this.#hasEnded) this.#request.receiver.send(replayFrame(this.#request.echo, event, more))
  }
}

// Encodes replayed blocks with the encoders of the live channels.

/** Memory that a waiting block needs in addition to its frames. */
const FRAME_BYTES = 100

/** First characters of a line for a block of which the archive has only the fills. */
const ONLY_FILLS = '{"only":"fills",'

/** A body whose blocks are fully archived. */
export type Playable = EventsTarget | BooksTarget

export function isPlayable(target: Target): target is Playable {
  return target.source === 'books' || isReplayable(target)
}

/** Whether the line lacks parts of its block that the body shows. */
function isPartial(line: string, target: Playable): boolean {
  return target.source === 'events' && target.channel.needs === 'events' && line.startsWith(ONLY_FILLS)
}

/** Reads event lines and returns the body's frames. */
export function eventReplayer(target: EventsTarget, meta: boolean) {
  let texts: string[] = []
  const receiver: Receiver = { send: (text) => texts.push(text) }
  const topic = { target, meta, receivers: new Set([receiver]) }
  const index = addToIndex<Receiver>(new Map(), topic)
  return {
    /** Only the frames are kept, because they may be few. */
    read: (line: string): ReplayBlock<readonly string[]> => {
      texts = []
      const { height, time, ...block } = JSON.parse(withoutPayments(line)) as RelayEvents
      sendBlock({ topic, index }, { ...block, height, time })
      return { height, time, bytes: texts.reduce((sum, text) => sum + text.length, FRAME_BYTES), block: texts }
    },
    texts: (block: readonly string[]) => block,
  }
}

/** Coins to read from lines; null for all, filtered by market type. */
export function coinsOf({ coins }: BookBody): ReadonlySet<string> | null {
  return coins && new Set(coins)
}

/** Reads book lines. The frames are null if `books` lost continuity. */
export function bookReplayer({ channel, body }: BooksTarget) {
  const coins = coinsOf(body)
  const isOwn = (coin: Coin) => coins?.has(coin) ?? body.types.includes(marketTypeOf(coin))
  return {
    read: (line: string) => {
      const block = readBooksLine(line, coins)
      // A trimmed line keeps only its coins.
      return toReadBlock(
        block,
        200 + 60 * (block.books ?? []).reduce((sum, { levels }) => sum + levels.flat().length, 0),
      )
    },
    texts: (block: HubBlock, books: HistoricalBooks): readonly string[] | null => {
      const fragments = books.apply(block)
      if (fragments === null) return null
      const entries = fragments
        .filter(({ coin }) => isOwn(coin))
        .map((fragment) => {
          const book = body.checksum ? books.bookOf(fragment.coin) : undefined
          return { ...fragment, ...(body.checksum && { checksum: book ? bookChecksum(book) : EMPTY_CHECKSUM }) }
        })
      if (entries.length === 0) return []
      const { height, time, epoch } = block
      return channel.encode({ height, time, epoch, updates: entries }, body.checksum).texts
    },
    /** The snapshots that start the live data. */
    snapshots: (books: HistoricalBooks): readonly string[] =>
      books
        .coins()
        .filter(isOwn)
        .flatMap((coin) => {
          const snapshot = channel.snapshot && books.snapshot(coin)
          return (snapshot && channel.snapshot?.(snapshot)) ?? []
        }),
  }
}

function toReadBlock<B extends { readonly height: number; readonly time: number }>(
  block: B,
  bytes: number,
): ReplayBlock<B> {
  return { height: block.height, time: block.time, bytes, block }
}
