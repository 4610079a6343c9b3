// Collects the parts of a snapshot. A book is prepared when its last piece arrives; this takes a few milliseconds per
// part. After the last part, all prepared books replace the old ones. An aborted seed leaves nothing behind.

import type { Coin } from '../core/coin.ts'
import type { Levels } from '../protocol/feed/block.ts'
import type { HubSeed } from '../protocol/feed/log-api.ts'
import { LevelBook } from './level-book.ts'

export class SeedStaging<Ready> {
  readonly #prepare: (coin: Coin, book: LevelBook) => Ready
  #first: HubSeed | null = null
  #next = 0
  #current: { readonly coin: Coin; readonly book: LevelBook } | null = null
  #ready: Ready[] = []

  constructor(prepare: (coin: Coin, book: LevelBook) => Ready) {
    this.#prepare = prepare
  }

  /**
   * Accepts a part. Returns all books after the last part; null while parts are missing, or if the part does not belong
   * to the snapshot.
   */
  push(frame: HubSeed): readonly Ready[] | null {
    if (frame.part === 0) this.clear()
    this.#first ??= frame
    const { epoch, height, parts } = this.#first
    if (frame.part !== this.#next || frame.epoch !== epoch || frame.height !== height || frame.parts !== parts) {
      this.clear()
      return null
    }
    this.#next++
    for (const { coin, levels } of frame.books) this.#append(coin, levels)
    if (this.#next < parts) return null
    this.#finish()
    const ready = this.#ready
    this.clear()
    return ready
  }

  #append(coin: Coin, levels: Levels): void {
    if (this.#current?.coin !== coin) this.#finish()
    this.#current ??= { coin, book: new LevelBook() }
    this.#current.book.append(levels)
  }

  #finish(): void {
    const open = this.#current
    this.#current = null
    if (!open) return
    open.book.settle()
    this.#ready.push(this.#prepare(open.coin, open.book))
  }

  /** Drops the parts received so far. Blocks continue, but this snapshot will not be applied. */
  clear(): void {
    this.#first = null
    this.#next = 0
    this.#current = null
    this.#ready = []
  }
}
