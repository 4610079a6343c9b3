// Whole books of feeders: whose are taken, what begins with them, which coins have one, and who is asked for more. Each
// part is handed on to the hubs as it comes (seed-relay.ts); one snapshot is taken at a time, or hubs would make one of
// two.

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

/** Whole books are asked for again after this time where they did not come. */
const SEED_RETRY_MS = 5000
/** Hubs that ask for the same coin within this time are one. */
const DEDUPE_MS = 1000

interface BookSeedsPorts {
  readonly blocks: RetainedBlocks
  readonly feeders: FeederLinks
  readonly readers: ReaderLinks
  readonly store: Pick<BlockLogStore, 'coins' | 'setCoins' | 'addCoins'>
  readonly trust: Pick<FeederTrust, 'isDistrusted'>
  /** Records heights that will never come. */
  recordGap(gap: SkippedHeights): void
}

export class BookSeeds {
  readonly #ports: BookSeedsPorts
  readonly #coins: Set<string>
  /** Height at which a coin of this epoch was last repaired; in memory alone, as are the links that miss it. */
  readonly #repairs = new Map<string, number>()
  /** When a coin's book was last asked for; all books as ''. */
  readonly #requestedMs = new Map<string, number>()
  #seedRequestedMs = 0

  constructor(ports: BookSeedsPorts) {
    this.#ports = ports
    this.#coins = new Set(ports.store.coins())
  }

  /** Takes a part of whole books and hands it on; with the last one they come into force. */
  onPart(feeder: FeederSocket, frame: SnapshotFrame): void {
    if ((frame.part ?? 0) === 0) feeder.seed = this.#beginRelay(feeder, frame)
    const { seed } = feeder
    if (!seed) return feeder.reject('part', `expected part 0 of a snapshot, got part ${frame.part}`)
    const wrong = seed.intake.push(frame)
    if (wrong || seed.intake.isComplete) feeder.seed = null
    if (wrong) return feeder.reject(wrong.field, wrong.message)
    if (seed.isSuperseded) return
    // Others may have moved the log while the parts came.
    const judged = this.#judge(feeder, frame)
    if (!judged) return seed.supersede()
    if (seed.intake.isComplete) return this.#complete(seed, frame, judged.do === 'seed' ? judged.gap : null)
    seed.forward(frame, (this.#ports.blocks.chain.height ?? -1) + 1)
  }

  /** Of a snapshot that is not to be taken the later parts are passed over: it was answered with the first one. */
  #beginRelay(feeder: FeederSocket, frame: SnapshotFrame): SeedRelay {
    const { blocks, feeders, readers, trust } = this.#ports
    const now = Date.now()
    const coming = feeders.incomingSeed(feeder, now)
    const isLate = coming !== null && coming.height >= (blocks.chain.height ?? 0)
    // Of one that joins others, whose books are known: they would only begin another epoch.
    const isNeedless = frame.scope === 'all' && blocks.chain.booksKnown && feeder.name !== feeders.leader
    const isUnwanted =
      isLate || (isNeedless && feeders.hasOtherFlowing(feeder, now, () => true)) || trust.isDistrusted(feeder, now)
    if (isUnwanted) feeder.reject('height', 'whole books of another feeder are taken: send these after the next block')
    const judged = isUnwanted ? null : this.#judge(feeder, frame)
    if (judged) feeders.supersede(feeder)
    const epoch = (judged?.do === 'repair' ? blocks.chain.epoch : null) ?? crypto.randomUUID()
    return new SeedRelay(frame, epoch, judged ? [...readers].filter(({ kind }) => kind.kind === 'hub') : null)
  }

  #judge(feeder: FeederSocket, snapshot: SnapshotFrame): SeedDecision | null {
    const { blocks, feeders } = this.#ports
    const now = Date.now()
    const others = blocks.isStalled(now) ? [] : feeders.activeOthers(feeder, now)
    const judged = judgeSnapshot(blocks.chain, feeder.state, others, snapshot)
    if (judged.do === 'refuse') feeder.reject(judged.field, judged.message)
    if (judged.do === 'resend') feeder.requestResend(judged.from)
    return judged.do === 'seed' || judged.do === 'repair' ? judged : null
  }

  /** Whole books have come: a new epoch, or coins repaired inside the present one. */
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
    // Who came amid the parts lacks the first ones: it attaches again, and asks for what it has not.
    for (const reader of readers) if (seed.isIncompleteFor(reader)) reader.close()
  }

  /** True while another feeder sends the books that are lacking: a next block would make them useless. */
  areArriving(feeder: FeederSocket, nowMs: number): boolean {
    const { booksKnown, height } = this.#ports.blocks.chain
    const coming = booksKnown ? null : this.#ports.feeders.incomingSeed(feeder, nowMs)
    return coming?.scope === 'all' && (height === null || coming.height === height)
  }

  /** Coins that were changed have a book. */
  addCoins(changes: readonly BookChange[]): void {
    const added = changes.filter(({ coin }) => !this.#coins.has(coin)).map(({ coin }) => coin)
    if (added.length === 0) return
    for (const coin of added) this.#coins.add(coin)
    this.#ports.store.addCoins(added)
  }

  /** What a reader that attaches, standing at `height` (null: nowhere), is told of the coins of its shard. */
  attachInfo(hub: Pick<ReaderLink, 'hasCoin'>, height: number | null): Pick<AttachResponse, 'coins' | 'repaired'> {
    const from = height ?? Number.POSITIVE_INFINITY
    const repairs = [...this.#repairs].map(([coin, at]) => ({ coin, height: at }))
    return {
      coins: [...this.#coins].filter((coin) => hub.hasCoin(coin)),
      repaired: repairs.filter((one) => one.height >= from && hub.hasCoin(one.coin)),
    }
  }

  /** The height at which a coin of this epoch was last repaired, null where none was. */
  get repairedAt(): number | null {
    return this.#repairs.size === 0 ? null : Math.max(...this.#repairs.values())
  }

  /** A feeder knows its books and the log does not, such as after another feeder went away before its snapshot. */
  requestAll(): void {
    const now = Date.now()
    if (now - this.#seedRequestedMs < SEED_RETRY_MS) return
    this.#seedRequestedMs = now
    this.#ports.feeders.preferred()?.send({ type: 'reseed', coins: null, reason: 'the books are not known' })
  }

  /** Asks the feeder that leads for books of these coins (null: of all), unless that was asked just now. */
  request(coins: readonly string[] | null, reason: string): void {
    const now = Date.now()
    const isDue = (coin: Coin) => now - (this.#requestedMs.get(coin) ?? 0) > DEDUPE_MS
    const wanted = (coins ?? ['']).filter(isDue)
    if (wanted.length === 0) return
    for (const coin of wanted) this.#requestedMs.set(coin, now)
    this.#ports.feeders.preferred()?.send({ type: 'reseed', coins: coins && wanted, reason })
  }

  /** Another chain begins. */
  clear(): void {
    this.#repairs.clear()
  }
}
