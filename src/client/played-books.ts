// Books of the past as they were after each block that is played.

import { MergedBook, type SeededBook } from './merged-book.ts'
import { Played, type PlayedListener } from './played.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import type { DataFrame } from './server-frame.ts'

export interface PlayedBooksListener extends Omit<PlayedListener, 'frame'> {
  changed(book: SeededBook): void
}

/** Books of these coins, of which `changed` tells; `Played` steers and ends it. */
export function playedBooks(
  runtime: ClientRuntime,
  endpoint: Endpoint,
  coins: readonly string[],
  replay: ConstructorParameters<typeof Played>[3],
  { changed, ...listener }: PlayedBooksListener,
): Played {
  const books = new Map<string, MergedBook>()
  const frame = (frame: DataFrame) => {
    if (frame.channel !== 'l2BookDiff') return
    if ('Snapshot' in frame.data) {
      const { Snapshot } = frame.data
      const book = new MergedBook(Snapshot.coin)
      book.seed(Snapshot)
      books.set(book.coin, book)
      return changed(book)
    }
    const { book_diffs, block_height, time } = frame.data.Updates
    for (const { coin, levels } of book_diffs) {
      const book = books.get(coin)
      if (book?.apply(levels, block_height, time)) changed(book)
    }
  }
  return new Played(runtime, endpoint, { type: 'l2BookDiff', coin: [...coins] }, replay, { ...listener, frame })
}
