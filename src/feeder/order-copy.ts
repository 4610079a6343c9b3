// All orders of a coin as the texts of a checkpoint, copied some at a time while blocks go on: at the exchange's size all
// of one coin at once would hold them up.
// Law: the texts are the orders as they stand when the last of them is copied, whatever changed since the first was.

import type { CoinOrders } from './coin-orders.ts'

export class OrderCopy {
  readonly book: CoinOrders
  readonly #left: Iterator<readonly [oid: number, text: string]>
  readonly #oids: number[] = []
  #texts: string[] = []
  /** Orders that came, changed or went since the copy was begun. */
  readonly #touched = new Set<number>()

  constructor(book: CoinOrders) {
    this.book = book
    this.#left = book.texts()
    book.watch(this.#touched)
  }

  /** The orders, each as `side oid px sz`, once all are copied. */
  get texts(): readonly string[] {
    return this.#texts
  }

  /** Copies at most so many orders more, between two blocks; answers how many less it were, 0 while more may be left. */
  step(most: number): number {
    for (let left = most; left > 0; left--) {
      const next = this.#left.next()
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
    this.#texts = this.#texts.filter((_, index) => !touched.has(this.#oids[index]!))
    for (const oid of touched) {
      const text = this.book.text(oid)
      if (text !== null) this.#texts.push(text)
    }
  }
}
