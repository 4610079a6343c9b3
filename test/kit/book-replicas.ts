// Books of a connection's single `l2BookDiff` subscription: a Snapshot per coin, then Updates, and nothing after the
// socket closes.

import type { Connection } from '../../src/client/connection.ts'
import type { DataFrame } from '../../src/client/server-frame.ts'
import { SnapshotBook } from '../../src/client/snapshot-book.ts'
import type { BookScope } from '../../src/client/subscription.ts'

interface ReplicaListener {
  changed(book: SnapshotBook): void
  /** All books are lost (coin null), or one coin had a change without a Snapshot. */
  gap?(coin: string | null, reason: string): void
  refused?(reason: string): void
}

export class BookReplicas {
  readonly #books = new Map<string, SnapshotBook>()
  readonly #listener: ReplicaListener
  readonly close: () => void

  constructor(connection: Connection, scope: BookScope, listener: ReplicaListener) {
    this.#listener = listener
    this.close = connection.subscribe(
      { type: 'l2BookDiff', ...scope },
      {
        lost: (reason) => {
          this.#books.clear()
          listener.gap?.(null, reason)
        },
        frame: (frame) => this.#frame(frame),
        refused: (reason) => listener.refused?.(reason),
      },
    )
  }

  get(coin: string): SnapshotBook | undefined {
    return this.#books.get(coin)
  }

  coins(): IterableIterator<string> {
    return this.#books.keys()
  }

  #frame(frame: DataFrame): void {
    if (frame.channel !== 'l2BookDiff') return
    if ('Snapshot' in frame.data) {
      const book = new SnapshotBook(frame.data.Snapshot)
      this.#books.set(book.coin, book)
      return this.#listener.changed(book)
    }
    const { book_diffs, block_height, time } = frame.data.Updates
    for (const { coin, levels } of book_diffs) {
      const book = this.#books.get(coin)
      if (!book) this.#listener.gap?.(coin, 'an update came before the snapshot')
      else if (book.apply(levels, block_height, time)) this.#listener.changed(book)
    }
  }
}
