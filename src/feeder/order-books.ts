// All order books of a node: takes order-level diffs, returns net level changes per block. Invariant: the diffs of a
// block change exactly the levels that endBlock() returns. A diff that does not fit (unknown order, different size,
// existing order) is counted and makes its coin suspect. It is still applied as far as possible: until the repair, a
// nearly correct book is better than a frozen one.

import { EMPTY_DIGEST } from '../block-log/level-digest.ts'
import { compareDecimals } from '../core/decimal.ts'
import type { BookChange, Levels } from '../protocol/feed/block.ts'
import { CoinOrders, type Ladder, type SavedOrder } from './coin-orders.ts'
import type { RawDiff } from './raw-diff.ts'

/** Orders of one coin in a snapshot or checkpoint. `known`: false if the gateway never got an entry of the coin. */
interface SavedCoin {
  readonly coin: string
  readonly known: boolean
  readonly orders: Iterable<SavedOrder>
  /** True if these orders continue the list of the coin that was loaded last. */
  readonly isMore?: boolean
}

export class OrderBooks {
  readonly #coins = new Map<string, CoinOrders>()
  readonly #changed = new Set<CoinOrders>()
  readonly #suspects = new Set<string>()
  #misfits = 0

  /** Replaces the book of a coin between blocks, without emitting a change. */
  load({ coin, known, orders, isMore }: SavedCoin): void {
    const book = (isMore ? this.#coins.get(coin) : undefined) ?? new CoinOrders(coin, known)
    for (const { oid, side, px, sz } of orders) book.add(oid, side, px, sz)
    book.settle()
    this.#coins.set(coin, book)
    this.#suspects.delete(coin)
  }

  /**
   * Replaces a coin's book with the one in `from`, which has the same height. If `from` lacks the coin, its book
   * becomes empty.
   */
  adopt(coin: string, from: OrderBooks): void {
    const book = from.#coins.get(coin) ?? new CoinOrders(coin, true)
    // The gateway gets the whole book, so the coin's next entry is not marked `new`.
    book.known = true
    this.#coins.set(coin, book)
    this.#suspects.delete(coin)
  }

  /** Counts an unreadable event, and makes its coin suspect if it names one. */
  markSuspect(coin: string | null): void {
    this.#misfits++
    if (coin !== null) this.#suspects.add(coin)
  }

  /** Applies one diff of the current block. */
  apply(diff: RawDiff): void {
    let book = this.#coins.get(diff.coin)
    if (!book) {
      book = new CoinOrders(diff.coin, false)
      this.#coins.set(diff.coin, book)
    }
    this.#changed.add(book)
    if (!applyDiff(book, diff)) {
      this.#misfits++
      this.#suspects.add(diff.coin)
    }
  }

  /**
   * Ends the current block. Returns its net level changes as absolute states. Coins are in the order of their first
   * diff.
   */
  endBlock(): BookChange[] {
    const changes: BookChange[] = []
    for (const book of this.#changed) {
      const levels = book.endBlock()
      if (levels) changes.push(book.known ? { coin: book.coin, levels } : { coin: book.coin, levels, new: true })
      if (levels) book.known = true
    }
    this.#changed.clear()
    return changes
  }

  /** One side of a coin's book, best first; empty if there is no book. Read between two blocks. */
  side(coin: string, side: 0 | 1): Ladder {
    return this.#coins.get(coin)?.side(side) ?? []
  }

  /** A coin's whole book, best first; empty if there is none. Read between two blocks. */
  levels(coin: string): Levels {
    return this.#coins.get(coin)?.levels() ?? [[], []]
  }

  /** Number of bid and ask levels of a coin. Read between blocks. */
  depths(coin: string): readonly [number, number] {
    return this.#coins.get(coin)?.depths() ?? [0, 0]
  }

  /** Coins with a book, including empty ones. */
  coins(): string[] {
    return [...this.#coins.keys()]
  }

  /** Marks every coin as known to the gateway, for example after a snapshot of all books. */
  markAllKnown(): void {
    for (const book of this.#coins.values()) book.known = true
  }

  /** Starts a copy of a coin's orders; null if it has no book. A coin can have only one copy at a time. */
  copy(coin: string): OrderCopy | null {
    const book = this.#coins.get(coin)
    return book ? new OrderCopy(book) : null
  }

  /** True if this is still the coin's book, that is, no repair has replaced it. */
  isCurrent(book: CoinOrders): boolean {
    return this.#coins.get(book.coin) === book
  }

  /** Digest of the coin's levels. Read between blocks. */
  digest(coin: string): number {
    return this.#coins.get(coin)?.digest ?? EMPTY_DIGEST
  }

  /** Coins with a diff that did not fit since their book was loaded. */
  get suspects(): ReadonlySet<string> {
    return this.#suspects
  }

  /** Diffs that did not fit since these books were created. */
  get misfits(): number {
    return this.#misfits
  }
}

/** Applies a diff. Returns false if it contradicts the book. */
function applyDiff(book: CoinOrders, diff: RawDiff): boolean {
  if (diff.kind === 'new') return book.add(diff.oid, diff.side, diff.px, diff.sz)
  if (diff.kind === 'remove') return book.remove(diff.oid) !== null
  const before = book.resize(diff.oid, diff.sz)
  if (before === null) book.add(diff.oid, diff.side, diff.px, diff.sz)
  return before !== null && isSameSize(before, diff.origSz)
}

/** `0.1` and `0.10` are equal sizes. Usually, the strings are already equal. */
function isSameSize(a: string, b: string): boolean {
  return a === b || compareDecimals(a, b) === 0
}

// Copies a coin's orders as checkpoint strings, a few at a time while blocks continue, because copying a large coin at
// once would delay the blocks. Invariant: the strings are the orders at the end of the copy, even if orders changed
// while it was in progress.

export class OrderCopy {
  readonly book: CoinOrders
  readonly #remaining: Iterator<readonly [oid: number, text: string]>
  readonly #oids: number[] = []
  #texts: string[] = []
  /** Orders that were added, changed or removed since the copy started. */
  readonly #touched = new Set<number>()

  constructor(book: CoinOrders) {
    this.book = book
    this.#remaining = book.texts()
    book.watch(this.#touched)
  }

  /** The orders, each as `side oid px sz`. Complete once step() has returned more than 0. */
  get texts(): readonly string[] {
    return this.#texts
  }

  /**
   * Copies up to `max` more orders. Call between two blocks. Returns 0 while orders may be left; after the last order,
   * how many of `max` were not needed.
   */
  step(max: number): number {
    for (let remaining = max; remaining > 0; remaining--) {
      const next = this.#remaining.next()
      if (next.done) {
        this.#finish()
        return remaining
      }
      this.#oids.push(next.value[0])
      this.#texts.push(next.value[1])
    }
    return 0
  }

  /** Cancels the copy. */
  stop(): void {
    this.book.watch(null)
  }

  #finish(): void {
    this.stop()
    const touched = this.#touched
    if (touched.size === 0) return
    // biome-ignore lint/style/noNonNullAssertion: every text has its order id
    this.#texts = this.#texts.filter((_, index) => !touched.has(this.#oids[index]!))
    for (const oid of touched) {
      const text = this.book.text(oid)
      if (text !== null) this.#texts.push(text)
    }
  }
}
