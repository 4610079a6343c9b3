// GET /books: the hash of every coin's book at one height, for tests that compare a gateway's books with those of the
// exchange. Requests for a future height wait, so that the caller can hash its own books at the same height.

import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { canonicalBook } from '../order-books/canonical.ts'
import type { Exchange } from './exchange/exchange.ts'
import type { Market } from './exchange/market.ts'
import { OrderBook } from './exchange/order-book.ts'

/** How many blocks ahead a requested height may be, and the maximum number of waiting requests. */
const MAX_AHEAD = 1_000
const MAX_WAITING = 16

/** SHA-256 (hex) of the canonical book. */
export const bookHash = (book: OrderBook) => createHash('sha256').update(canonicalBook(book.levels())).digest('hex')

type Books = ReturnType<typeof booksNow>

export interface BookHashes {
  readonly height: number
  /** Block time, Unix ms. */
  readonly time: number
  /** SHA-256 (hex) of the canonical book by coin, including empty books. */
  readonly books: Readonly<Record<string, string>>
}

interface PendingRequest {
  readonly height: number
  readonly resolve: (x: Exchange) => void
}

export class BookHashOracle {
  #pending: PendingRequest[] = []

  /** Number of requests that wait for a height. */
  get waiting(): number {
    return this.#pending.length
  }

  /**
   * The hashes at `height`, by default the current height. Null if the height is past or too far ahead, or if too many
   * requests wait.
   */
  async hashes(x: Exchange, height: number | null): Promise<BookHashes | null> {
    if (height === null || height === x.height) return hashesOf(x.height, x.block.timeMs, booksNow(x))
    if (height < x.height || height > x.height + MAX_AHEAD || this.waiting >= MAX_WAITING) return null
    const { promise, resolve } = Promise.withResolvers<{ time: number; books: Books }>()
    this.#pending.push({ height, resolve: (now) => resolve({ time: now.block.timeMs, books: booksNow(now) }) })
    const { time, books } = await promise
    return hashesOf(height, time, books)
  }

  /** Resolves the requests for the block just created. */
  onBlock(x: Exchange): void {
    if (this.waiting === 0) return
    for (const { resolve } of this.#pending.filter(({ height }) => height === x.height)) resolve(x)
    this.#pending = this.#pending.filter(({ height }) => height > x.height)
  }
}

async function hashesOf(height: number, time: number, books: Books): Promise<BookHashes> {
  const hashes: Record<string, string> = {}
  for (const { market, book } of books) {
    hashes[market.coin] = bookHash(book)
    // Pauses, so that blocks can be created between two coins.
    await nextTurn()
  }
  return { height, time, books: hashes }
}

/** Copies the mutable state, which takes a few milliseconds on a large exchange. */
function booksNow(x: Exchange): { readonly market: Market; readonly book: OrderBook }[] {
  const crowd = x.crowd?.orders.copy() ?? null
  return x.scale.markets.map((market) => {
    const book = new OrderBook(market, crowd)
    for (const side of ['B', 'A'] as const)
      for (const { orders } of x.books[market.id]!.side(side)) for (const order of orders) book.add({ ...order })
    return { market, book }
  })
}
