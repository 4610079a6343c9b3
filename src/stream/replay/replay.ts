// One body played to one socket. Laws: what is told is what live told, at the pace of the player and never faster than it is
// read; each minute of data is paid before its first block is told; what is missing is said; nothing is told after its end.

import type { HubBlock } from '../../feed/log-api.ts'
import type { ArchiveReader } from '../../history/archive/archive-read.ts'
import { booksAt, fromCheckpoint, type Resting } from '../../history/replay/archived-books.ts'
import type { BookAt } from '../../history/replay/book-at.ts'
import { type Piece, type Place, type Plan, Player, type ReadBlock } from '../../history/replay/player.ts'
import type { PacedReceiver } from '../events/replays.ts'
import { replayFrame } from '../frames.ts'
import { booksPlayed, coinsOf, eventsPlayed, type Playable } from './played-body.ts'

export interface ReplayPorts {
  readonly archive: ArchiveReader
  readonly clock: { readonly nowMs: number }
  wait(ms: number): Promise<void>
  /** Pays a minute of data; false where it was refused, and the client was told. */
  pay(): Promise<boolean>
}

interface Replayed {
  readonly wanted: Playable
  readonly meta: boolean
  /** JSON of the body as sent. */
  readonly echo: string
  readonly receiver: PacedReceiver
}

/** How a replay came to its end; `live`: what follows begins with this height. */
export type ReplayEnd = { readonly kind: 'over' | 'unpaid' } | { readonly kind: 'live'; readonly from: number }

type Played = ReturnType<typeof eventsPlayed> | ReturnType<typeof booksPlayed>
type Block = ReadBlock<never>

const MINUTE_MS = 60_000
/** The archive is looked at for more so often. */
const LOOK_MS = 5_000
const TRIES = 3
const RETRY_MS = 500
/** Lines read without a rest: live blocks wait for them. */
const LINES_AT_ONCE = 64
/** Room that a block's frames need at least. */
const ROOM_BYTES = 64 * 1024

export class Replay implements Resting {
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

  async rest(): Promise<void> {
    await this.#ports.wait(0)
    if (this.#hasEnded) throw new Error('nobody waits')
  }

  /** Resolves with its end; rejects on a bug alone. */
  async run(): Promise<ReplayEnd> {
    const { clock, wait } = this.#ports
    for (let played = 0; !this.#hasEnded; ) {
      this.#readOn()
      const waitMs = this.#player.waitMs(clock.nowMs)
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
    this.#reading = this.#read(asked)
      .catch(() => undefined)
      .finally(() => {
        this.#reading = null
        this.#poke()
      })
  }

  async #read(asked: Place): Promise<void> {
    const { archive, clock } = this.#ports
    const found = await this.#tried(() => archive.segmentsFrom(asked, 1))
    const segment = found?.[0]
    if (!segment) {
      this.#lookMs = clock.nowMs + LOOK_MS
      if (found) this.#player.none(asked, 'height' in asked ? asked.height - 1 : -1)
      return
    }
    const kind = this.#one.wanted.source
    const lines = await this.#tried(() => archive.lines(segment, kind))
    if (!lines) return this.#player.skip(asked, segment.last)
    const blocks: Block[] = []
    for (const line of lines) {
      blocks.push(this.#played.read(line) as Block)
      if (blocks.length % LINES_AT_ONCE === 0) await this.rest()
    }
    this.#player.put(asked, blocks)
  }

  async #tried<T>(ask: () => Promise<T>): Promise<T | null> {
    for (let tries = 0; tries < TRIES && !this.#hasEnded; tries++) {
      const answer = await ask().catch(() => null)
      if (answer !== null) return answer
      await this.#ports.wait(RETRY_MS)
    }
    return null
  }

  async #play(piece: Piece<never>): Promise<ReplayEnd | null> {
    if (piece.kind === 'gap') this.#tell('gap', { from: piece.from, to: piece.to })
    if (piece.kind === 'end') this.#tell('ended')
    if (piece.kind === 'end') return { kind: 'over' }
    if (piece.kind === 'live') return { kind: 'live', from: piece.from }
    if (piece.kind === 'block') return this.#block(piece)
    return null
  }

  async #block({ time, block }: Block): Promise<ReplayEnd | null> {
    const minute = Math.floor(time / MINUTE_MS)
    const seeks = this.#seeks
    if (minute !== this.#minute && !(await this.#ports.pay())) return { kind: 'unpaid' }
    if (seeks !== this.#seeks) return null
    this.#minute = minute
    const texts =
      'snapshots' in this.#played ? await this.#booksTexts(this.#played, block, minute) : this.#played.texts(block)
    for (const text of texts) {
      await this.#room(text.length)
      if (this.#hasEnded || seeks !== this.#seeks) break
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
    const answer = await booksAt(archive, coins, height - 1, this)
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
