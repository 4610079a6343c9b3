// A snapshot as the log hands it on: each part goes to the hubs with their coins of it, at once, so that one of any size
// passes through. Every hub gets every part, an empty one too, because a hub counts them.

import { type HubSeed, LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { SnapshotFrame } from '../protocol/feed/protocol.ts'
import type { ReaderLink } from './reader-link.ts'
import { SeedIntake } from './seed-intake.ts'

type Hub = Pick<ReaderLink, 'kind' | 'height' | 'wants' | 'frame'>

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

  get isPassedOver(): boolean {
    return this.#hubs === null
  }

  /** The parts that come are of no use any more. */
  passOver(): void {
    this.#hubs = null
  }

  /** Sends a part to the hubs, of which none is sent a block below `next` any more: it would be older than the books. */
  handOn({ scope, height, time, books, part = 0, parts = 1 }: SnapshotFrame, next: number): void {
    for (const hub of this.#hubs ?? []) {
      const own = books.filter(({ coin }) => hub.wants(coin))
      const { epoch } = this
      const seed: HubSeed = { v: LOG_API_VERSION, t: 'seed', scope, epoch, height, time, books: own, part, parts }
      hub.frame(JSON.stringify(seed), next)
    }
  }

  /** True for a hub that lacks parts of a snapshot that has come, with a coin of its shard. */
  isMissedBy(reader: Hub): boolean {
    if (reader.kind.kind !== 'hub' || this.#hubs === null || this.#hubs.has(reader)) return false
    return this.intake.scope === 'all' || [...this.intake.coins].some((coin) => reader.wants(coin))
  }
}
