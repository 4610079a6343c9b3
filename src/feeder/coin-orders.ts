// The resting orders of one coin and their price levels. Sizes are exact (integers scaled by 10^18). Invariants: a
// level's size and count are the sum over its orders; a block's changes are the levels that differ between its start
// and its end.

import { EMPTY_DIGEST, withLevel, withoutLevel } from '../block-log/level-digest.ts'
import { fromScaled, toScaled } from '../core/decimal.ts'
import type { Level, Levels } from '../protocol/feed/block.ts'
import type { Side } from './raw-diff.ts'

/** A price level now and at the start of the current block. */
interface LevelState {
  readonly px: string
  /** `px` as a float, for sorting. */
  readonly key: number
  sz: bigint
  n: number
  oldSz: bigint
  oldN: number
  touched: boolean
}

/**
 * `sz`: the size as the node last wrote it. An order of size zero still waits for its `remove`, and counts in no level.
 */
interface RestingOrder {
  readonly side: 0 | 1
  level: LevelState
  sz: string
  /** `sz` as an integer. Parsing it again on removal would take a third of the time of a diff. */
  scaled: bigint
}

/** One side of a book. Its levels are built only on access, because building them is most of the work. */
export type Ladder = Pick<readonly Level[], 'length' | 'slice'>

/** An order in a snapshot or checkpoint. */
export interface SavedOrder {
  readonly oid: number
  readonly side: Side
  readonly px: string
  readonly sz: string
}

export class CoinOrders {
  readonly coin: string
  /** True once the gateway got an entry or a whole book of this coin. Until then, its next entry is marked `new`. */
  known: boolean
  readonly #orders = new Map<number, RestingOrder>()
  readonly #levels: readonly [Map<string, LevelState>, Map<string, LevelState>] = [new Map(), new Map()]
  #touched: [LevelState[], LevelState[]] = [[], []]
  #watching: Set<number> | null = null
  /** Digest of the levels after the last block. */
  digest = EMPTY_DIGEST

  constructor(coin: string, known: boolean) {
    this.coin = coin
    this.known = known
  }

  /** Adds an order. Returns false if an order with this oid already rested; the new order replaces it. */
  add(oid: number, side: Side, px: string, sz: string): boolean {
    const fresh = this.remove(oid) === null
    const index = side === 'B' ? 0 : 1
    const level = this.#levelAt(index, px)
    const scaled = toScaled(sz)
    this.#watching?.add(oid)
    this.#orders.set(oid, { side: index, level, sz, scaled })
    this.#grow(index, level, scaled)
    return fresh
  }

  /** Changes an order's size. Returns the previous size; null for an unknown oid. */
  resize(oid: number, sz: string): string | null {
    const order = this.#orders.get(oid)
    if (!order) return null
    const before = order.sz
    this.#watching?.add(oid)
    this.#shrink(order)
    order.sz = sz
    order.level = this.#levelAt(order.side, order.level.px)
    order.scaled = toScaled(sz)
    this.#grow(order.side, order.level, order.scaled)
    return before
  }

  /** Removes an order. Returns its size; null for an unknown oid. */
  remove(oid: number): string | null {
    const order = this.#orders.get(oid)
    if (!order) return null
    this.#watching?.add(oid)
    this.#orders.delete(oid)
    this.#shrink(order)
    return order.sz
  }

  /** Net changes since the last call, best first; null if there are none. */
  endBlock(): Levels | null {
    const bids = this.#settleSide(0)
    const asks = this.#settleSide(1)
    return bids.length + asks.length > 0 ? [sorted(bids, 0).map(levelOf), sorted(asks, 1).map(levelOf)] : null
  }

  /** Like endBlock(), but does not return the changes. */
  settle(): void {
    this.#settleSide(0)
    this.#settleSide(1)
  }

  /** The whole book, best first. Read between blocks. */
  levels(): Levels {
    return [this.side(0).slice(), this.side(1).slice()]
  }

