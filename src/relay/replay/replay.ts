// One body played to one socket. Laws: what is told is what live told, at the pace of the player and never faster than it is
// read; each minute of data is paid before its first block is told; what is missing is said; nothing is told after its end.

import type { ArchivedSegment, ArchiveReader } from '../../archive/archive/archive-read.ts'
import { ArchiveDamage } from '../../archive/archive/archive-read.ts'
import { booksAt, fromCheckpoint } from '../../archive/replay/archived-books.ts'
import type { BookAt } from '../../archive/replay/book-at.ts'
import { readBooksLine } from '../../archive/replay/books-line.ts'
import { type Piece, type Place, type Plan, Player, type ReadBlock } from '../../archive/replay/player.ts'
import { type Coin, marketTypeOf } from '../../core/coin.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { bookChecksum, EMPTY_CHECKSUM } from '../../order-books/checksum.ts'
import type { HubBlock, RelayEvents } from '../../protocol/feed/log-api.ts'
import { withoutPayments } from '../../protocol/feed/payments.ts'
import { replayFrame } from '../../protocol/relay/frames.ts'
import type { BookBody } from '../body-fields.ts'
import { isReplayable, type Wanted, type WantedBooks, type WantedEvents } from '../channel.ts'
import { putInto, type Receiver, tell } from '../events/parcels.ts'
import type { ReplayReceiver } from '../events/replays.ts'

export interface ReplayPorts {
  readonly archive: ArchiveReader
  readonly clock: { readonly nowMs: number }
  wait(ms: number): Promise<void>
  /** Pays a minute of data, unless it is not wanted any more then; false where it was refused, and the client was told. */
  pay(isWanted: () => boolean): Promise<boolean>
  /** Resolves with the work, when it was its turn: what is read of a segment takes memory. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

interface Replayed {
  readonly wanted: Playable
  readonly meta: boolean
  /** JSON of the body as sent. */
  readonly echo: string
  readonly receiver: ReplayReceiver
}

/** How a replay came to its end; `live`: what follows begins with this height. */
export type ReplayEnd = { readonly kind: 'over' | 'unpaid' } | { readonly kind: 'live'; readonly from: number }

type Played = ReturnType<typeof eventsPlayed> | ReturnType<typeof booksPlayed>
type Block = ReadBlock<never>

/** The archive is looked at for more so often. */
const LOOK_MS = 5_000
/** A replay that is paused for so long, or waits for what is not archived, is over. */
const IDLE_MS = 5 * MINUTE_MS
/** Lines read without a rest: live blocks wait for them. */
const LINES_AT_ONCE = 16
/** Room that a block's frames need at least. */
const ROOM_BYTES = 64 * 1024

export class Replay {
  readonly #ports: ReplayPorts
  readonly #one: Replayed
  readonly #played: Played
  readonly #player: Player<never>
  #books: BookAt | null = null
  #minute = -1
  /** Minute in which books were looked for in vain. */
  #lostIn = -1
  #reading: Promise<void> | null = null
  #lookMs = 0
  #idleMs: number
  #isOver = false
  /** What is at work when it seeks is of the place before, and is not told. */
  #seeks = 0
  #poke: () => void = () => undefined

  constructor(ports: ReplayPorts, one: Replayed, plan: Plan) {
    this.#ports = ports
    this.#one = one
    const { wanted, meta } = one
    this.#played = wanted.source === 'events' ? eventsPlayed(wanted, meta) : booksPlayed(wanted)
    this.#player = new Player(plan)
    this.#idleMs = ports.clock.nowMs
  }

  pause(): void {
    this.#player.pause(this.#ports.clock.nowMs)
    this.#tell('paused')
  }

  resume(): void {
    this.#player.resume(this.#ports.clock.nowMs)
    this.#tell('playing')
    this.#poke()
  }

  seek(place: Place): void {
    this.#player.seek(place)
    this.#seeks++
    this.#books = null
    this.#minute = this.#lostIn = -1
    this.#lookMs = 0
    this.#idleMs = this.#ports.clock.nowMs
    this.#tell('sought')
    this.#poke()
  }

  /** Nothing more is told. */
  stop(): void {
    this.#isOver = true
    this.#poke()
  }

