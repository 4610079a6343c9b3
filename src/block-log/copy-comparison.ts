// Whether feeders tell the same story. Of several copies of a height the first one stands; a copy with other events is
// counted, one with other books is looked at coin by coin, and who was wrong shows when a feeder verifies its books.

import { BoundedMap } from '../core/bounded-map.ts'
import type { Coin } from '../core/coin.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'
import { type BlockTexts, type BooksTexts, differingCoins } from './segment.ts'

/** Digests of held heights: about five minutes of blocks. */
const MAX_DIGESTS = 4500
/** Copies that differ are looked at coin by coin no more often: what was stored has to be read for it. */
const COMPARE_EVERY_MS = 1000

/** A copy of a block and who sent it. */
interface BlockCopy {
  readonly texts: BlockTexts
  readonly feeder: string
}

export class CopyComparison {
  readonly #digests = new Map<number, BlockTexts['digests'] & { readonly feeder: string }>()
  readonly wrong = new WrongBooks()
  /** Copies that differed. */
  disagreements = 0
  #comparedMs = 0

  /** A block was taken. */
  onTaken({ texts, feeder }: BlockCopy): void {
    this.#digests.set(texts.height, { ...texts.digests, feeder })
    for (const oldest of this.#digests.keys()) {
      if (this.#digests.size <= MAX_DIGESTS) break
      this.#digests.delete(oldest)
    }
  }

  /**
   * Holds a further copy against the one that was taken. `held` looks the latter up. False where a feeder contradicts
   * its own events: its node started over, or is another chain.
   */
  compare({ texts, feeder }: BlockCopy, nowMs: number, held: () => BooksTexts | undefined): boolean {
    const first = this.#digests.get(texts.height)
    if (!first) return true
    if (first.events !== texts.digests.events) {
      this.disagreements++
      return first.feeder !== feeder
    }
    const { books } = texts.digests
    if (first.feeder === feeder || first.books === null || books === null || first.books === books) return true
    this.disagreements++
    if (nowMs - this.#comparedMs < COMPARE_EVERY_MS) return true
    this.#comparedMs = nowMs
    for (const coin of differingCoins(held()?.books ?? [], texts.books ?? []))
      this.wrong.onDispute(coin, first.feeder, feeder, texts.height, nowMs)
    return true
  }

  /** Another chain begins. */
  clear(): void {
    this.#digests.clear()
    this.wrong.clear()
  }
}

export type WrongBook = LogStatus['wrongBooks'][number]

/** How many are told of. */
const MAX_LISTED = 64
/** Coins of which two copies differed and it is open which one was right. */
const MAX_DISPUTES = 1024
/** A feeder that sent wrong books is passed over for this long where another can be followed. */
const DISTRUST_MS = 3_600_000

/** Which feeder sent books that were wrong: its copy of a height differs, or a verified book contradicts it. Newest first, bounded. */
export class WrongBooks {
  #list: readonly WrongBook[] = []
  /** The feeder whose copy was taken where two differed, by coin. */
  #disputes = new BoundedMap<string, string>(MAX_DISPUTES)

  get list(): readonly WrongBook[] {
    return this.#list
  }

  /** `other` sent another copy of a height than `taken`, with other changes of `coin`. */
  onDispute(coin: Coin, taken: string, other: string, height: number, atMs: number): void {
    this.#record(other, coin, height, atMs, 'other_copy')
    this.#disputes.set(coin, taken)
  }

  /** The book of `coin` was not the verified one. Whose copy was taken in a dispute is at fault, else who leads. */
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

  /** True for a feeder that lately had a wrong book taken of it. */
  isDistrusted(feeder: string, nowMs: number): boolean {
    return this.#list.some((one) => one.feeder === feeder && one.why === 'wrong_book' && nowMs - one.atMs < DISTRUST_MS)
  }
}
