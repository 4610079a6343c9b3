// The views of a shard's books that relays want. Invariants: a fragment is rendered once per block, however many relays
// want it. It is rendered only for changed coins, and no sooner than its view's interval allows. It is sent only if it
// differs from the last one. A view that is not due yet is sent with the first block at which it is due.

import type { Coin } from '../core/coin.ts'
import { getOrCreate } from '../core/get-or-create.ts'
import type { CoinFragment, ViewFragment } from '../protocol/hub/hub-link.ts'
import { bookChecksum, EMPTY_CHECKSUM } from './checksum.ts'
import type { ShardBooks } from './shard-books.ts'
import { intervalMsOf, renderView, shapeOf } from './view.ts'
import { ViewInterests } from './view-interests.ts'

interface SentView {
  /** Null when relays have different fragments. */
  readonly piece: string | null
  readonly timeMs: number
}

export class ShardViews {
  readonly #books: Pick<ShardBooks, 'get' | 'coins'>
  #interests = new ViewInterests()
  /** The fragment that was sent last, by view and coin. */
  readonly #sent = new Map<string, Map<string, SentView>>()
  /** Coins that changed since their view was last sent, by view. */
  readonly #touched = new Map<string, Set<string>>()

  constructor(books: Pick<ShardBooks, 'get' | 'coins'>) {
    this.#books = books
  }

  /** Adds checksums to the changes of the current block: to those whose checksum is wanted, or to all. */
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

  /** Drops views that none of these relays want. */
  retain(relays: Iterable<ViewInterests>): void {
    this.#interests = new ViewInterests()
    for (const wants of relays) this.#interests.add(wants)
    for (const map of [this.#sent, this.#touched])
      for (const [view, coins] of map) {
        for (const coin of coins.keys()) if (!this.#interests.has(view, coin)) coins.delete(coin)
        if (coins.size === 0) map.delete(view)
      }
  }

  /** Marks coins whose book or last trade may have changed. */
  touch(coins: Iterable<string>): void {
    for (const coin of coins)
      for (const view of this.#interests.of(coin)) getOrCreate(this.#touched, view, () => new Set()).add(coin)
  }

  /** Views that changed and are due with a block of this time. */
  due(timeMs: number): ViewFragment[] {
    const pieces: ViewFragment[] = []
    const rendered = new Map<string, string | null>()
    for (const [view, coins] of this.#touched) {
      const everyMs = intervalMsOf(view)
      const shown = getOrCreate(this.#sent, view, () => new Map<string, SentView>())
      for (const coin of coins) {
        const last = shown.get(coin)
        // If the last time is later than the block's, the feed started over and the view is due.
        if (last && timeMs >= last.timeMs && timeMs - last.timeMs < everyMs) continue
        coins.delete(coin)
        const piece = this.#render(view, coin, rendered)
        if (piece === null || piece === last?.piece) continue
        shown.set(coin, { piece, timeMs })
        pieces.push({ view, coin, piece })
      }
    }
    return pieces
  }

  /**
   * All of these views in their current state, for one relay. `rendered`: strings of this block, shared with other
   * relays.
   */
  renderAll(wants: ViewInterests, rendered = new Map<string, string | null>()): ViewFragment[] {
    const pieces = [...this.#books.coins()].flatMap((coin) =>
      wants.of(coin).flatMap((view) => {
        const piece = this.#render(view, coin, rendered)
        return piece === null ? [] : [{ view, coin, piece }]
      }),
    )
    // A view may later return to the fragment that the other relays have; this relay must then get it too.
    for (const { view, coin, piece } of pieces) {
      const shown = this.#sent.get(view)
      const last = shown?.get(coin)
      if (last && last.piece !== piece) shown?.set(coin, { ...last, piece: null })
    }
    return pieces
  }

  /** Null when there is no book. */
  #render(view: string, coin: Coin, rendered: Map<string, string | null>): string | null {
    const shape = shapeOf(view)
    return getOrCreate(rendered, `${shape}\t${coin}`, () => {
      const known = this.#books.get(coin)
      return known ? renderView(shape, known.book, known.lastPx) : null
    })
  }
}
