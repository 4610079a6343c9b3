// All order books of a node: order-level state in, net level changes per block out.
// Invariant: applying the raw diffs of a block changes exactly the levels that endBlock() returns. A diff that does not fit
// (unknown order, other size than we hold, order that exists already) is counted and makes its coin suspect; the
// diff is applied as far as it goes, because a nearly right book until the repair beats a frozen one.

import { EMPTY_DIGEST } from '../block-log/level-digest.ts'
import { compareDecimals } from '../core/decimal.ts'
import type { BookChange, Levels } from '../protocol/feed/block.ts'
import { CoinOrders, type Ladder, type SavedOrder } from './coin-orders.ts'
import type { RawDiff } from './raw-diff.ts'

/** Orders of one coin as a snapshot or checkpoint lists them; `known` false: no entry of it was ever emitted. */
interface SavedCoin {
  readonly coin: string
  readonly known: boolean
  readonly orders: Iterable<SavedOrder>
  /** More orders of the coin that was loaded last, whose list is long. */
  readonly isMore?: boolean
}

export class OrderBooks {
  readonly #coins = new Map<string, CoinOrders>()
  readonly #changed = new Set<CoinOrders>()
  readonly #suspects = new Set<string>()
  #misfits = 0

  /** Replaces the book of a coin, between blocks; nothing of it is emitted as a change. */
  load({ coin, known, orders, isMore }: SavedCoin): void {
    const book = (isMore ? this.#coins.get(coin) : undefined) ?? new CoinOrders(coin, known)
    for (const { oid, side, px, sz } of orders) book.add(oid, side, px, sz)
    book.settle()
    this.#coins.set(coin, book)
    this.#suspects.delete(coin)
  }

  /** Takes over a coin's book from other books at the same height; a coin that they lack becomes empty. */
  adopt(coin: string, from: OrderBooks): void {
    const book = from.#coins.get(coin) ?? new CoinOrders(coin, true)
    // Whoever adopts tells the reader the whole book, so its next entry is not the first.
    book.known = true
    this.#coins.set(coin, book)
    this.#suspects.delete(coin)
  }

  /** Counts an event that could not be read and makes its coin suspect, where it names one. */
  markSuspect(coin: string | null): void {
    this.#misfits++
    if (coin !== null) this.#suspects.add(coin)
  }

  /** Applies one diff of the running block. */
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

  /** Ends the running block and answers its net, absolute level changes, coins in the order of their first diff. */
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

  /** One side of a coin's book, best first; empty where it has none. To be read between two blocks. */
  side(coin: string, side: 0 | 1): Ladder {
    return this.#coins.get(coin)?.side(side) ?? []
  }

  /** Whole book of a coin, best first; empty where it has none. To be asked between blocks. */
  levels(coin: string): Levels {
    return this.#coins.get(coin)?.levels() ?? [[], []]
  }

  /** Numbers of bid and ask levels of a coin, between blocks. */
  depths(coin: string): readonly [number, number] {
    return this.#coins.get(coin)?.depths() ?? [0, 0]
  }

  /** Coins with a book, also an empty one. */
  coins(): string[] {
    return [...this.#coins.keys()]
  }

  /** Marks every coin as known to the reader, such as after a snapshot of all. */
  markAllKnown(): void {
    for (const book of this.#coins.values()) book.known = true
  }

  /** Begins a copy of a coin's orders, null where it has no book; only one of them at a time. */
  copy(coin: string): OrderCopy | null {
    const book = this.#coins.get(coin)
    return book ? new OrderCopy(book) : null
  }

  /** Whether a coin's book is still this one: a repair brings another. */
  isCurrent(book: CoinOrders): boolean {
    return this.#coins.get(book.coin) === book
  }

  /** The number that tells the coin's levels from others, between blocks. */
  digest(coin: string): number {
    return this.#coins.get(coin)?.digest ?? EMPTY_DIGEST
  }

  /** Coins with a diff that did not fit since their book was last loaded. */
  get suspects(): ReadonlySet<string> {
    return this.#suspects
  }

  /** Diffs that did not fit since these books were made. */
  get misfits(): number {
    return this.#misfits
  }
}

/** Applies a diff; false where it contradicts the book. */
function applyDiff(book: CoinOrders, diff: RawDiff): boolean {
  if (diff.kind === 'new') return book.add(diff.oid, diff.side, diff.px, diff.sz)
  if (diff.kind === 'remove') return book.remove(diff.oid) !== null
  const before = book.resize(diff.oid, diff.sz)
  if (before === null) book.add(diff.oid, diff.side, diff.px, diff.sz)
  return before !== null && isSameSize(before, diff.origSz)
}

/** `0.1` and `0.10` are one size; the texts are nearly always equal. */
function isSameSize(a: string, b: string): boolean {
  return a === b || compareDecimals(a, b) === 0
}

// All orders of a coin as the texts of a checkpoint, copied some at a time while blocks go on: at the exchange's size all
// of one coin at once would hold them up.
// Invariant: the texts are the orders as they stand when the last of them is copied, whatever changed since the first was.

export class OrderCopy {
  readonly book: CoinOrders
  readonly #remaining: Iterator<readonly [oid: number, text: string]>
  readonly #oids: number[] = []
  #texts: string[] = []
  /** Orders that came, changed or went since the copy was begun. */
  readonly #touched = new Set<number>()

  constructor(book: CoinOrders) {
    this.book = book
    this.#remaining = book.texts()
    book.watch(this.#touched)
  }

  /** The orders, each as `side oid px sz`, once all are copied. */
  get texts(): readonly string[] {
    return this.#texts
  }

  /** Copies at most so many orders more, between two blocks; answers how many less it were, 0 while more may be left. */
  step(most: number): number {
    for (let left = most; left > 0; left--) {
      const next = this.#remaining.next()
      if (next.done) {
        this.#finish()
        return left
      }
      this.#oids.push(next.value[0])
      this.#texts.push(next.value[1])
    }
    return 0
  }

  /** Ends a copy that is of no use any more. */
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
