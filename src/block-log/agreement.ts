// Whether feeders tell the same story. Of several copies of a height the first one stands; a copy with other events is
// counted, one with other books is looked at coin by coin, and who was wrong shows when a feeder verifies its books.

import { type BlockTexts, type BooksTexts, differingCoins } from './segment.ts'
import { WrongBooks } from './wrong-books.ts'

/** Digests of held heights: about five minutes of blocks. */
const DIGESTS = 4500
/** Copies that differ are looked at coin by coin no more often: what was stored has to be read for it. */
const DISPUTE_MS = 1000

/** A copy of a block and who sent it. */
interface Copy {
  readonly texts: BlockTexts
  readonly feeder: string
}

export class Agreement {
  readonly #digests = new Map<number, BlockTexts['digests'] & { readonly feeder: string }>()
  readonly wrong = new WrongBooks()
  /** Copies that differed. */
  disagreements = 0
  #lookedMs = 0

  /** A block was taken. */
  taken({ texts, feeder }: Copy): void {
    this.#digests.set(texts.height, { ...texts.digests, feeder })
    for (const oldest of this.#digests.keys()) {
      if (this.#digests.size <= DIGESTS) break
      this.#digests.delete(oldest)
    }
  }

  /**
   * Holds a further copy against the one that was taken. `held` looks the latter up. False where a feeder contradicts
   * its own events: its node started over, or is another chain.
   */
  compare({ texts, feeder }: Copy, nowMs: number, held: () => BooksTexts | undefined): boolean {
    const first = this.#digests.get(texts.height)
    if (!first) return true
    if (first.events !== texts.digests.events) {
      this.disagreements++
      return first.feeder !== feeder
    }
    const { books } = texts.digests
    if (first.feeder === feeder || first.books === null || books === null || first.books === books) return true
    this.disagreements++
    if (nowMs - this.#lookedMs < DISPUTE_MS) return true
    this.#lookedMs = nowMs
    for (const coin of differingCoins(held()?.books ?? [], texts.books ?? []))
      this.wrong.disputed(coin, first.feeder, feeder, texts.height, nowMs)
    return true
  }

  /** Another chain begins. */
  clear(): void {
    this.#digests.clear()
    this.wrong.clear()
  }
}
