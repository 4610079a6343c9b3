// GET /books: the hash of every coin's whole book at one height, for a test that compares what a gateway serves with
// what is true. Heights to come are waited for, so that whoever asks can hash its own books of the same height.

import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { canonicalBook } from '../order-books/canonical.ts'
import type { Exchange } from './exchange/exchange.ts'
import type { Market } from './exchange/market.ts'
import { OrderBook } from './exchange/order-book.ts'

/** Furthest height ahead that is waited for, and how many may wait. */
const MAX_AHEAD = 1_000
const MAX_WAITING = 16

/** SHA-256 (hex) of the canonical book. */
export const bookHash = (book: OrderBook) => createHash('sha256').update(canonicalBook(book.levels())).digest('hex')

type Books = ReturnType<typeof booksNow>

export interface BookHashes {
  readonly height: number
  /** Milliseconds since 1970 of that block. */
  readonly time: number
  /** SHA-256 (hex) of the canonical book by coin; an empty book has one too. */
  readonly books: Readonly<Record<string, string>>
}

interface PendingRequest {
  readonly height: number
  readonly resolve: (x: Exchange) => void
}

export class BookHashOracle {
  #pending: PendingRequest[] = []

  /** How many wait for a height to come. */
  get waiting(): number {
    return this.#pending.length
  }

  /** Null: that height is past or too far ahead, or too many wait. `height` null: the present one. */
  async hashes(x: Exchange, height: number | null): Promise<BookHashes | null> {
    if (height === null || height === x.height) return hashesOf(x.height, x.block.timeMs, booksNow(x))
    if (height < x.height || height > x.height + MAX_AHEAD || this.waiting >= MAX_WAITING) return null
    const { promise, resolve } = Promise.withResolvers<{ time: number; books: Books }>()
    this.#pending.push({ height, resolve: (now) => resolve({ time: now.block.timeMs, books: booksNow(now) }) })
    const { time, books } = await promise
    return hashesOf(height, time, books)
  }

  /** Looks at the block that has just been made. */
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
    // Blocks are made between two coins.
    await nextTurn()
  }
  return { height, time, books: hashes }
}

/** Copies what changes; some milliseconds on a large exchange. */
function booksNow(x: Exchange): { readonly market: Market; readonly book: OrderBook }[] {
  const crowd = x.crowd?.orders.copy() ?? null
  return x.scale.markets.map((market) => {
    const book = new OrderBook(market, crowd)
    for (const side of ['B', 'A'] as const)
      for (const { orders } of x.books[market.id]!.side(side)) for (const order of orders) book.add({ ...order })
    return { market, book }
  })
}
