// Chooses the more complete of two copies of a block. Copies differ because a node may not write order statuses, and
// because feeders learn at different times which rows are wanted. Invariants: the log waits for a fuller copy for at
// most NEAR_MS; order statuses that were missing from the accepted copy are sent once, with the next block.

import { BoundedMap } from '../core/bounded-map.ts'
import type { Block } from '../protocol/feed/block.ts'

/** Maximum wait for a fuller copy. The log does not wait for a feeder whose last copy was later than this. */
export const NEAR_MS = 100
/** Heights to remember: about 20 seconds of blocks. Order statuses of older blocks are not sent. */
const MAX_HEIGHTS = 256
const MAX_LATE_ROWS = 10_000

/** Summary of a feeder's newest copy. */
export interface CopySummary {
  readonly height: number
  /** Coins for which the copy has all rows. Empty if the copy has no books, because it is then less useful. */
  readonly coins: ReadonlySet<string>
  /**
   * How long after the first copy of the block this copy arrived; infinite if the first copy is no longer remembered.
   */
  readonly behindMs: number
}

/** `hasStatuses`: the feeder has sent order rows, so its node writes them. */
interface Feeder {
  copy: CopySummary | null
  hasStatuses: boolean
}

export class CompletenessUpgrade {
  readonly #firstMs = new BoundedMap<number, number>(MAX_HEIGHTS)
  /** By height, the feeder whose copy was accepted, if its node seems to write no order statuses. */
  readonly #takenWithoutStatuses = new BoundedMap<number, Feeder>(MAX_HEIGHTS)
  #lateRows: unknown[] = []
  /**
   * Late rows that were sent, as strings. The feeder that seemed to have no rows may still send them after their block.
   */
  readonly #sentRows = new BoundedMap<string, true>(MAX_LATE_ROWS)
  /** Highest height of any copy. */
  #newest = -1

  /** Records a copy of a block, whether or not it is the first. */
  onCopy(feeder: Feeder, { height, books, orders = [], l4 = [] }: Block, nowMs: number): CopySummary {
    const firstMs = this.#firstMs.get(height)
    // If the height is no longer remembered, this is a late copy from a lagging feeder, not the first one.
    const isOld = firstMs === undefined && height < this.#newest
    if (firstMs === undefined && !isOld) this.#firstMs.set(height, nowMs)
    this.#newest = Math.max(this.#newest, height)
    feeder.hasStatuses ||= orders.length + l4.length > 0
    const coins = new Set(books === null ? [] : l4.map(({ coin }) => coin))
    feeder.copy = { height, coins, behindMs: isOld ? Number.POSITIVE_INFINITY : nowMs - (firstMs ?? nowMs) }
    return feeder.copy
  }

  /** Whether it is worth waiting for another feeder's copy instead of accepting this one. */
  isFuller(other: CopySummary | null, own: CopySummary, nowMs: number): boolean {
    if (!other || other.height >= own.height) return false
    const dueMs = this.#firstMs.get(other.height + 1) ?? Number.NEGATIVE_INFINITY
    if (Math.max(other.behindMs, nowMs - dueMs) >= NEAR_MS) return false
    return [...other.coins].some((coin) => !own.coins.has(coin))
  }

  /** Records an accepted copy. Returns the order statuses to send with the copy. */
  onTaken(feeder: Feeder, { height, orders = [] }: Pick<Block, 'height' | 'orders'>): unknown[] {
    if (!feeder.hasStatuses) this.#takenWithoutStatuses.set(height, feeder)
    const late = this.#lateRows.splice(0)
    for (const row of late) this.#sentRows.set(JSON.stringify(row), true)
    const own = this.#sentRows.size === 0 ? orders : orders.filter((row) => !this.#sentRows.has(JSON.stringify(row)))
    return [...late, ...own]
  }

  /** Records another copy of a block that is already accepted. */
  onCompared({ hasStatuses }: Feeder, { height, orders = [] }: Pick<Block, 'height' | 'orders'>): void {
    const bare = this.#takenWithoutStatuses.get(height)
    if (!hasStatuses || !bare) return
    this.#takenWithoutStatuses.delete(height)
    // The feeder has statuses after all, and sends those of this block later.
    if (bare.hasStatuses) return
    if (this.#lateRows.length + orders.length <= MAX_LATE_ROWS) this.#lateRows.push(...orders)
  }

  /** Clears everything. Called when a different chain starts. */
  clear(): void {
    for (const map of [this.#firstMs, this.#takenWithoutStatuses, this.#sentRows]) while (map.size > 0) map.dropOldest()
    this.#lateRows = []
    this.#newest = -1
  }
}
