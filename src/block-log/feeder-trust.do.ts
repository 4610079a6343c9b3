// Which feeder is believed: copies of a height are held against the one that was taken, books against those that a
// feeder has compared with its node's, and whoever sent wrong ones is passed over where another can be followed.

import type { Block } from '../protocol/feed/block.ts'
import { type Differing, type HubVerified, LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { Verified } from '../protocol/feed/protocol.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'
import { Agreement } from './agreement.ts'
import { startedOver } from './chain.ts'
import type { FeederLinks, FeederSocket } from './feeder-links.do.ts'
import { FullerCopies, NEAR_MS } from './fuller-copies.ts'
import type { HeldBlocks } from './held-blocks.do.ts'
import type { ReaderLinks } from './reader-links.do.ts'
import { type BlockTexts, encodeBlock } from './segment.ts'

/** A feeder whose link was cut or that stood still is back by then; for longer nothing is held up for the books. */
const BLIND_MS = 8_000

export class FeederTrust {
  readonly #held: HeldBlocks
  readonly #feeders: FeederLinks
  readonly #readers: ReaderLinks
  readonly #agreement = new Agreement()
  readonly #copies = new FullerCopies()
  readonly #sinceMs = Date.now()
  /** The block that waits because its changes are not known. */
  #spared: number | null = null

  constructor(held: HeldBlocks, feeders: FeederLinks, readers: ReaderLinks) {
    this.#held = held
    this.#feeders = feeders
    this.#readers = readers
  }

  get view(): Pick<LogStatus, 'disagreements' | 'wrongBooks'> {
    return { disagreements: this.#agreement.disagreements, wrongBooks: this.#agreement.wrong.list }
  }

  /** A block of this feeder was taken. */
  taken(texts: BlockTexts, feeder: FeederSocket): void {
    this.#agreement.taken({ texts, feeder: feeder.name })
  }

  /** The order statuses to be told with a block that is taken. */
  ordersWith(feeder: FeederSocket, block: Block): unknown[] {
    return this.#copies.taken(feeder, block)
  }

  /** A copy of a held height: the first one stands. A feeder that contradicts its own copy has another chain. */
  compare(feeder: FeederSocket, block: Block): void {
    const { height } = block
    this.#copies.came(feeder, block, Date.now())
    this.#copies.compared(feeder, block)
    // Rows of orders are nothing that copies are compared by, and there may be much of them.
    const bare = { ...block, orders: [], l4: [], payments: undefined }
    const copy = { texts: encodeBlock(bare, null), feeder: feeder.name }
    const { durable, chain } = this.#held
    if (!this.#agreement.compare(copy, Date.now(), () => this.#held.booksAt(height)))
      return feeder.conflict(startedOver(height, chain.height ?? height))
    if (durable !== null && height <= durable) feeder.send({ type: 'ack', height: durable })
  }

  /** Others come first while their blocks come: it is not trusted, or lacks books or rows that they may have. */
  isPassedOver(feeder: FeederSocket, block: Block, nowMs: number): boolean {
    const { height, books } = block
    this.#copies.came(feeder, block, nowMs)
    if (books !== null || !this.#held.chain.booksKnown)
      return this.isDistrusted(feeder, nowMs) || this.#isLeft(feeder, height, nowMs)
    feeder.blindAt = height
    const isAble = (one: FeederSocket) => one.blindAt !== height && !this.#distrusts(one, nowMs)
    return this.#feeders.others(feeder, nowMs, isAble) || this.#isSpared(feeder, height, nowMs, isAble)
  }

  /** A block without its changes costs all books: one that knows them is waited for, and then it is asked for again. */
  #isSpared(feeder: FeederSocket, height: number, nowMs: number, isAble: (one: FeederSocket) => boolean): boolean {
    const leftMs = (this.#held.blockMs ?? this.#sinceMs) + BLIND_MS - nowMs
    const isSpared = leftMs > 0 && this.#feeders.mayCome(feeder, nowMs - BLIND_MS, nowMs, isAble)
    if (!isSpared || this.#spared === height) return isSpared
    this.#spared = height
    setTimeout(() => {
      if (this.#spared !== height) return
      this.#spared = null
      if (this.#held.chain.height === height - 1) feeder.askAgain(height)
    }, leftMs)
    return true
  }

  /** Its copy is left for a fuller one; where that does not come, it is asked for again. */
  #isLeft(feeder: FeederSocket, height: number, nowMs: number): boolean {
    const isLeft = this.#isFullerNear(feeder, nowMs)
    const isMissing = () => this.#held.chain.height === height - 1
    if (isLeft) setTimeout(() => isMissing() && feeder.askAgain(height), NEAR_MS)
    return isLeft
  }

  #isFullerNear(feeder: FeederSocket, nowMs: number): boolean {
    const { copy } = feeder
    const isFuller = (one: FeederSocket) => copy !== null && this.#copies.isFuller(one.copy, copy, nowMs)
    return this.#feeders.others(feeder, nowMs, (one) => isFuller(one) && !this.#distrusts(one, nowMs))
  }

  /** Heights from `from` on are missing, unless the copy that the feeder has sent of it waits or is left for a fuller one. */
  askAgain(feeder: FeederSocket, from: number): void {
    if (this.#spared === from && feeder.blindAt === from) return
    if (feeder.copy?.height !== from || !this.#isFullerNear(feeder, Date.now())) feeder.askAgain(from)
  }

  /** True for a feeder that lately had a wrong book taken of it, while blocks come from one that had not. */
  isDistrusted(feeder: FeederSocket, nowMs: number): boolean {
    if (!this.#distrusts(feeder, nowMs)) return false
    return this.#feeders.others(feeder, nowMs, (one) => !this.#distrusts(one, nowMs))
  }

  #distrusts({ name }: FeederSocket, nowMs: number): boolean {
    return this.#agreement.wrong.distrusts(name, nowMs)
  }

  /** What a feeder compared with its node is held against what the hubs had at that height. */
  verified(feeder: FeederSocket, { height, books }: Verified): void {
    const { chain } = this.#held
    if (feeder.state?.conflict !== null || !chain.booksKnown || height > (chain.height ?? -1)) return
    for (const reader of this.#readers) {
      if (!reader.follows || reader.height < height) continue
      const own = books.filter(({ coin }) => reader.wants(coin)).map(({ coin, digest }) => [coin, digest] as const)
      if (own.length === 0) continue
      const frame: HubVerified = { v: LOG_API_VERSION, t: 'verified', feeder: feeder.name, height, books: own }
      reader.frame(JSON.stringify(frame))
    }
  }

  /** The books are repaired by whoever verified its own, and who is at fault is passed over where others can lead. */
  differing({ feeder, height, coins }: Differing): void {
    const now = Date.now()
    for (const coin of coins) this.#agreement.wrong.found(coin, this.#feeders.leader, height, now)
    const reason = 'these books differ from those that you have verified'
    this.#feeders.named(feeder)?.send({ type: 'reseed', coins: [...coins], reason })
  }

  /** Another chain begins. */
  clear(): void {
    this.#spared = null
    this.#agreement.clear()
    this.#copies.clear()
  }
}
