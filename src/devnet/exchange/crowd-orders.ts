// The crowd's resting orders. There are hundreds of thousands, so they are stored as numbers in columns, not as
// objects. An order is a slot, that is, an index into every column. Each side of a market lists its slots in order, the
// first to trade LAST, as in OrderBook. Invariant: along a side, prices improve (bids rise, asks fall), and at one
// price later orders come before earlier ones.

import type { Side } from './order.ts'

const GROWTH = 1.25

/** Index of a market's side. */
export const sideOf = (market: number, side: Side): number => market * 2 + (side === 'B' ? 0 : 1)

const COLUMNS = ['px', 'sz', 'origSz', 'oid', 'timeMs', 'owner', 'book'] as const
type Columns = Pick<CrowdOrders, (typeof COLUMNS)[number]>

export class CrowdOrders {
  /** Price in ticks and size in lots, both integers. */
  px: Int32Array
  sz: Float64Array
  origSz: Float64Array
  /** 0 for a free slot. */
  oid: Float64Array
  timeMs: Float64Array
  /** Account index. */
  owner: Uint16Array
  /** Index of the market's side. */
  book: Uint16Array
  /** Slots by index of side, best last. */
  readonly sides: readonly number[][]
  /** Number of prices with an order, by index of side. */
  readonly levels: number[]
  readonly #free: number[] = []
  #used = 0

  constructor(markets: number, capacity: number) {
    this.px = new Int32Array(capacity)
    this.sz = new Float64Array(capacity)
    this.origSz = new Float64Array(capacity)
    this.oid = new Float64Array(capacity)
    this.timeMs = new Float64Array(capacity)
    this.owner = new Uint16Array(capacity)
    this.book = new Uint16Array(capacity)
    this.sides = Array.from({ length: markets * 2 }, () => [])
    this.levels = this.sides.map(() => 0)
  }

  /** Number of slots that are or were in use, which is the length of columns(). */
  get slots(): number {
    return this.#used
  }

  /** Slot of the order that trades first; undefined if the side is empty. */
  best(book: number): number | undefined {
    return this.sides[book]!.at(-1)
  }

  /** Adds an order behind the others at its price. Its id must be higher than all other ids. */
  add(book: number, px: number, sz: number, oid: number, timeMs: number, owner: number): number {
    const slot = this.append(book, px, sz, sz, oid, timeMs, owner)
    const at = this.#find(slot)
    if (this.#isAlone(slot, at, at - 1)) this.levels[book]!++
    this.sides[book]!.splice(at, 0, slot)
    return slot
  }

  /** Like add(), but does not sort. Call sort() after the last order. */
  append(book: number, px: number, sz: number, origSz: number, oid: number, timeMs: number, owner: number): number {
    const slot = this.#free.pop() ?? this.#used++
    if (slot === this.px.length) this.#grow()
    this.px[slot] = px
    this.sz[slot] = sz
    this.origSz[slot] = origSz
    this.oid[slot] = oid
    this.timeMs[slot] = timeMs
    this.owner[slot] = owner
    this.book[slot] = book
    return slot
  }

  /** Sorts every side, after append(). */
  sort(): void {
    for (const side of this.sides) side.length = 0
    for (let slot = 0; slot < this.#used; slot++) this.sides[this.book[slot]!]!.push(slot)
    this.sides.forEach((side, book) => {
      side.sort((a, b) => this.#compare(a, b))
      this.levels[book] = side.filter((slot, i) => i === 0 || this.px[side[i - 1]!] !== this.px[slot]).length
    })
  }

  /** Removes an order, whose slot will then be reused. */
  remove(slot: number): void {
    const book = this.book[slot]!
    const at = this.#find(slot)
    if (this.#isAlone(slot, at + 1, at - 1)) this.levels[book]!--
    this.sides[book]!.splice(at, 1)
    this.oid[slot] = 0
    this.#free.push(slot)
  }

  /** Index of the first order at this price within its side, or the index at which it would be inserted. */
  placeOf(book: number, px: number): number {
    const side = this.sides[book]!
    const sign = book % 2 === 0 ? 1 : -1
    let low = 0
    let high = side.length
    while (low < high) {
      const mid = (low + high) >>> 1
      if ((this.px[side[mid]!]! - px) * sign < 0) low = mid + 1
      else high = mid
    }
    return low
  }

  /** A copy of the columns up to the last slot in use; id 0 marks a free slot. */
  columns(): Columns {
    return this.#mapped((column) => column.slice(0, this.#used))
  }

  /** A copy of the current state, for readers of a changing book. */
  copy(): CrowdOrders {
    const sides = this.sides.map((side) => side.slice())
    return Object.assign(new CrowdOrders(0, 0), { ...this.columns(), sides })
  }

  /** True if neither of the two indexes of the side has an order at the slot's price. */
  #isAlone(slot: number, above: number, below: number): boolean {
    const side = this.sides[this.book[slot]!]!
    return this.px[side[above]!] !== this.px[slot] && this.px[side[below]!] !== this.px[slot]
  }

  /** Negative if `a` trades after `b`. */
  #compare(a: number, b: number): number {
    const px = this.px[a]! - this.px[b]!
    return px === 0 ? this.oid[b]! - this.oid[a]! : this.book[a]! % 2 === 0 ? px : -px
  }

  /** Index of a slot in its side, or the index at which to insert it. */
  #find(slot: number): number {
    const side = this.sides[this.book[slot]!]!
    let low = 0
    let high = side.length
    while (low < high) {
      const mid = (low + high) >>> 1
      if (this.#compare(side[mid]!, slot) < 0) low = mid + 1
      else high = mid
    }
    return low
  }

  #grow(): void {
    const larger = new CrowdOrders(0, Math.ceil(this.px.length * GROWTH) + 1024)
    const moved = this.#mapped((column, name) => {
      larger[name].set(column)
      return larger[name]
    })
    Object.assign(this, moved)
  }

  #mapped(of: (column: Columns[keyof Columns], name: keyof Columns) => Columns[keyof Columns]): Columns {
    return Object.fromEntries(COLUMNS.map((name) => [name, of(this[name], name)])) as unknown as Columns
  }
}
