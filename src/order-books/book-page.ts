// All books of a shard for the archive, one page at a time. Invariant: a book is left out and counted while it is
// uncertain, because it is being repaired or was not yet sent to clients. A later attempt includes it.

import type { HubBooks } from '../protocol/hub/hub-api.ts'
import type { ShardBooks } from './shard-books.ts'

/** Size at which a page ends, always after a whole book. The hub needs a few milliseconds per page. */
const PAGE_CHARS = 256 * 1024

type Shard = Pick<ShardBooks, 'coins' | 'suspects' | 'checkpoint'>

/** A page of books, sorted by coin name. `after`: the last name of the previous page. */
export function bookPage(
  shard: Shard,
  after: string | null,
  maxChars = PAGE_CHARS,
): Pick<HubBooks, 'books' | 'left' | 'next'> {
  const names = [...shard.coins()].sort().filter((coin) => after === null || coin > after)
  const books: HubBooks['books'][number][] = []
  let left = 0
  let chars = 0
  let last: string | null = null
  for (const coin of names) {
    if (chars >= maxChars) return { books, left, next: last }
    last = coin
    const certain = shard.checkpoint(coin)
    if (!certain) left++
    else {
      const { height, seq } = certain
      const levels = JSON.stringify(certain.levels)
      books.push({ coin, height, seq, levels })
      chars += levels.length
    }
  }
  return { books, left: left + shard.suspects.length, next: null }
}
