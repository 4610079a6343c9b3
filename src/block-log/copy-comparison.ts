// Compares the copies of a block that different feeders send. The first copy is kept. A later copy with different
// fills is counted. A later copy with different books is compared coin by coin. When a feeder verifies its books, it
// becomes known which copy was wrong.

import { BoundedMap } from '../core/bounded-map.ts'
import type { Coin } from '../core/coin.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'
import { type BlockTexts, type BooksTexts, differingCoins } from './segment.ts'

/** Maximum number of digests to keep, one per height: about five minutes of blocks. */
const MAX_DIGESTS = 4500
/** Minimum interval between two comparisons by coin, because they read stored segments. */
const COMPARE_EVERY_MS = 1000

/** A copy of a block, with the feeder that sent it. */
interface BlockCopy {
  readonly texts: BlockTexts
  readonly feeder: string
}

/**
 * `same`: the fills are equal, or the accepted copy is no longer known. `contradiction`: a feeder contradicts its own
 * fills, because its node started over or belongs to a different chain.
 */
type Verdict = 'same' | 'different' | 'contradiction'

export class CopyComparison {
  readonly #digests = new Map<number, BlockTexts['digests'] & { readonly feeder: string }>()
  readonly wrong = new WrongBooks()
  /** Number of copies that differed from the accepted one. */
  disagreements = 0
  #comparedMs = 0

  /** Records the accepted copy. */
  onTaken({ texts, feeder }: BlockCopy): void {
    this.#digests.set(texts.height, { ...texts.digests, feeder })
    for (const oldest of this.#digests.keys()) {
      if (this.#digests.size <= MAX_DIGESTS) break
      this.#digests.delete(oldest)
    }
  }

  /** Compares a later copy with the accepted one. `stored` reads the books of the accepted copy. */
  compare({ texts, feeder }: BlockCopy, nowMs: number, stored: () => BooksTexts | undefined): Verdict {
    const first = this.#digests.get(texts.height)
    if (!first) return 'same'
    if (first.fills !== texts.digests.fills) {
      this.disagreements++
      return first.feeder === feeder ? 'contradiction' : 'different'
    }
    const { books } = texts.digests
    if (first.feeder === feeder || first.books === null || books === null || first.books === books) return 'same'
    this.disagreements++
    if (nowMs - this.#comparedMs < COMPARE_EVERY_MS) return 'same'
    this.#comparedMs = nowMs
    for (const coin of differingCoins(stored()?.books ?? [], texts.books ?? []))
      this.wrong.onDispute(coin, first.feeder, feeder, texts.height, nowMs)
    return 'same'
  }

  /** Clears everything. Called when a different chain starts. */
  clear(): void {
    this.#digests.clear()
    this.wrong.clear()
  }
}

export type WrongBook = LogStatus['wrongBooks'][number]

/** Maximum entries that `/status` lists. */
const MAX_LISTED = 64
/** Maximum number of coins for which two copies differ and it is not known yet which one is right. */
const MAX_DISPUTES = 1024
/** After sending wrong books, a feeder is avoided for this long if another feeder is available. */
const DISTRUST_MS = 3_600_000

/**
 * Lists feeders that may have sent wrong books: their copy of a block differs from the accepted one, or a verified book
 * contradicts their copy. The list is bounded and sorted newest first.
 */
export class WrongBooks {
  #list: readonly WrongBook[] = []
  /** By coin, the feeder whose copy was accepted although another copy differed. */
  #disputes = new BoundedMap<string, string>(MAX_DISPUTES)

  get list(): readonly WrongBook[] {
    return this.#list
  }

  /** Records that `other` sent changes of `coin` in a block that differ from those that `acceptedFrom` sent. */
  onDispute(coin: Coin, acceptedFrom: string, other: string, height: number, atMs: number): void {
    this.#record(other, coin, height, atMs, 'other_copy')
    this.#disputes.set(coin, acceptedFrom)
  }

  /**
   * Records that the book of `coin` differs from the verified one. The feeder whose disputed copy was accepted is at
   * fault. If there was no dispute, the leader is at fault.
   */
  onWrongBook(coin: Coin, leader: string | null, height: number, atMs: number): void {
    const fault = this.#disputes.get(coin) ?? leader
    if (fault !== null) this.#record(fault, coin, height, atMs, 'wrong_book')
    this.#disputes.delete(coin)
  }

  clear(): void {
    this.#list = []
    this.#disputes = new BoundedMap(MAX_DISPUTES)
  }

  #record(feeder: string, coin: Coin, height: number, atMs: number, why: WrongBook['why']): void {
    const isSame = (one: WrongBook) => one.feeder === feeder && one.coin === coin && one.why === why
    const count = (this.#list.find(isSame)?.count ?? 0) + 1
    const others = this.#list.filter((one) => !isSame(one))
    this.#list = [{ feeder, coin, height, count, atMs, why }, ...others].slice(0, MAX_LISTED)
  }

  /** Whether a feeder recently sent a wrong book that was accepted. */
  isDistrusted(feeder: string, nowMs: number): boolean {
    return this.#list.some((one) => one.feeder === feeder && one.why === 'wrong_book' && nowMs - one.atMs < DISTRUST_MS)
  }
}
