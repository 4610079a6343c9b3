// Forwards a snapshot. Each part is forwarded to the hubs at once, so a snapshot of any size passes through. A hub gets
// only the coins of its shard. It gets every part, even an empty one, because hubs count the parts.

import { type HubSeed, LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { SnapshotFrame } from '../protocol/feed/protocol.ts'
import type { ReaderLink } from './reader-link.ts'

type Hub = Pick<ReaderLink, 'kind' | 'height' | 'hasCoin' | 'sendFrame'>

export class SeedRelay {
  readonly intake: SeedIntake
  readonly epoch: string
  /** Hubs that have every part so far; null if the snapshot is not accepted. */
  #hubs: ReadonlySet<Hub> | null

  /** `hubs`: the attached hubs; null if the snapshot is not accepted. */
  constructor(first: SnapshotFrame, epoch: string, hubs: readonly Hub[] | null) {
    this.intake = new SeedIntake(first)
    this.epoch = epoch
    // A repair is valid at only one height. A hub that is behind would apply older changes to the repaired books.
    const isFit = (hub: Hub) => first.scope === 'all' || hub.height === first.height
    this.#hubs = hubs && new Set(hubs.filter(isFit))
  }

  get isSuperseded(): boolean {
    return this.#hubs === null
  }

  /** Ignores the remaining parts. */
  supersede(): void {
    this.#hubs = null
  }

  /** Sends a part to the hubs. Their blocks below `next` are skipped, because those are older than the books. */
  forward({ scope, height, time, books, part = 0, parts = 1 }: SnapshotFrame, next: number): void {
    for (const hub of this.#hubs ?? []) {
      const ofHub = books.filter(({ coin }) => hub.hasCoin(coin))
      const { epoch } = this
      const seed: HubSeed = { v: LOG_API_VERSION, t: 'seed', scope, epoch, height, time, books: ofHub, part, parts }
      hub.sendFrame(JSON.stringify(seed), next)
    }
  }

  /** Whether a hub did not get every part of a finished snapshot that includes a coin of its shard. */
  isIncompleteFor(reader: Hub): boolean {
    if (reader.kind.kind !== 'hub' || this.#hubs === null || this.#hubs.has(reader)) return false
    return this.intake.scope === 'all' || [...this.intake.coins].some((coin) => reader.hasCoin(coin))
  }
}

/**
 * Maximum number of levels in a snapshot: six times as many as the exchange has. Hubs have memory for this many in
 * addition to their books.
 */
const MAX_LEVELS = 4_000_000
/** Maximum number of coins in a snapshot. The log keeps only their names, which take up to two megabytes. */
const MAX_COINS = 20_000

export type SeedPart = Pick<SnapshotFrame, 'part' | 'parts' | 'books' | 'scope' | 'height'>
type Rejection = { readonly field: string; readonly message: string }

/** Checks the parts of a snapshot. It keeps only the names of the coins. */
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

  /** Whether the last part has been accepted. */
  get isComplete(): boolean {
    return this.#next === this.parts
  }

  /** Accepts the next part and returns null. If the part does not belong to the snapshot, returns the reason. */
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
          message: 'this coin already appeared. Split a book between levels, and send its parts consecutively',
        }
      this.coins.add(coin)
      this.#last = coin
      this.#levels += levels[0].length + levels[1].length
    }
    if (this.coins.size > MAX_COINS) return { field: 'books', message: `a snapshot has at most ${MAX_COINS} coins` }
    if (this.#levels > MAX_LEVELS) return { field: 'books', message: `a snapshot has at most ${MAX_LEVELS} levels` }
    return null
  }
}
