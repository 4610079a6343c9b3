// A snapshot as the log hands it on: each part goes to the hubs with their coins of it, at once, so that one of any size
// passes through. Every hub gets every part, an empty one too, because a hub counts them.

import { type HubSeed, LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { SnapshotFrame } from '../protocol/feed/protocol.ts'
import type { ReaderLink } from './reader-link.ts'

type Hub = Pick<ReaderLink, 'kind' | 'height' | 'hasCoin' | 'sendFrame'>

export class SeedRelay {
  readonly intake: SeedIntake
  readonly epoch: string
  /** Those that have every part so far; null where the snapshot is not taken. */
  #hubs: ReadonlySet<Hub> | null

  /** `hubs`: those that are attached now, null where the snapshot is not taken. */
  constructor(first: SnapshotFrame, epoch: string, hubs: readonly Hub[] | null) {
    this.intake = new SeedIntake(first)
    this.epoch = epoch
    // A repair is of one height: a hub that is still behind would apply older changes over it.
    const isFit = (hub: Hub) => first.scope === 'all' || hub.height === first.height
    this.#hubs = hubs && new Set(hubs.filter(isFit))
  }

  get isSuperseded(): boolean {
    return this.#hubs === null
  }

  /** The parts that come are of no use any more. */
  supersede(): void {
    this.#hubs = null
  }

  /** Sends a part to the hubs, of which none is sent a block below `next` any more: it would be older than the books. */
  forward({ scope, height, time, books, part = 0, parts = 1 }: SnapshotFrame, next: number): void {
    for (const hub of this.#hubs ?? []) {
      const own = books.filter(({ coin }) => hub.hasCoin(coin))
      const { epoch } = this
      const seed: HubSeed = { v: LOG_API_VERSION, t: 'seed', scope, epoch, height, time, books: own, part, parts }
      hub.sendFrame(JSON.stringify(seed), next)
    }
  }

  /** True for a hub that lacks parts of a snapshot that has come, with a coin of its shard. */
  isIncompleteFor(reader: Hub): boolean {
    if (reader.kind.kind !== 'hub' || this.#hubs === null || this.#hubs.has(reader)) return false
    return this.intake.scope === 'all' || [...this.intake.coins].some((coin) => reader.hasCoin(coin))
  }
}

/** Six times the levels of the whole exchange: what hubs can hold beside the books that they have. */
const MAX_LEVELS = 4_000_000
/** Names are all that the log keeps of a snapshot: two megabytes of them. */
const MAX_COINS = 20_000

export type SeedPart = Pick<SnapshotFrame, 'part' | 'parts' | 'books' | 'scope' | 'height'>
type Rejection = { readonly field: string; readonly message: string }

/** Checks the parts of a snapshot. It keeps the names of the coins alone. */
export class SeedIntake {
  readonly scope: SnapshotFrame['scope']
  readonly height: number
  readonly parts: number
  /** Coins with a book in the parts so far. */
  readonly coins = new Set<string>()
  #next = 0
  #levels = 0
  #last: string | null = null

  constructor({ scope, height, parts = 1 }: Pick<SeedPart, 'scope' | 'height' | 'parts'>) {
    this.scope = scope
    this.height = height
    this.parts = parts
  }

  /** True once the last part was taken. */
  get isComplete(): boolean {
    return this.#next === this.parts
  }

  /** Takes the next part; null, or why it does not belong. */
  push({ part = 0, parts = 1, scope, height, books }: SeedPart): Rejection | null {
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
    if (this.coins.size > MAX_COINS)
      return { field: 'books', message: `a snapshot of more than ${MAX_COINS} coins is not taken` }
    if (this.#levels > MAX_LEVELS)
      return { field: 'books', message: `a snapshot of more than ${MAX_LEVELS} levels is not taken` }
    return null
  }
}
