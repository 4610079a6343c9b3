// The last blocks of a hub as fragments, for relays that lost their link for a moment. Bounded in time and bytes.
// biome-ignore-all lint/style/noNonNullAssertion: places are between the start and the end of the entries.

import type { Cursor } from '../protocol/feed/log-api.ts'
import type { CoinFragment, HubTick } from '../protocol/hub/hub-link.ts'
import type { ShardBooks } from './shard-books.ts'

/** How far back a relay may come without asking its clients to begin again. */
export const RING_MS = 30_000
/** Bound of the kept fragments; a busy shard then reaches back less far, which a returning relay is told. */
export const RING_CHARS = 16 * 1024 * 1024

export interface RingEntry {
  readonly tick: HubTick
  readonly fragments: readonly CoinFragment[]
}

export class Ring {
  #entries: RingEntry[] = []
  #chars = 0
  #start = 0

  /** Adds the next height; one at or below the last begins another chain, and the old one is forgotten. */
  push(entry: RingEntry): void {
    const last = this.#entries.at(-1)
    if (last && entry.tick.height <= last.tick.height) this.clear()
    this.#entries.push(entry)
    this.#chars += sizeOf(entry)
    while (this.#start < this.#entries.length - 1 && this.#isOver(this.#entries[this.#start]!, entry)) {
      this.#chars -= sizeOf(this.#entries[this.#start++]!)
    }
    // Dropped entries are cut off in batches: a shift per block would move the whole array each time.
    if (this.#start > 1000) {
      this.#entries = this.#entries.slice(this.#start)
      this.#start = 0
    }
  }

  #isOver(oldest: RingEntry, newest: RingEntry): boolean {
    return this.#chars > RING_CHARS || newest.tick.time - oldest.tick.time > RING_MS
  }

  /**
   * Every entry above the cursor, in order; null where some of them are no longer (or never were) held, or where the
   * cursor is of another chain, whose heights have been passed meanwhile.
   */
  entriesAfter({ height, epoch }: Cursor): readonly RingEntry[] | null {
    const first = this.#entries[this.#start]
    if (!first || first.tick.height > height + 1) return null
    // Heights may jump over a gap, so the place cannot be counted; it is near the end as a rule.
    let from = this.#entries.length
    while (from > this.#start && this.#entries[from - 1]!.tick.height > height) from--
    // An epoch that is not known tells nothing.
    const near = this.#entries[Math.max(from - 1, this.#start)]!
    const isOtherChain = epoch !== '' && near.tick.epoch !== null && near.tick.epoch !== epoch
    return isOtherChain ? null : this.#entries.slice(from)
  }

  /** What a returning relay has missed of a shard's books; null where it can no longer be had. */
  missed(
    cursor: Cursor,
    { height, completeAt }: Pick<ShardBooks, 'height' | 'completeAt'>,
  ): readonly RingEntry[] | null {
    // Blocks replayed after a restart lack what the checkpoints already held.
    if (cursor.height < completeAt) return null
    return height !== null && cursor.height >= height ? [] : this.entriesAfter(cursor)
  }

  /** Forgets everything: what follows does not continue it. */
  clear(): void {
    this.#entries = []
    this.#start = 0
    this.#chars = 0
  }
}

const sizeOf = ({ fragments }: RingEntry): number => fragments.reduce((sum, { levels }) => sum + levels.length + 100, 0)
