// The live book of one market, kept by the client library, with its display state. Invariant: a book is shown as in sync
// only while its sequence numbers and checksums match the gateway.

import type { CoinBook } from '../../client/bootstrap.ts'
import type { Connection } from '../../client/connection.ts'
import { DiffBooks } from '../../client/diff-books.ts'
import type { ClientRuntime } from '../../client/runtime.ts'
import { reasonOf } from '../../client/subscription.ts'
import type { ActivityEntry } from './recent.ts'
import * as strings from './strings.ts'
import { BOOK_STATES } from './strings.ts'

export type BookState = 'syncing' | 'in step' | 'out of step' | 'gone' | 'refused'

export interface BookObserver {
  onChange(): void
  onActivity(kind: ActivityEntry['kind'], text: string): void
  onBlock(timeMs: number): void
}

export class MarketBook {
  state: BookState = 'syncing'
  why = ''
  /** Height of the last block, whether or not it changed this book. */
  height = -1
  blockMs = 0
  readonly #coin: string
  readonly #observer: BookObserver
  readonly #books: DiffBooks
  #epoch = ''
  #isClosed = false

  constructor(link: Connection, runtime: ClientRuntime, coin: string, observer: BookObserver) {
    this.#coin = coin
    this.#observer = observer
    this.#books = new DiffBooks(
      link,
      runtime,
      { coin },
      {
        block: ({ height, time, epoch }) => {
          this.#advance(height, time)
          observer.onBlock(time)
          if (this.#epoch !== '' && epoch !== this.#epoch)
            observer.onActivity('wait', strings.activityEpoch(epoch.slice(0, 8)))
          this.#epoch = epoch
        },
        changed: ({ height, time, epoch }) => {
          this.#epoch = epoch
          this.#advance(height, time)
        },
        step: (named, step, why) => {
          if (named === null) return
          if (!link.isOpen) this.#setState(step, strings.activityBookDisconnected, null)
          else this.#setState(step, why, step === 'in step' ? 'good' : step === 'out of step' ? 'bad' : null)
        },
        unknown: () => this.#setState('gone', strings.activityNoMarket, 'bad'),
        refused: (reason) =>
          this.#setState(/does not exist|no book/.test(reason) ? 'gone' : 'refused', reasonOf(reason), 'bad'),
      },
    )
  }

  /** Undefined before the first snapshot. */
  get book(): CoinBook | undefined {
    return this.#books.get(this.#coin)
  }

  close(): void {
    // The book ends because the visitor left it, which is no trouble.
    this.#isClosed = true
    this.#books.close()
  }

  #advance(height: number, time: number): void {
    this.height = Math.max(this.height, height)
    this.blockMs = Math.max(this.blockMs, time)
    this.#observer.onChange()
  }

  #setState(state: BookState, why: string, kind: ActivityEntry['kind'] | null): void {
    if (this.#isClosed) return
    const isNew = this.state !== state
    this.state = state
    this.why = why
    if (kind !== null && (isNew || kind === 'bad')) {
      const detail = state === 'in step' ? strings.activityPosition(this.book?.height, this.book?.seq) : why
      this.#observer.onActivity(kind, strings.activityBook(this.#coin, BOOK_STATES[state], detail))
    }
    this.#observer.onChange()
  }
}
