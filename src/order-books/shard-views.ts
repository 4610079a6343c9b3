// The views of a shard's books that relays want. Laws: a text is made once per block however many want it, of coins that
// the block changed alone, no sooner than its view allows, and goes out only where it differs from the one before; what a
// view still owes when its time has not come is shown by the first block after it.

import type { Coin } from '../core/coin.ts'
import { getOrCreate } from '../core/get-or-create.ts'
import type { CoinFragment, ViewFragment } from '../protocol/hub/hub-link.ts'
import { bookChecksum, EMPTY_CHECKSUM } from './checksum.ts'
import type { ShardBooks } from './shard-books.ts'
import { intervalMsOf, renderView, shapeOf } from './view.ts'
import { ViewInterests } from './view-interests.ts'

interface SentView {
  /** Null where relays hold different ones. */
  readonly piece: string | null
  readonly timeMs: number
}

export class ShardViews {
  readonly #books: Pick<ShardBooks, 'get' | 'coins'>
  #interests = new ViewInterests()
  /** By view and coin, what went out last. */
  readonly #sent = new Map<string, Map<string, SentView>>()
  /** By view, coins that changed since it was shown. */
  readonly #touched = new Map<string, Set<string>>()

  constructor(books: Pick<ShardBooks, 'get' | 'coins'>) {
    this.#books = books
  }

  /** Changes of the present block with the checksums that are wanted, or with all. */
  withChecksums(fragments: readonly CoinFragment[], all: boolean): readonly CoinFragment[] {
    return fragments.map((fragment) => {
      if (!all && !this.#interests.needsChecksum(fragment.coin)) return fragment
      const known = this.#books.get(fragment.coin)
      return { ...fragment, checksum: known ? bookChecksum(known.book) : EMPTY_CHECKSUM }
    })
  }

  add(wants: Iterable<string>): void {
    this.#interests.add(wants)
  }

  /** Forgets whatever is in none of these. */
  retain(relays: Iterable<ViewInterests>): void {
    this.#interests = new ViewInterests()
    for (const wants of relays) this.#interests.add(wants)
    for (const kept of [this.#sent, this.#touched])
      for (const [view, coins] of kept) {
        for (const coin of coins.keys()) if (!this.#interests.has(view, coin)) coins.delete(coin)
        if (coins.size === 0) kept.delete(view)
      }
  }

  /** These books, or last trades, may have changed. */
  touch(coins: Iterable<string>): void {
    for (const coin of coins)
      for (const view of this.#interests.of(coin)) getOrCreate(this.#touched, view, () => new Set()).add(coin)
  }

  /** What has become different and due with a block of this time. */
  due(timeMs: number): ViewFragment[] {
    const pieces: ViewFragment[] = []
    const made = new Map<string, string | null>()
    for (const [view, coins] of this.#touched) {
      const everyMs = intervalMsOf(view)
      const shown = getOrCreate(this.#sent, view, () => new Map<string, SentView>())
      for (const coin of coins) {
        const last = shown.get(coin)
        // Of an older block: the feed began anew.
        if (last && timeMs >= last.timeMs && timeMs - last.timeMs < everyMs) continue
        coins.delete(coin)
        const piece = this.#render(view, coin, made)
        if (piece === null || piece === last?.piece) continue
        shown.set(coin, { piece, timeMs })
        pieces.push({ view, coin, piece })
      }
    }
    return pieces
  }

  /** All of these as they stand now, for one relay. `made`: texts of this block, which others may share. */
  renderAll(wants: ViewInterests, made = new Map<string, string | null>()): ViewFragment[] {
    const pieces = [...this.#books.coins()].flatMap((coin) =>
      wants.of(coin).flatMap((view) => {
        const piece = this.#render(view, coin, made)
        return piece === null ? [] : [{ view, coin, piece }]
      }),
    )
    // A book that goes back to what others hold is news to this one.
    for (const { view, coin, piece } of pieces) {
      const shown = this.#sent.get(view)
      const last = shown?.get(coin)
      if (last && last.piece !== piece) shown?.set(coin, { ...last, piece: null })
    }
    return pieces
  }

  /** Null where there is no book. */
  #render(view: string, coin: Coin, made: Map<string, string | null>): string | null {
    const shape = shapeOf(view)
    return getOrCreate(made, `${shape}\t${coin}`, () => {
      const known = this.#books.get(coin)
      return known ? renderView(shape, known.book, known.lastPx) : null
    })
  }
}
