// Snapshots of books from feeders. Decides which snapshot to accept, which coins have a book, and which feeder to ask
// for more. Each part is forwarded to the hubs as it arrives (seed-relay.ts). Only one snapshot is accepted at a time;
// otherwise hubs would mix two.

import type { Coin } from '../core/coin.ts'
import type { BookChange } from '../protocol/feed/block.ts'
import type { AttachResponse } from '../protocol/feed/log-api.ts'
import type { SnapshotFrame } from '../protocol/feed/protocol.ts'
import type { SkippedHeights } from '../protocol/feed/status-shape.ts'
import type { BlockLogStore } from './block-log.store.ts'
import { judgeSnapshot, type SeedDecision } from './chain.ts'
import type { FeederLinks, FeederSocket } from './feeder-links.do.ts'
import type { FeederTrust } from './feeder-trust.do.ts'
import type { ReaderLink } from './reader-link.ts'
import type { ReaderLinks } from './reader-links.do.ts'
import type { RetainedBlocks } from './retained-blocks.do.ts'
import { SeedRelay } from './seed-relay.ts'

/** A snapshot that does not arrive within this time is requested again. */
const SEED_RETRY_MS = 5000
/** If several hubs request the same coin within this time, only one request is sent. */
const DEDUPE_MS = 1000

interface BookSeedsPorts {
  readonly blocks: RetainedBlocks
  readonly feeders: FeederLinks
  readonly readers: ReaderLinks
  readonly store: Pick<BlockLogStore, 'coins' | 'setCoins' | 'addCoins'>
  readonly trust: Pick<FeederTrust, 'isDistrusted'>
  /** Records heights that will never arrive. */
  recordGap(gap: SkippedHeights): void
}

export class BookSeeds {
  readonly #ports: BookSeedsPorts
  readonly #coins: Set<string>
  /**
   * By coin, the height at which its book was last repaired in this epoch. It is kept only in memory, because the links
   * that missed the repair do not outlive this object either.
   */
  readonly #repairs = new Map<string, number>()
  /** When a coin's book was last requested. The key '' stands for all books. */
  readonly #requestedMs = new Map<string, number>()
  #seedRequestedMs = 0

  constructor(ports: BookSeedsPorts) {
    this.#ports = ports
    this.#coins = new Set(ports.store.coins())
  }

  /** Accepts a part of a snapshot and forwards it. The books take effect with the last part. */
  onPart(feeder: FeederSocket, frame: SnapshotFrame): void {
    if ((frame.part ?? 0) === 0) feeder.seed = this.#beginRelay(feeder, frame)
    const { seed } = feeder
    if (!seed) return feeder.reject('part', `expected part 0 of a snapshot, got part ${frame.part}`)
    const rejection = seed.intake.push(frame)
    if (rejection || seed.intake.isComplete) feeder.seed = null
    if (rejection) return feeder.reject(rejection.field, rejection.message)
    if (seed.isSuperseded) return
    // Other feeders may have advanced the log while the parts arrived.
    const decision = this.#judge(feeder, frame)
    if (!decision) return seed.supersede()
    if (seed.intake.isComplete) return this.#complete(seed, frame, decision.do === 'seed' ? decision.gap : null)
    seed.forward(frame, (this.#ports.blocks.chain.height ?? -1) + 1)
  }

  /** Starts a snapshot. If it is rejected, its later parts are ignored, because the first part was already answered. */
  #beginRelay(feeder: FeederSocket, frame: SnapshotFrame): SeedRelay {
    const { blocks, feeders, readers, trust } = this.#ports
    const now = Date.now()
    const incoming = feeders.incomingSeed(feeder, now)
    const isLate = incoming !== null && incoming.height >= (blocks.chain.height ?? 0)
    // While the books are known, a snapshot from a feeder that has just joined would only start another epoch.
    const isNeedless = frame.scope === 'all' && blocks.chain.booksKnown && feeder.name !== feeders.leader
    const isUnwanted =
      isLate || (isNeedless && feeders.hasOtherFlowing(feeder, now, () => true)) || trust.isDistrusted(feeder, now)
    if (isUnwanted)
      feeder.reject('height', 'the log is receiving the books of another feeder. Send these after the next block')
    const decision = isUnwanted ? null : this.#judge(feeder, frame)
    if (decision) feeders.supersede(feeder)
    const epoch = (decision?.do === 'repair' ? blocks.chain.epoch : null) ?? crypto.randomUUID()
    return new SeedRelay(frame, epoch, decision ? [...readers].filter(({ kind }) => kind.kind === 'hub') : null)
  }

  #judge(feeder: FeederSocket, snapshot: SnapshotFrame): SeedDecision | null {
    const { blocks, feeders } = this.#ports
    const now = Date.now()
    const others = blocks.isStalled(now) ? [] : feeders.activeOthers(feeder, now)
    const decision = judgeSnapshot(blocks.chain, feeder.state, others, snapshot)
    if (decision.do === 'refuse') feeder.reject(decision.field, decision.message)
    if (decision.do === 'resend') feeder.requestResend(decision.from)
    return decision.do === 'seed' || decision.do === 'repair' ? decision : null
  }

