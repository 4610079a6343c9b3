// Books kept from `l2BookDiff`: a Snapshot first, Updates after it, everything dropped with the socket.
// The stream has no sequence numbers: what is lost on the way cannot be seen here, so nothing survives a reconnect.

import { LevelBook } from '../book/level-book.ts'
import type { Levels } from '../feed/block.ts'
import type { BookSnapshotData, BookUpdatesData } from '../stream/channels/l2BookDiff.ts'
import type { Connection } from './connection.ts'
import type { DataFrame } from './server-frame.ts'
import { type Step, type StepListener, Steps } from './steps.ts'
import { type BookScope, bookBody, isInScope, listedCoins, type SubscriptionBody } from './subscription.ts'

export interface SeededBook {
  readonly coin: string
  /** Height of the Snapshot or of the last change. */
  readonly height: number
  /** Time of the block at `height`, ms. */
  readonly time: number
  /** Best first, `depth` levels a side. */
  levels(depth?: number): Levels
}

export interface SeededListener {
  changed?(book: SeededBook): void
  /** All books are gone (coin null), or one coin's change came without a Snapshot before it. */
  gap?(coin: string | null, reason: string): void
  /** Whether a book, or (coin null) the whole, is in step has changed; as far as this stream can tell. */
  step?: StepListener
  refused?(reason: string): void
}

class Seeded implements SeededBook {
  readonly coin: string
  height: number
  time: number
  readonly #book: LevelBook

  constructor(seed: BookSnapshotData) {
    this.coin = seed.coin
    this.height = seed.block_height
    this.time = seed.time
    this.#book = LevelBook.of(seed.levels)
  }

  apply(levels: Levels, height: number, time: number): void {
    this.#book.apply(levels)
    this.height = height
    this.time = time
  }

  levels(depth?: number): Levels {
    return this.#book.levels(depth)
  }
}

export class SeededBooks {
  readonly #body: SubscriptionBody
  readonly #listener: SeededListener
  readonly #books = new Map<string, Seeded>()
  readonly #steps: Steps
  readonly #leave: () => void

  constructor(connection: Connection, scope: BookScope, listener: SeededListener) {
    this.#listener = listener
    this.#body = bookBody('l2BookDiff', scope)
    this.#steps = new Steps((coin, step, why) => listener.step?.(coin, step, why))
    this.#leave = connection.subscribe(this.#body, {
      live: () => this.#live(),
      lost: (reason) => this.#lost(reason),
      frame: (frame) => this.#frame(frame),
      refused: (reason) => listener.refused?.(reason),
    })
  }

  /** Book of a coin; undefined until its Snapshot came on the present socket. */
  get(coin: string): SeededBook | undefined {
    return this.#books.get(coin)
  }

  /** Whether a coin's book, or the whole, is the server's: what came last was a Snapshot, or followed one. */
  step(coin: string | null = null): Step {
    return coin === null ? this.#steps.whole : this.#steps.of(coin)
  }

  coins(): IterableIterator<string> {
    return this.#books.keys()
  }

  close(): void {
    this.#leave()
    this.#steps.setAll('out of step', 'closed')
    this.#books.clear()
  }

  #live(): void {
    for (const coin of listedCoins(this.#body) ?? []) this.#steps.set(coin, 'syncing')
    this.#steps.setAll('syncing')
    this.#books.clear()
  }

  #lost(reason: string): void {
    this.#steps.setAll('out of step', reason)
    this.#books.clear()
    this.#listener.gap?.(null, reason)
  }

  #frame(frame: DataFrame): void {
    if (frame.channel !== 'l2BookDiff') return
    if ('Snapshot' in frame.data) this.#seed(frame.data.Snapshot)
    else this.#update(frame.data.Updates)
  }

  #seed(seed: BookSnapshotData): void {
    // An older one is of another body with this coin, of which not every change comes here.
    const isOlder = seed.block_height < (this.#books.get(seed.coin)?.height ?? 0)
    if (isOlder || !isInScope(this.#body, seed.coin)) return
    const book = new Seeded(seed)
    this.#books.set(seed.coin, book)
    this.#steps.set(seed.coin, 'in step')
    this.#listener.changed?.(book)
  }

  #update(updates: BookUpdatesData): void {
    for (const { coin, levels } of updates.book_diffs) {
      if (!isInScope(this.#body, coin)) continue
      const book = this.#books.get(coin)
      if (!book) {
        const why = 'an update came before the snapshot'
        this.#steps.set(coin, 'out of step', why)
        this.#listener.gap?.(coin, why)
      } else if (updates.block_height > book.height) {
        book.apply(levels, updates.block_height, updates.time)
        this.#listener.changed?.(book)
      }
    }
  }
}
