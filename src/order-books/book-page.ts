// All books of a shard, some at a time, for the archive. Law: a book that is not sure now, because it is being repaired or
// its clients have yet to be told of it, is left out and counted: it comes with a later try.

import type { HubBooks } from '../protocol/hub/hub-api.ts'
import type { ShardBooks } from './shard-books.ts'

/** A page ends with the book in which it has so many characters: a few milliseconds of the hub. */
const PAGE_CHARS = 256 * 1024

type Shard = Pick<ShardBooks, 'coins' | 'suspects' | 'checkpoint'>

/** The books of the coins after a name. */
export function bookPage(
  shard: Shard,
  after: string | null,
  mostChars = PAGE_CHARS,
): Pick<HubBooks, 'books' | 'left' | 'next'> {
  const names = [...shard.coins()].sort().filter((coin) => after === null || coin > after)
  const books: HubBooks['books'][number][] = []
  let left = 0
  let chars = 0
  let last: string | null = null
  for (const coin of names) {
    if (chars >= mostChars) return { books, left, next: last }
    last = coin
    const sure = shard.checkpoint(coin)
    if (!sure) left++
    else {
      const { height, seq } = sure
      const levels = JSON.stringify(sure.levels)
      books.push({ coin, height, seq, levels })
      chars += levels.length
    }
  }
  return { books, left: left + shard.suspects.length, next: null }
}