  get #hasEnded(): boolean {
    return this.#isOver || this.#one.receiver.ended
  }

  async #rest(): Promise<void> {
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
      this.#readOn()
      const waitMs = this.#player.waitMs(clock.nowMs)
      if (waitMs !== null) this.#idleMs = clock.nowMs
      if (clock.nowMs - this.#idleMs > IDLE_MS) return this.#over()
      const piece = waitMs === 0 ? this.#player.take(clock.nowMs) : null
      const end = piece && (await this.#play(piece))
      if (end) return end
      if (piece && ++played % LINES_AT_ONCE === 0) await wait(0)
      const poked = new Promise<void>((go) => {
        this.#poke = go
      })
      if (!piece) await Promise.race([wait(Math.min(waitMs ?? 1_000, 1_000)), poked])
    }
    return { kind: 'over' }
  }

  #readOn(): void {
    const asked = this.#player.wanted
    if (this.#reading || !asked || this.#ports.clock.nowMs < this.#lookMs) return
    this.#reading = this.#ports
      .inTurn(() => this.#read(asked))
      // Whatever keeps the archive from being read may pass.
      .catch(() => {
        this.#lookMs = this.#ports.clock.nowMs + LOOK_MS
      })
      .finally(() => {
        this.#reading = null
        this.#poke()
      })
  }

  async #read(asked: Place): Promise<void> {
    const { archive, clock } = this.#ports
    if (this.#hasEnded || asked !== this.#player.wanted) return
    const [segment] = await archive.segmentsFrom(asked, 1)
    if (segment) return this.#readSegment(asked, segment)
    this.#lookMs = clock.nowMs + LOOK_MS
    const last = await archive.last()
    if (last !== null) this.#player.none(asked, last)
  }

  async #readSegment(asked: Place, segment: ArchivedSegment): Promise<void> {
    const blocks: Block[] = []
    try {
      for await (const line of this.#ports.archive.lines(segment, this.#one.wanted.source)) {
        if (isPartly(line, this.#one.wanted)) return this.#player.skip(asked, segment)
        blocks.push(this.#played.read(line) as Block)
        if (blocks.length % LINES_AT_ONCE === 0) await this.#rest()
      }
    } catch (error) {
      if (!(error instanceof ArchiveDamage)) throw error
      return this.#player.skip(asked, segment)
    }
    this.#player.put(asked, blocks)
  }

  async #play(piece: Piece<never>): Promise<ReplayEnd | null> {
    if (piece.kind === 'gap') this.#tell('gap', { from: piece.from, to: piece.to })
    if (piece.kind === 'end') return this.#over()
    if (piece.kind === 'live') return { kind: 'live', from: piece.from }
    if (piece.kind === 'block') return this.#block(piece)
    return null
  }

  #over(): ReplayEnd {
    this.#tell('ended')
    return { kind: 'over' }
  }

  async #block({ time, block }: Block): Promise<ReplayEnd | null> {
    const minute = Math.floor(time / MINUTE_MS)
    const seeks = this.#seeks
    const isWanted = () => seeks === this.#seeks && !this.#hasEnded
    const isOfBooks = 'snapshots' in this.#played
    const texts =
      'snapshots' in this.#played ? await this.#booksTexts(this.#played, block, minute) : this.#played.texts(block)
    if (!isWanted()) return null
    // Where no book is known nothing is told, and nothing paid.
    const isCharged = minute !== this.#minute && !(isOfBooks && this.#books === null)
    if (isCharged && !(await this.#ports.pay(isWanted))) return { kind: 'unpaid' }
    if (isCharged && isWanted()) this.#minute = minute
    for (const text of texts) {
      await this.#room(text.length)
      if (!isWanted()) break
      this.#one.receiver.send(text)
    }
    return null
  }

  /** Whoever reads slowly is told later. */
  async #room(bytes: number): Promise<void> {
    const { receiver } = this.#one
    for (let waitMs = receiver.snapshotWaitMs(Math.max(bytes, ROOM_BYTES)); waitMs > 0 && !this.#hasEnded; ) {
      await this.#ports.wait(waitMs)
      waitMs = receiver.snapshotWaitMs(Math.max(bytes, ROOM_BYTES))
    }
  }

  async #booksTexts(
    played: ReturnType<typeof booksPlayed>,
    block: HubBlock,
    minute: number,
  ): Promise<readonly string[]> {
    const { height } = block
    const told = this.#books && played.texts(block, this.#books)
    if (told) return told
    const isRepaired = this.#books?.lost?.kind === 'unknown'
    this.#books = null
    if (isRepaired) {
      this.#lostIn = minute
      this.#tell('unknown', { from: height })
    }
    if (this.#lostIn === minute) return []
    const seeks = this.#seeks
    const found = block.epoch === null ? null : await this.#found(height, block.epoch).catch(() => null)
    if (seeks !== this.#seeks) return []
    this.#books = found
    if (this.#books) return [...played.snapshots(this.#books), ...(played.texts(block, this.#books) ?? [])]
    if (this.#lostIn < 0) this.#tell('unknown', { from: height })
    this.#lostIn = minute
    return []
  }

  /** Books before the block; at the beginning of an epoch those of a checkpoint of its first block. */
  async #found(height: number, epoch: string): Promise<BookAt | null> {
    const { archive } = this.#ports
    const coins = this.#one.wanted.source === 'books' ? coinsOf(this.#one.wanted.body) : null
    const seeks = this.#seeks
    const rest = async () => {
      await this.#rest()
      if (seeks !== this.#seeks) throw new Error('another place is played')
    }
    const answer = await booksAt(archive, coins, height - 1, { rest })
    if (answer.ok && answer.books.epoch === epoch) return answer.books
    const checkpoint = await archive.checkpointAt(height)
    if (checkpoint?.height !== height || checkpoint.epoch !== epoch) return null
    const books = await fromCheckpoint(archive, coins, checkpoint)
    return books?.wholeAt === height ? books : null
  }

  #tell(event: string, more?: Readonly<Record<string, number>>): void {
    if (!this.#hasEnded) this.#one.receiver.send(replayFrame(this.#one.echo, event, more))
  }
}

// What a body of the past is told of each block: the very frames of live, by the same encoders.

/** Of a block that waits, beside its frames. */
const FRAME_BYTES = 100

/** So a line begins of which the archive has the fills alone. */
const ONLY_FILLS = '{"only":"fills",'

/** A body whose blocks the archive holds whole. */
export type Playable = WantedEvents | WantedBooks

export function isPlayable(wanted: Wanted): wanted is Playable {
  return wanted.source === 'books' || isReplayable(wanted)
}

/** Whether a line says less of its block than the body shows. */
function isPartly(line: string, wanted: Playable): boolean {
  return wanted.source === 'events' && wanted.channel.needs === 'events' && line.startsWith(ONLY_FILLS)
}

/** Reads lines of events, and tells of each what the body has of it. */
export function eventsPlayed(wanted: WantedEvents, meta: boolean) {
  let texts: string[] = []
  const receiver: Receiver = { send: (text) => texts.push(text) }
  const topic = { wanted, meta, receivers: new Set([receiver]) }
  const index = putInto<Receiver>(new Map(), topic)
  return {
    /** What waits are the frames, few as they may be. */
    read: (line: string): ReadBlock<readonly string[]> => {
      texts = []
      const { height, time, ...block } = JSON.parse(withoutPayments(line)) as RelayEvents
      tell({ topic, index }, { ...block, height, time })
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
export function booksPlayed({ channel, body }: WantedBooks) {
  const coins = coinsOf(body)
  const isOwn = (coin: Coin) => coins?.has(coin) ?? body.types.includes(marketTypeOf(coin))
  return {
    read: (line: string) => {
      const block = readBooksLine(line, coins)
      // Of a line that was cut the coins alone wait.
      return waiting(block, 200 + 60 * (block.books ?? []).reduce((sum, { levels }) => sum + levels.flat().length, 0))
    },
    texts: (block: HubBlock, books: BookAt): readonly string[] | null => {
      const fragments = books.take(block)
      if (fragments === null) return null
      const entries = fragments
        .filter(({ coin }) => isOwn(coin))
        .map((one) => {
          const book = body.checksum ? books.bookOf(one.coin) : undefined
          return { ...one, ...(body.checksum && { checksum: book ? bookChecksum(book) : EMPTY_CHECKSUM }) }
        })
      if (entries.length === 0) return []
      const { height, time, epoch } = block
      return channel.encode({ height, time, epoch, entries }, body.checksum).texts
    },
    /** What live begins with. */
    snapshots: (books: BookAt): readonly string[] =>
      books
        .coins()
        .filter(isOwn)
        .flatMap((coin) => {
          const snapshot = channel.snapshot && books.snapshot(coin)
          return (snapshot && channel.snapshot?.(snapshot)) ?? []
        }),
  }
}

function waiting<B extends { readonly height: number; readonly time: number }>(block: B, bytes: number): ReadBlock<B> {
  return { height: block.height, time: block.time, bytes, block }
}
