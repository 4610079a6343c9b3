// Which feeder is believed: copies of a height are held against the one that was taken, books against those that a
// feeder has compared with its node's, and whoever sent wrong ones is passed over where another can be followed.

import type { Block } from '../protocol/feed/block.ts'
import { type BookMismatch, type HubVerified, LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { Verified } from '../protocol/feed/protocol.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'
import { startedOverMessage } from './chain.ts'
import { CompletenessUpgrade, NEAR_MS } from './completeness-upgrade.ts'
import { CopyComparison } from './copy-comparison.ts'
import type { FeederLinks, FeederSocket } from './feeder-links.do.ts'
import type { ReaderLinks } from './reader-links.do.ts'
import type { RetainedBlocks } from './retained-blocks.do.ts'
import { type BlockTexts, encodeBlock } from './segment.ts'

/** A feeder whose link was cut or that stood still is back by then; for longer nothing is held up for the books. */
const BOOKS_WAIT_MS = 8_000

export class FeederTrust {
  readonly #blocks: RetainedBlocks
  readonly #feeders: FeederLinks
  readonly #readers: ReaderLinks
  readonly #comparison = new CopyComparison()
  readonly #completeness = new CompletenessUpgrade()
  readonly #startedMs = Date.now()
  /** The block that waits because its changes are not known. */
  #deferredHeight: number | null = null

  constructor(held: RetainedBlocks, feeders: FeederLinks, readers: ReaderLinks) {
    this.#blocks = held
    this.#feeders = feeders
    this.#readers = readers
  }

  get view(): Pick<LogStatus, 'disagreements' | 'wrongBooks'> {
    return { disagreements: this.#comparison.disagreements, wrongBooks: this.#comparison.wrong.list }
  }

  /** A block of this feeder was taken. */
  onTaken(texts: BlockTexts, feeder: FeederSocket): void {
    this.#comparison.onTaken({ texts, feeder: feeder.name })
  }

  /** The order statuses to be told with a block that is taken. */
  orderStatusesFor(feeder: FeederSocket, block: Block): unknown[] {
    return this.#completeness.onTaken(feeder, block)
  }

  /** A copy of a held height: the first one stands. A feeder that contradicts its own copy has another chain. */
  compare(feeder: FeederSocket, block: Block): void {
    const { height } = block
    this.#completeness.onCopy(feeder, block, Date.now())
    this.#completeness.onCompared(feeder, block)
    // Rows of orders are nothing that copies are compared by, and there may be much of them.
    const bare = { ...block, orders: [], l4: [], payments: undefined }
    const copy = { texts: encodeBlock(bare, null), feeder: feeder.name }
    const { durable, chain } = this.#blocks
    if (!this.#comparison.compare(copy, Date.now(), () => this.#blocks.booksAt(height)))
      return feeder.sendConflict(startedOverMessage(height, chain.height ?? height))
    if (durable !== null && height <= durable) feeder.send({ type: 'ack', height: durable })
  }

  /** Others come first while their blocks come: it is not trusted, or lacks books or rows that they may have. */
  shouldWaitForOther(feeder: FeederSocket, block: Block, nowMs: number): boolean {
    const { height, books } = block
    this.#completeness.onCopy(feeder, block, nowMs)
    if (books !== null || !this.#blocks.chain.booksKnown)
      return this.isDistrusted(feeder, nowMs) || this.#isLeftToFuller(feeder, height, nowMs)
    feeder.booksUnknownAt = height
    const isAble = (one: FeederSocket) => one.booksUnknownAt !== height && !this.#hasWrongBooks(one, nowMs)
    return this.#feeders.hasOtherFlowing(feeder, nowMs, isAble) || this.#isDeferred(feeder, height, nowMs, isAble)
  }

  /** A block without its changes costs all books: one that knows them is waited for, and then it is asked for again. */
  #isDeferred(feeder: FeederSocket, height: number, nowMs: number, isAble: (one: FeederSocket) => boolean): boolean {
    const leftMs = (this.#blocks.blockMs ?? this.#startedMs) + BOOKS_WAIT_MS - nowMs
    const isSpared = leftMs > 0 && this.#feeders.mayArrive(feeder, nowMs - BOOKS_WAIT_MS, nowMs, isAble)
    if (!isSpared || this.#deferredHeight === height) return isSpared
    this.#deferredHeight = height
    setTimeout(() => {
      if (this.#deferredHeight !== height) return
      this.#deferredHeight = null
      if (this.#blocks.chain.height === height - 1) feeder.requestResend(height)
    }, leftMs)
    return true
  }

  /** Its copy is left for a fuller one; where that does not come, it is asked for again. */
  #isLeftToFuller(feeder: FeederSocket, height: number, nowMs: number): boolean {
    const isLeft = this.#hasFullerNearby(feeder, nowMs)
    const isMissing = () => this.#blocks.chain.height === height - 1
    if (isLeft) setTimeout(() => isMissing() && feeder.requestResend(height), NEAR_MS)
    return isLeft
  }

  #hasFullerNearby(feeder: FeederSocket, nowMs: number): boolean {
    const { copy } = feeder
    const isFuller = (one: FeederSocket) => copy !== null && this.#completeness.isFuller(one.copy, copy, nowMs)
    return this.#feeders.hasOtherFlowing(feeder, nowMs, (one) => isFuller(one) && !this.#hasWrongBooks(one, nowMs))
  }

  /** Heights from `from` on are missing, unless the copy that the feeder has sent of it waits or is left for a fuller one. */
  requestResend(feeder: FeederSocket, from: number): void {
    if (this.#deferredHeight === from && feeder.booksUnknownAt === from) return
    if (feeder.copy?.height !== from || !this.#hasFullerNearby(feeder, Date.now())) feeder.requestResend(from)
  }

  /** True for a feeder that lately had a wrong book taken of it, while blocks come from one that had not. */
  isDistrusted(feeder: FeederSocket, nowMs: number): boolean {
    if (!this.#hasWrongBooks(feeder, nowMs)) return false
    return this.#feeders.hasOtherFlowing(feeder, nowMs, (one) => !this.#hasWrongBooks(one, nowMs))
  }

  #hasWrongBooks({ name }: FeederSocket, nowMs: number): boolean {
    return this.#comparison.wrong.isDistrusted(name, nowMs)
  }

  /** What a feeder compared with its node is held against what the hubs had at that height. */
  onVerified(feeder: FeederSocket, { height, books }: Verified): void {
    const { chain } = this.#blocks
    if (feeder.state?.conflict !== null || !chain.booksKnown || height > (chain.height ?? -1)) return
    for (const reader of this.#readers) {
      if (!reader.follows || reader.height < height) continue
      const own = books.filter(({ coin }) => reader.hasCoin(coin)).map(({ coin, digest }) => [coin, digest] as const)
      if (own.length === 0) continue
      const frame: HubVerified = { v: LOG_API_VERSION, t: 'verified', feeder: feeder.name, height, books: own }
      reader.sendFrame(JSON.stringify(frame))
    }
  }

  /** The books are repaired by whoever verified its own, and who is at fault is passed over where others can lead. */
  onDiffering({ feeder, height, coins }: BookMismatch): void {
    const now = Date.now()
    for (const coin of coins) this.#comparison.wrong.onWrongBook(coin, this.#feeders.leader, height, now)
    const reason = 'these books differ from those that you have verified'
    this.#feeders.find(feeder)?.send({ type: 'reseed', coins: [...coins], reason })
  }

  /** Another chain begins. */
  clear(): void {
    this.#deferredHeight = null
    this.#comparison.clear()
    this.#completeness.clear()
  }
}