  /** Completes a snapshot. It starts an epoch, or repairs coins within the current one. */
  #complete(seed: SeedRelay, last: SnapshotFrame, gap: SkippedHeights | null): void {
    const { blocks, readers, store, recordGap } = this.#ports
    const { scope, height, time } = last
    const { coins } = seed.intake
    if (scope === 'all') {
      if (gap) recordGap(gap)
      if (blocks.chain.height === null) for (const reader of readers) reader.beginAt(height + 1)
      blocks.beginEpoch(seed.epoch, height, time)
      this.#repairs.clear()
      this.#coins.clear()
      for (const coin of coins) this.#coins.add(coin)
      store.setCoins(coins)
    } else {
      blocks.recordRepairs(coins)
      for (const coin of coins) this.#repairs.set(coin, height)
    }
    this.#requestedMs.clear()
    seed.forward(last, height + 1)
    // A hub that attached during the snapshot did not get its first parts. Its link is closed, so that it attaches
    // again and requests what it lacks.
    for (const reader of readers) if (seed.isIncompleteFor(reader)) reader.close()
  }

  /**
   * True while another feeder is sending the missing books. Accepting the next block would make that snapshot useless.
   */
  areArriving(feeder: FeederSocket, nowMs: number): boolean {
    const { booksKnown, height } = this.#ports.blocks.chain
    const incoming = booksKnown ? null : this.#ports.feeders.incomingSeed(feeder, nowMs)
    return incoming?.scope === 'all' && (height === null || incoming.height === height)
  }

  /** Records that the changed coins have a book. */
  addCoins(changes: readonly BookChange[]): void {
    const added = changes.filter(({ coin }) => !this.#coins.has(coin)).map(({ coin }) => coin)
    if (added.length === 0) return
    for (const coin of added) this.#coins.add(coin)
    this.#ports.store.addCoins(added)
  }

  /**
   * Returns coins and repairs of a reader's shard, for its attach response. `height`: last height of the reader; null
   * for a new reader.
   */
  attachInfo(hub: Pick<ReaderLink, 'hasCoin'>, height: number | null): Pick<AttachResponse, 'coins' | 'repaired'> {
    const from = height ?? Number.POSITIVE_INFINITY
    const repairs = [...this.#repairs].map(([coin, at]) => ({ coin, height: at }))
    return {
      coins: [...this.#coins].filter((coin) => hub.hasCoin(coin)),
      repaired: repairs.filter((one) => one.height >= from && hub.hasCoin(one.coin)),
    }
  }

  /** The last height at which a coin of this epoch was repaired; null if none was. */
  get repairedAt(): number | null {
    return this.#repairs.size === 0 ? null : Math.max(...this.#repairs.values())
  }

  /**
   * Requests all books, because the feeder knows them and the log does not. This happens, for example, if another
   * feeder left before its snapshot was complete.
   */
  requestAll(): void {
    const now = Date.now()
    if (now - this.#seedRequestedMs < SEED_RETRY_MS) return
    this.#seedRequestedMs = now
    this.#ports.feeders
      .preferred()
      ?.send({ type: 'reseed', coins: null, reason: 'the gateway does not know the books' })
  }

  /**
   * Requests the books of these coins (null: of all coins) from the leading feeder, unless they were requested a moment
   * ago.
   */
  request(coins: readonly string[] | null, reason: string): void {
    const now = Date.now()
    const isDue = (coin: Coin) => now - (this.#requestedMs.get(coin) ?? 0) > DEDUPE_MS
    const due = (coins ?? ['']).filter(isDue)
    if (due.length === 0) return
    for (const coin of due) this.#requestedMs.set(coin, now)
    this.#ports.feeders.preferred()?.send({ type: 'reseed', coins: coins && due, reason })
  }

  /** Clears the repairs when a different chain starts. */
  clear(): void {
    this.#repairs.clear()
  }
}
