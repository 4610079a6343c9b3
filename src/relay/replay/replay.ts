// One body played to one socket. Laws: what is told is what live told, at the pace of the player and never faster than it is
// read; each minute of data is paid before its first block is told; what is missing is said; nothing is told after its end.

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
import { MINUTE_MS } from '../../core/time.ts'
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
  /** Pays a minute of data, unless it is not wanted any more then; false where it was refused, and the client was told. */
  pay(isWanted: () => boolean): Promise<boolean>
  /** Resolves with the work, when it was its turn: what is read of a segment takes memory. */
  serialize<T>(work: () => Promise<T>): Promise<T>
}

interface ReplayRequest {
  readonly target: Playable
  readonly meta: boolean
  /** JSON of the body as sent. */
  readonly echo: string
  readonly receiver: ReplayReceiver
}

/** How a replay came to its end; `live`: what follows begins with this height. */
export type ReplayEnd = { readonly kind: 'over' | 'unpaid' } | { readonly kind: 'live'; readonly from: number }

type Replayer = ReturnType<typeof eventReplayer> | ReturnType<typeof bookReplayer>
type Block = ReplayBlock<never>

/** The archive is looked at for more so often. */
const POLL_MS = 5_000
/** A replay that is paused for so long, or waits for what is not archived, is over. */
const IDLE_MS = 5 * MINUTE_MS
/** Lines read without a rest: live blocks wait for them. */
const LINES_PER_TURN = 16
/** Room that a block's frames need at least. */
const ROOM_BYTES = 64 * 1024

export class Replay {
  readonly #ports: ReplayPorts
  readonly #request: ReplayRequest
  readonly #replayer: Replayer
  readonly #player: Player<never>
  #books: HistoricalBooks | null = null
  #minute = -1
  /** Minute in which books were looked for in vain. */
  #unknownMinute = -1
  #reading: Promise<void> | null = null
  #nextPollMs = 0
  #idleMs: number
  #isOver = false
  /** What is at work when it seeks is of the place before, and is not told. */
  #seeks = 0
  #wake: () => void = () => undefined

  constructor(ports: ReplayPorts, one: ReplayRequest, plan: ReplayPlan) {
    this.#ports = ports
    this.#request = one
    const { target, meta } = one
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

  seek(place: ReplayPosition): void {
    this.#player.seek(place)
    this.#seeks++
    this.#books = null
    this.#minute = this.#unknownMinute = -1
    this.#nextPollMs = 0
    this.#idleMs = this.#ports.clock.nowMs
    this.#notify('sought')
    this.#wake()
  }

  /** Nothing more is told. */
  stop(): void {
    this.#isOver = true
    this.#wake()
  }

  get #hasEnded(): boolean {
    return this.#isOver || this.#request.receiver.isEnded
  }

  async #yield(): Promise<void> {
    await this.#ports.wait(0)
    if (this.#hasEnded) throw new Error('nobody waits')
  }

  /** Resolves with its end; rejects on a bug alone. */
  async run(): Promise<ReplayEnd> {
    try {
      return await this.#run()
    } finally {
      // Whoever counts replays counts what they hold.
      await this.#reading
    }
  }

