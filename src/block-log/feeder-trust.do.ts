// Decides which feeder to trust. Later copies of a block are compared with the accepted one. Books are compared with
// those that a feeder verified against its node. A feeder that sent wrong books is avoided if another feeder is
// available.

import type { Block } from '../protocol/feed/block.ts'
import { type BookMismatch, type HubVerified, LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { Verified } from '../protocol/feed/protocol.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'
import { startedOverMessage } from './chain.ts'
import { CompletenessUpgrade, NEAR_MS } from './completeness-upgrade.ts'
import { CopyComparison } from './copy-comparison.ts'
import type { FeederLinks, FeederSocket } from './feeder-links.do.ts'
import { type OptionalParts, OptionalRows } from './optional-rows.ts'
import type { ReaderLinks } from './reader-links.do.ts'
import { ReplicaContinuity } from './replica-continuity.ts'
import type { RetainedBlocks } from './retained-blocks.do.ts'
import { type BlockTexts, encodeBlock } from './segment.ts'

/**
 * Maximum wait for a feeder that knows the books. A feeder that stalled or lost its link has usually returned by then.
 */
const BOOKS_WAIT_MS = 8_000

export class FeederTrust {
  readonly #blocks: RetainedBlocks
  readonly #feeders: FeederLinks
  readonly #readers: ReaderLinks
  readonly #comparison = new CopyComparison()
  readonly #completeness = new CompletenessUpgrade()
  readonly #optional = new OptionalRows()
  readonly #replica = new ReplicaContinuity()
  readonly #startedMs = Date.now()
  /** Height of a block that was skipped for now, because its book changes are unknown. */
  #deferredHeight: number | null = null

  constructor(blocks: RetainedBlocks, feeders: FeederLinks, readers: ReaderLinks) {
    this.#blocks = blocks
    this.#feeders = feeders
    this.#readers = readers
  }

  get view(): Pick<LogStatus, 'disagreements' | 'wrongBooks'> {
    return { disagreements: this.#comparison.disagreements, wrongBooks: this.#comparison.wrong.list }
  }

  /** Records that a block from this feeder was accepted. */
  onTaken(texts: BlockTexts, feeder: FeederSocket): void {
    this.#comparison.onTaken({ texts, feeder: feeder.name })
  }

  /** Returns the optional parts to send with an accepted block. Some of their rows may be from other copies. */
  optionalPartsFor(feeder: FeederSocket, block: Block): OptionalParts & Pick<Block, 'orders' | 'replica'> {
    const replica = this.#replica.onTaken(block)
    return { orders: this.#completeness.onTaken(feeder, block), ...this.#optional.onTaken(block, feeder.name), replica }
  }

  /**
   * Compares another copy of a block that is already accepted. The first copy is kept, and gets the rows that only the
   * other one has. A feeder that contradicts its own copy is on a different chain.
   */
  compare(feeder: FeederSocket, block: Block): void {
    const { height, time, fills, books } = block
    this.#completeness.onCopy(feeder, block, Date.now())
    const { durable, chain } = this.#blocks
    // The other parts are not compared, and may be large.
    const texts = encodeBlock({ height, time, fills, ledger: [], funding: [], books }, null)
    const copy = { texts, feeder: feeder.name }
    const verdict = this.#comparison.compare(copy, Date.now(), () => this.#blocks.booksAt(height))
    if (verdict === 'contradiction') return feeder.sendConflict(startedOverMessage(height, chain.height ?? height))
    if (verdict === 'same') {
      this.#completeness.onCompared(feeder, block)
      this.#optional.onCompared(block, feeder.name)
    }
    if (durable !== null && height <= durable) feeder.send({ type: 'ack', height: durable })
  }

  /**
   * Whether to wait for another feeder's copy of the block. This is the case if this feeder is not trusted, or if its
   * copy lacks books or rows that other feeders may have.
   */
  shouldWaitForOther(feeder: FeederSocket, block: Block, nowMs: number): boolean {
    const { height, books } = block
    this.#completeness.onCopy(feeder, block, nowMs)
    if (books !== null || !this.#blocks.chain.booksKnown)
      return this.isDistrusted(feeder, nowMs) || this.#isLeftToFuller(feeder, height, nowMs)
    feeder.booksUnknownAt = height
    const isAble = (one: FeederSocket) => one.booksUnknownAt !== height && !this.#hasWrongBooks(one, nowMs)
    return this.#feeders.hasOtherFlowing(feeder, nowMs, isAble) || this.#isDeferred(feeder, height, nowMs, isAble)
  }

  /**
   * A block without book changes would make all books unknown. The log therefore skips it and waits for a feeder that
   * knows the changes. If none sends the block in time, it is requested again.
   */
  #isDeferred(feeder: FeederSocket, height: number, nowMs: number, isAble: (one: FeederSocket) => boolean): boolean {
    const remainingMs = (this.#blocks.blockMs ?? this.#startedMs) + BOOKS_WAIT_MS - nowMs
    const isSpared = remainingMs > 0 && this.#feeders.mayArrive(feeder, nowMs - BOOKS_WAIT_MS, nowMs, isAble)
    if (!isSpared || this.#deferredHeight === height) return isSpared
    this.#deferredHeight = height
    setTimeout(() => {
      if (this.#deferredHeight !== height) return
      this.#deferredHeight = null
      if (this.#blocks.chain.height === height - 1) feeder.requestResend(height)
    }, remainingMs)
    return true
  }

  /**
   * Skips a copy if a fuller one is expected. If the fuller copy does not arrive, the skipped one is requested again.
   */
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

  /**
   * Requests the blocks from `from` onward. Does nothing if the feeder's own copy of that block was deferred or skipped
   * for a fuller one.
   */
  requestResend(feeder: FeederSocket, from: number): void {
    if (this.#deferredHeight === from && feeder.booksUnknownAt === from) return
    if (feeder.copy?.height !== from || !this.#hasFullerNearby(feeder, Date.now())) feeder.requestResend(from)
  }

  /** Whether to avoid a feeder: it recently sent a wrong book, and blocks come from another feeder that did not. */
  isDistrusted(feeder: FeederSocket, nowMs: number): boolean {
    if (!this.#hasWrongBooks(feeder, nowMs)) return false
    return this.#feeders.hasOtherFlowing(feeder, nowMs, (one) => !this.#hasWrongBooks(one, nowMs))
  }

  #hasWrongBooks({ name }: FeederSocket, nowMs: number): boolean {
    return this.#comparison.wrong.isDistrusted(name, nowMs)
  }

  /** Asks the hubs to compare their books at a height with those that a feeder verified. */
  onVerified(feeder: FeederSocket, { height, books }: Verified): void {
    const { chain } = this.#blocks
    if (feeder.state?.conflict !== null || !chain.booksKnown || height > (chain.height ?? -1)) return
    for (const reader of this.#readers) {
      if (!reader.follows || reader.height < height) continue
      const ofReader = books
        .filter(({ coin }) => reader.hasCoin(coin))
        .map(({ coin, digest }) => [coin, digest] as const)
      if (ofReader.length === 0) continue
      const frame: HubVerified = { v: LOG_API_VERSION, t: 'verified', feeder: feeder.name, height, books: ofReader }
      reader.sendFrame(JSON.stringify(frame))
    }
  }

  /**
   * Requests a repair from the feeder that verified its books. The feeder at fault is avoided if another feeder can
   * lead.
   */
  onDiffering({ feeder, height, coins }: BookMismatch): void {
    const now = Date.now()
    for (const coin of coins) this.#comparison.wrong.onWrongBook(coin, this.#feeders.leader, height, now)
    const reason = 'these books differ from the ones you verified'
    this.#feeders.find(feeder)?.send({ type: 'reseed', coins: [...coins], reason })
  }

  /** Clears everything. Called when a different chain starts. */
  clear(): void {
    this.#deferredHeight = null
    this.#comparison.clear()
    this.#completeness.clear()
    this.#optional.clear()
    this.#replica.clear()
  }
}
