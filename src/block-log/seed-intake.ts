// A snapshot on its way from a feeder through the log to the hubs, part by part. Nothing of it is kept but the names of
// its coins: each part is checked, handed on, and forgotten. Pure; what is done with it, block-log.do.ts decides.

import type { SnapshotFrame } from '../protocol/feed/protocol.ts'

/** Six times the levels of the whole exchange: what hubs can hold beside the books that they have. */
const LEVELS_MOST = 4_000_000
/** Names are all that the log keeps of a snapshot: two megabytes of them. */
const COINS_MOST = 20_000

export type Part = Pick<SnapshotFrame, 'part' | 'parts' | 'books' | 'scope' | 'height'>
type Refusal = { readonly field: string; readonly message: string }

export class SeedIntake {
  readonly scope: SnapshotFrame['scope']
  readonly height: number
  readonly parts: number
  /** Coins with a book in the parts so far. */
  readonly coins = new Set<string>()
  #next = 0
  #levels = 0
  #last: string | null = null

  constructor({ scope, height, parts = 1 }: Pick<Part, 'scope' | 'height' | 'parts'>) {
    this.scope = scope
    this.height = height
    this.parts = parts
  }

  /** True once the last part was taken. */
  get isWhole(): boolean {
    return this.#next === this.parts
  }

  /** Takes the next part; null, or why it does not belong. */
  push({ part = 0, parts = 1, scope, height, books }: Part): Refusal | null {
    const isNext = part === this.#next && parts === this.parts
    if (!isNext || scope !== this.scope || height !== this.height)
      return {
        field: 'part',
        message: `expected part ${this.#next} of ${this.parts} of the same snapshot, got part ${part} of ${parts}`,
      }
    this.#next++
    for (const [at, { coin, levels }] of books.entries()) {
      if (coin !== this.#last && this.coins.has(coin))
        return {
          field: `books.${at}.coin`,
          message: 'the coin came before: cut a book between levels and send its pieces one after the other',
        }
      this.coins.add(coin)
      this.#last = coin
      this.#levels += levels[0].length + levels[1].length
    }
    if (this.coins.size > COINS_MOST)
      return { field: 'books', message: `a snapshot of more than ${COINS_MOST} coins is not taken` }
    if (this.#levels > LEVELS_MOST)
      return { field: 'books', message: `a snapshot of more than ${LEVELS_MOST} levels is not taken` }
    return null
  }
}
