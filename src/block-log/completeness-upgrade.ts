// Copies of one height of which one has rows of orders that another lacks: a node may write none, and feeders hear at
// different times what is wanted. Laws: a copy is left for a fuller one only while that is close behind it, so that blocks
// wait for rows no longer than NEAR_MS; order statuses that the copy lacked which was taken are told once, with the next block.

import { BoundedMap } from '../core/bounded-map.ts'
import type { Block } from '../protocol/feed/block.ts'

/** A fuller copy is waited for no longer, nor one of a feeder whose last one came later than this. */
export const NEAR_MS = 100
/** Some twenty seconds of blocks: older order statuses are no news. */
const MAX_HEIGHTS = 256
const MAX_LATE_ROWS = 10_000

/** The newest copy that a feeder has sent. */
export interface CopySummary {
  readonly height: number
  /** Coins of which it has all rows; none where it does not know the books, because then it is of less use. */
  readonly coins: ReadonlySet<string>
  /** How long after the first copy of its height it came; infinite where that is not remembered any more. */
  readonly behindMs: number
}

/** `hasStatuses`: it has sent rows of orders, so that its node writes them. */
interface Feeder {
  copy: CopySummary | null
  hasStatuses: boolean
}

export class CompletenessUpgrade {
  readonly #firstMs = new BoundedMap<number, number>(MAX_HEIGHTS)
  /** Heights that were taken of feeders whose nodes seem to write no order statuses, and of which. */
  readonly #takenWithoutStatuses = new BoundedMap<number, Feeder>(MAX_HEIGHTS)
  #lateRows: unknown[] = []
  /** Texts of late rows that were told: who seemed to have none may yet send them, where they came behind their block. */
  readonly #sentRows = new BoundedMap<string, true>(MAX_LATE_ROWS)
  /** Highest height of which a copy came. */
  #newest = -1

  /** A copy has come, the first of its height or another. */
  onCopy(feeder: Feeder, { height, books, orders = [], l4 = [] }: Block, nowMs: number): CopySummary {
    const firstMs = this.#firstMs.get(height)
    // A feeder that lags by more heights than are remembered is not the first to send one.
    const isOld = firstMs === undefined && height < this.#newest
    if (firstMs === undefined && !isOld) this.#firstMs.set(height, nowMs)
    this.#newest = Math.max(this.#newest, height)
    feeder.hasStatuses ||= orders.length + l4.length > 0
    const coins = new Set(books === null ? [] : l4.map(({ coin }) => coin))
    feeder.copy = { height, coins, behindMs: isOld ? Number.POSITIVE_INFINITY : nowMs - (firstMs ?? nowMs) }
    return feeder.copy
  }

  /** Whether the next copy of another feeder is to be waited for in place of this one. */
  isFuller(other: CopySummary | null, own: CopySummary, nowMs: number): boolean {
    if (!other || other.height >= own.height) return false
    const owedMs = this.#firstMs.get(other.height + 1) ?? Number.NEGATIVE_INFINITY
    if (Math.max(other.behindMs, nowMs - owedMs) >= NEAR_MS) return false
    return [...other.coins].some((coin) => !own.coins.has(coin))
  }

  /** A copy is taken: the order statuses to be told with it. */
  onTaken(feeder: Feeder, { height, orders = [] }: Pick<Block, 'height' | 'orders'>): unknown[] {
    if (!feeder.hasStatuses) this.#takenWithoutStatuses.set(height, feeder)
    const late = this.#lateRows.splice(0)
    for (const row of late) this.#sentRows.set(JSON.stringify(row), true)
    const own = this.#sentRows.size === 0 ? orders : orders.filter((row) => !this.#sentRows.has(JSON.stringify(row)))
    return [...late, ...own]
  }

  /** A copy of a height that was taken before. */
  onCompared({ hasStatuses }: Feeder, { height, orders = [] }: Pick<Block, 'height' | 'orders'>): void {
    const bare = this.#takenWithoutStatuses.get(height)
    if (!hasStatuses || !bare) return
    this.#takenWithoutStatuses.delete(height)
    // It has some after all, and tells those of this block behind it.
    if (bare.hasStatuses) return
    if (this.#lateRows.length + orders.length <= MAX_LATE_ROWS) this.#lateRows.push(...orders)
  }

  /** Another chain begins. */
  clear(): void {
    for (const known of [this.#firstMs, this.#takenWithoutStatuses, this.#sentRows])
      while (known.size > 0) known.dropOldest()
    this.#lateRows = []
    this.#newest = -1
  }
}
