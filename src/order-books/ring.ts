// The hub's last blocks as fragments, for relays that briefly lost their link. Bounded in time and size.
// biome-ignore-all lint/style/noNonNullAssertion: places are between the start and the end of the entries.

import type { Cursor } from '../protocol/feed/log-api.ts'
import type { CoinFragment, HubTick } from '../protocol/hub/hub-link.ts'
import type { ShardBooks } from './shard-books.ts'

/** How long a relay may be disconnected before its clients have to restart. */
export const RING_MS = 30_000
/** Maximum number of retained characters. In a busy shard, they cover less time than RING_MS. */
export const RING_CHARS = 16 * 1024 * 1024

export interface RingEntry {
  readonly tick: HubTick
  readonly fragments: readonly CoinFragment[]
}

export class Ring {
  #entries: RingEntry[] = []
  #chars = 0
  #start = 0

  /**
   * Adds the next height. A height at or below the last one starts a different chain, and the old entries are dropped.
   */
  push(entry: RingEntry): void {
    const last = this.#entries.at(-1)
    if (last && entry.tick.height <= last.tick.height) this.clear()
    this.#entries.push(entry)
    this.#chars += sizeOf(entry)
    while (this.#start < this.#entries.length - 1 && this.#isOver(this.#entries[this.#start]!, entry)) {
      this.#chars -= sizeOf(this.#entries[this.#start++]!)
    }
    // Dropped entries are cut off in batches: a shift per block would move the array each time.
    if (this.#start > 1000) {
      this.#entries = this.#entries.slice(this.#start)
      this.#start = 0
    }
  }

  #isOver(oldest: RingEntry, newest: RingEntry): boolean {
    return this.#chars > RING_CHARS || newest.tick.time - oldest.tick.time > RING_MS
  }

  /**
   * Entries above the cursor, in order. Null when some are gone or never existed, or when the cursor belongs to a
   * different chain.
   */
  entriesAfter({ height, epoch }: Cursor): readonly RingEntry[] | null {
    const first = this.#entries[this.#start]
    if (!first || first.tick.height > height + 1) return null
    // Heights may skip a gap, so the index cannot be computed; it is usually near the end.
    let from = this.#entries.length
    while (from > this.#start && this.#entries[from - 1]!.tick.height > height) from--
    // An unknown epoch does not prove that the chain is different.
    const near = this.#entries[Math.max(from - 1, this.#start)]!
    const isOtherChain = epoch !== '' && near.tick.epoch !== null && near.tick.epoch !== epoch
    return isOtherChain ? null : this.#entries.slice(from)
  }

  /** Entries that a reconnecting relay missed; null when they are gone. */
  missed(
    cursor: Cursor,
    { height, completeAt }: Pick<ShardBooks, 'height' | 'completeAt'>,
  ): readonly RingEntry[] | null {
    // Blocks replayed after a restart lack the changes that the checkpoints already had.
    if (cursor.height < completeAt) return null
    return height !== null && cursor.height >= height ? [] : this.entriesAfter(cursor)
  }

  /** Drops all entries, because the next one does not continue them. */
  clear(): void {
    this.#entries = []
    this.#start = 0
    this.#chars = 0
  }
}

const sizeOf = ({ fragments }: RingEntry): number => fragments.reduce((sum, { levels }) => sum + levels.length + 100, 0)
