// All books as they are at one moment, for who reads them while the exchange goes on.

import type { Exchange } from './exchange.ts'
import type { Market } from './market.ts'
import { OrderBook } from './order-book.ts'

/** Copies what changes; some milliseconds on a large exchange. */
export function booksNow(x: Exchange): { readonly market: Market; readonly book: OrderBook }[] {
  const crowd = x.crowd?.orders.copy() ?? null
  return x.scale.markets.map((market) => {
    const book = new OrderBook(market, crowd)
    for (const side of ['B', 'A'] as const)
      for (const { orders } of x.books[market.id]!.side(side)) for (const order of orders) book.add({ ...order })
    return { market, book }
  })
}
