// The live book of one market, as the client library keeps it, with what the page says of it. Invariant: what is shown is the
// gateway's book, by its numbers and checksums, or is said not to be.

import type { CoinBook } from '../../client/bootstrap.ts'
import type { Connection } from '../../client/connection.ts'
import { DiffBooks } from '../../client/diff-books.ts'
import type { ClientRuntime } from '../../client/runtime.ts'
import { reasonOf } from '../../client/subscription.ts'
import type { ActivityEntry } from './recent.ts'

export type BookState = 'syncing' | 'in step' | 'out of step' | 'gone' | 'refused'

export interface BookObserver {
  onChange(): void
  onActivity(kind: ActivityEntry['kind'], text: string): void
  onBlock(timeMs: number): void
}

export class MarketBook {
  state: BookState = 'syncing'
  why = ''
  /** Of the last block that came, whether it changed this book or not. */
  height = -1
  blockMs = 0
  readonly #coin: string
  readonly #observer: BookObserver
  readonly #books: DiffBooks
  #epoch = ''

  constructor(link: Connection, runtime: ClientRuntime, coin: string, hearer: BookObserver) {
    this.#coin = coin
    this.#observer = hearer
    this.#books = new DiffBooks(
      link,
      runtime,
      { coin },
      {
        block: ({ height, time, epoch }) => {
          this.#advance(height, time)
          hearer.onBlock(time)
          if (this.#epoch !== '' && epoch !== this.#epoch)
            hearer.onActivity('wait', `The books began again: epoch ${epoch.slice(0, 8)}`)
          this.#epoch = epoch
        },
        changed: ({ height, time, epoch }) => {
          this.#epoch = epoch
          this.#advance(height, time)
        },
        step: (named, step, why) => {
          if (named === null) return
          if (!link.isOpen) this.#setState(step, 'the link is down', null)
          else this.#setState(step, why, step === 'in step' ? 'good' : step === 'out of step' ? 'bad' : null)
        },
        unknown: () => this.#setState('gone', 'the gateway has no such market', 'bad'),
        refused: (reason) =>
          this.#setState(/does not exist|no book/.test(reason) ? 'gone' : 'refused', reasonOf(reason), 'bad'),
      },
    )
  }

  /** Undefined before the first word of it. */
  get book(): CoinBook | undefined {
    return this.#books.get(this.#coin)
  }

  close(): void {
    this.#books.close()
  }

  #advance(height: number, time: number): void {
    this.height = Math.max(this.height, height)
    this.blockMs = Math.max(this.blockMs, time)
    this.#observer.onChange()
  }

  #setState(state: BookState, why: string, told: ActivityEntry['kind'] | null): void {
    const isNew = this.state !== state
    this.state = state
    this.why = why
    if (told !== null && (isNew || told === 'bad')) {
      const where = state === 'in step' ? `: height ${this.book?.height}, seq ${this.book?.seq}` : `: ${why}`
      this.#observer.onActivity(told, `${this.#coin} ${state}${where}`)
    }
    this.#observer.onChange()
  }
}