  /** Bids (0) or asks (1), best first. Read between two blocks, in slices if needed. */
  side(side: 0 | 1): Ladder {
    const states = sorted([...this.#levels[side].values()], side)
    return { length: states.length, slice: (from, to) => states.slice(from, to).map(levelOf) }
  }

  /**
   * All orders as a checkpoint lists them. Orders may change during the iteration; a changed order is listed at most
   * twice.
   */
  *texts(): Generator<readonly [oid: number, text: string]> {
    for (const [oid, order] of this.#orders) yield [oid, textOf(oid, order)]
  }

  /** An order as a checkpoint lists it; null if it does not rest. */
  text(oid: number): string | null {
    const order = this.#orders.get(oid)
    return order ? textOf(oid, order) : null
  }

  /** Starts to add the oids of added, changed and removed orders to `touched`. Null: stops. */
  watch(touched: Set<number> | null): void {
    this.#watching = touched
  }

  /** Number of bid and ask levels. Read between blocks. */
  depths(): readonly [number, number] {
    return [this.#levels[0].size, this.#levels[1].size]
  }

  #levelAt(side: 0 | 1, px: string): LevelState {
    let level = this.#levels[side].get(px)
    if (!level) {
      level = { px, key: Number(px), sz: 0n, n: 0, oldSz: 0n, oldN: 0, touched: false }
      this.#levels[side].set(px, level)
    }
    return level
  }

  #grow(side: 0 | 1, level: LevelState, sz: bigint): void {
    this.#touch(side, level)
    if (sz === 0n) return
    level.sz += sz
    level.n++
  }

  #shrink({ side, level, scaled }: RestingOrder): void {
    // An order of size zero counts in no level, and its level may no longer exist.
    if (scaled === 0n) return
    this.#touch(side, level)
    level.sz -= scaled
    level.n--
  }

  #touch(side: 0 | 1, level: LevelState): void {
    if (level.touched) return
    level.touched = true
    level.oldSz = level.sz
    level.oldN = level.n
    this.#touched[side].push(level)
  }

  #settleSide(side: 0 | 1): LevelState[] {
    const touched = this.#touched[side]
    if (touched.length === 0) return []
    this.#touched[side] = []
    const changed: LevelState[] = []
    for (const level of touched) {
      level.touched = false
      const { px, sz, n, oldSz, oldN } = level
      if (n === 0) this.#levels[side].delete(px)
      if (sz === oldSz && n === oldN) continue
      if (oldN > 0) this.digest = withoutLevel(this.digest, side, px, fromScaled(oldSz), oldN)
      if (n > 0) this.digest = withLevel(this.digest, side, px, fromScaled(sz), n)
      changed.push(level)
    }
    return changed
  }
}

const textOf = (oid: number, { side, level, sz }: RestingOrder) => `${side === 0 ? 'B' : 'A'} ${oid} ${level.px} ${sz}`

const levelOf = ({ px, sz, n }: LevelState): Level => ({ px, sz: n === 0 ? '0' : fromScaled(sz), n })

/** Bids highest first, asks lowest first. Compares floats, and exact values where floats are equal. */
function sorted(levels: LevelState[], side: 0 | 1): LevelState[] {
  if (levels.length < 2) return levels
  const sign = side === 0 ? -1 : 1
  // Sorting plain numbers is several times faster. Exact values are compared only where floats are equal.
  const byKey = new Map<number, LevelState>()
  const best = new Float64Array(levels.length)
  for (const [index, level] of levels.entries()) {
    best[index] = level.key
    byKey.set(level.key, level)
  }
  if (byKey.size === levels.length) {
    best.sort()
    if (side === 0) best.reverse()
    // biome-ignore lint/style/noNonNullAssertion: a number here is the key of a level, and there are many
    return Array.from(best, (key) => byKey.get(key)!)
  }
  return levels.sort((a, b) => sign * (a.key - b.key || compareExactly(a.px, b.px)))
}

function compareExactly(a: string, b: string): number {
  const difference = toScaled(a) - toScaled(b)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