  async #run(): Promise<ReplayEnd> {
    const { clock, wait } = this.#ports
    for (let played = 0; !this.#hasEnded; ) {
      this.#startRead()
      const waitMs = this.#player.waitMs(clock.nowMs)
      if (waitMs !== null) this.#idleMs = clock.nowMs
      if (clock.nowMs - this.#idleMs > IDLE_MS) return this.#finish()
      const piece = waitMs === 0 ? this.#player.take(clock.nowMs) : null
      const end = piece && (await this.#playPiece(piece))
      if (end) return end
      if (piece && ++played % LINES_PER_TURN === 0) await wait(0)
      const poked = new Promise<void>((go) => {
        this.#wake = go
      })
      if (!piece) await Promise.race([wait(Math.min(waitMs ?? 1_000, 1_000)), poked])
    }
    return { kind: 'over' }
  }

  #startRead(): void {
    const asked = this.#player.nextRead
    if (this.#reading || !asked || this.#ports.clock.nowMs < this.#nextPollMs) return
    this.#reading = this.#ports
      .serialize(() => this.#read(asked))
      // Whatever keeps the archive from being read may pass.
      .catch(() => {
        this.#nextPollMs = this.#ports.clock.nowMs + POLL_MS
      })
      .finally(() => {
        this.#reading = null
        this.#wake()
      })
  }

  async #read(asked: ReplayPosition): Promise<void> {
    const { archive, clock } = this.#ports
    if (this.#hasEnded || asked !== this.#player.nextRead) return
    const [segment] = await archive.segmentsFrom(asked, 1)
    if (segment) return this.#readSegment(asked, segment)
    this.#nextPollMs = clock.nowMs + POLL_MS
    const last = await archive.last()
    if (last !== null) this.#player.endOfArchive(asked, last)
  }

  async #readSegment(asked: ReplayPosition, segment: ArchivedSegment): Promise<void> {
    const blocks: Block[] = []
    try {
      for await (const line of this.#ports.archive.lines(segment, this.#request.target.source)) {
        if (isPartial(line, this.#request.target)) return this.#player.skip(asked, segment)
        blocks.push(this.#replayer.read(line) as Block)
        if (blocks.length % LINES_PER_TURN === 0) await this.#yield()
      }
    } catch (error) {
      if (!(error instanceof ArchiveDamage)) throw error
      return this.#player.skip(asked, segment)
    }
    this.#player.put(asked, blocks)
  }

  async #playPiece(piece: ReplayItem<never>): Promise<ReplayEnd | null> {
    if (piece.kind === 'gap') this.#notify('gap', { from: piece.from, to: piece.to })
    if (piece.kind === 'end') return this.#finish()
    if (piece.kind === 'live') return { kind: 'live', from: piece.from }
    if (piece.kind === 'block') return this.#sendBlock(piece)
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
    // Where no book is known nothing is told, and nothing paid.
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

  /** Whoever reads slowly is told later. */
  async #waitForRoom(bytes: number): Promise<void> {
    const { receiver } = this.#request
    for (let waitMs = receiver.snapshotWaitMs(Math.max(bytes, ROOM_BYTES)); waitMs > 0 && !this.#hasEnded; ) {
      await this.#ports.wait(waitMs)
      waitMs = receiver.snapshotWaitMs(Math.max(bytes, ROOM_BYTES))
    }
  }

  async #bookTexts(
    played: ReturnType<typeof bookReplayer>,
    block: HubBlock,
    minute: number,
  ): Promise<readonly string[]> {
    const { height } = block
    const told = this.#books && played.texts(block, this.#books)
    if (told) return told
    const isRepaired = this.#books?.loss?.kind === 'unknown'
    this.#books = null
    if (isRepaired) {
      this.#unknownMinute = minute
      this.#notify('unknown', { from: height })
    }
    if (this.#unknownMinute === minute) return []
    const seeks = this.#seeks
    const found = block.epoch === null ? null : await this.#findBooks(height, block.epoch).catch(() => null)
    if (seeks !== this.#seeks) return []
    this.#books = found
    if (this.#books) return [...played.snapshots(this.#books), ...(played.texts(block, this.#books) ?? [])]
    if (this.#unknownMinute < 0) this.#notify('unknown', { from: height })
    this.#unknownMinute = minute
    return []
  }

  /** Books before the block; at the beginning of an epoch those of a checkpoint of its first block. */
  async #findBooks(height: number, epoch: string): Promise<HistoricalBooks | null> {
    const { archive } = this.#ports
    const coins = this.#request.target.source === 'books' ? coinsOf(this.#request.target.body) : null
    const seeks = this.#seeks
    const rest = async () => {
      await this.#yield()
      if (seeks !== this.#seeks) throw new Error('another place is played')
    }
    const answer = await booksAt(archive, coins, height - 1, { yield: rest })
    if (answer.ok && answer.books.epoch === epoch) return answer.books
    const checkpoint = await archive.checkpointAt(height)
    if (checkpoint?.height !== height || checkpoint.epoch !== epoch) return null
    const books = await fromCheckpoint(archive, coins, checkpoint)
    return books?.completeAt === height ? books : null
  }

  #notify(event: string, more?: Readonly<Record<string, number>>): void {
    if (!this.#hasEnded) this.#request.receiver.send(replayFrame(this.#request.echo, event, more))
  }
}

// What a body of the past is told of each block: the very frames of live, by the same encoders.

/** Of a block that waits, beside its frames. */
const FRAME_BYTES = 100

/** So a line begins of which the archive has the fills alone. */
const ONLY_FILLS = '{"only":"fills",'

/** A body whose blocks the archive holds whole. */
export type Playable = EventsTarget | BooksTarget

export function isPlayable(target: Target): target is Playable {
  return target.source === 'books' || isReplayable(target)
}

/** Whether a line says less of its block than the body shows. */
function isPartial(line: string, target: Playable): boolean {
  return target.source === 'events' && target.channel.needs === 'events' && line.startsWith(ONLY_FILLS)
}

/** Reads lines of events, and tells of each what the body has of it. */
export function eventReplayer(target: EventsTarget, meta: boolean) {
  let texts: string[] = []
  const receiver: Receiver = { send: (text) => texts.push(text) }
  const topic = { target, meta, receivers: new Set([receiver]) }
  const index = addToIndex<Receiver>(new Map(), topic)
  return {
    /** What waits are the frames, few as they may be. */
    read: (line: string): ReplayBlock<readonly string[]> => {
      texts = []
      const { height, time, ...block } = JSON.parse(withoutPayments(line)) as RelayEvents
      sendBlock({ topic, index }, { ...block, height, time })
      return { height, time, bytes: texts.reduce((sum, text) => sum + text.length, FRAME_BYTES), block: texts }
    },
    texts: (block: readonly string[]) => block,
  }
}

/** Coins that are looked for in lines; null: all, of which some market types are told. */
export function coinsOf({ coins }: BookBody): ReadonlySet<string> | null {
  return coins && new Set(coins)
}

/** Reads lines of books. Texts are null where `books` lost what they follow. */
export function bookReplayer({ channel, body }: BooksTarget) {
  const coins = coinsOf(body)
  const isOwn = (coin: Coin) => coins?.has(coin) ?? body.types.includes(marketTypeOf(coin))
  return {
    read: (line: string) => {
      const block = readBooksLine(line, coins)
      // Of a line that was cut the coins alone wait.
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
        .map((one) => {
          const book = body.checksum ? books.bookOf(one.coin) : undefined
          return { ...one, ...(body.checksum && { checksum: book ? bookChecksum(book) : EMPTY_CHECKSUM }) }
        })
      if (entries.length === 0) return []
      const { height, time, epoch } = block
      return channel.encode({ height, time, epoch, updates: entries }, body.checksum).texts
    },
    /** What live begins with. */
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
