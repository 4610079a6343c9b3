// Joins the rows of several feeders' copies that may come late: a feeder waits only briefly for the node's optional
// files, so a copy may lack a row that another copy has, or have it in a later block. Invariants: a row of any copy is
// sent once, with its block or with the next one; rows that were sent before this object started are not sent again.

import { BoundedMap } from '../core/bounded-map.ts'
import type { Block, CoinFunding } from '../protocol/feed/block.ts'
import { paidAt } from '../protocol/feed/payments.ts'
import { digest } from './segment.ts'

/** Rows of older copies are not sent: 17 seconds of blocks. */
const MAX_HEIGHTS = 256
/**
 * The same row of another feeder at most this many heights away is another copy of it. Most rows have a time or a number.
 * A DEX may set equal prices again, but at most every 2.5 seconds, which are 35 blocks.
 */
const NEAR_HEIGHTS = {
  ledger: MAX_HEIGHTS,
  funding: MAX_HEIGHTS,
  events: MAX_HEIGHTS,
  twaps: MAX_HEIGHTS,
  oracle: 16,
  writer: MAX_HEIGHTS,
} as const
type Name = keyof typeof NEAR_HEIGHTS
const NAMES = Object.keys(NEAR_HEIGHTS) as Name[]
/** The parts of a block that are joined. */
export type OptionalParts = Pick<Block, Name | 'payments'>
type Copy = OptionalParts & Pick<Block, 'height' | 'time'>

/** A row that was sent or will be sent with the next block. */
interface SentRow {
  readonly height: number
  readonly feeder: string
}

const MAX_ROWS = 8_192
/** Maximum characters that wait for the next block, apart from payments, which a feeder limits. */
const MAX_LATE_UNITS = 1024 * 1024
/** Remembered times of funding, which is paid once an hour. */
const MAX_PAID = 64

const noRows = (): Record<Name, unknown[]> => ({
  ledger: [],
  funding: [],
  events: [],
  twaps: [],
  oracle: [],
  writer: [],
})

/** `dated`: the row for a later block. */
interface Unsent {
  readonly row: unknown
  readonly dated: unknown
  readonly units: number
}

export class OptionalRows {
  /** By digest. */
  readonly #sent = new BoundedMap<number, SentRow>(MAX_ROWS)
  /** Times of funding whose payments were sent or will be sent with the next block. */
  readonly #paid = new BoundedMap<string, true>(MAX_PAID)
  #late = noRows()
  #lateUnits = 0
  #latePayments: readonly string[] = []
  /** First accepted height; null until a block was accepted. */
  #first: number | null = null
  #newest = -1

  /** Records an accepted copy. Returns the parts to send with it. */
  onTaken(copy: Copy, feeder: string): OptionalParts {
    const { height } = copy
    this.#first ??= height
    this.#newest = height
    const parts: Partial<Record<Name, unknown[]>> = {}
    for (const name of NAMES) {
      // Equal rows in two blocks of one feeder are two events.
      const isOther = (sent: SentRow) => sent.feeder !== feeder
      const own = copy[name] && this.#unsent(name, copy, feeder, isOther).map(({ row }) => row)
      const late = this.#late[name]
      if (own || late.length > 0) parts[name] = [...late, ...(own ?? [])]
    }
    const paid = [...this.#latePayments, ...this.#unsentPayments(copy)]
    // A list of which everything was sent becomes absent. An empty list and null keep their meaning.
    const rest = copy.payments?.length ? undefined : copy.payments
    const payments = paid.length > 0 ? paid : rest
    this.#discardLate()
    return { ...(parts as OptionalParts), ...(payments !== undefined && { payments }) }
  }

  /** Records another copy of a block that is already accepted, with the same fills. */
  onCompared(copy: Copy, feeder: string): void {
    const { height } = copy
    if (this.#first === null || height < this.#first || height <= this.#newest - MAX_HEIGHTS) return
    for (const name of NAMES)
      for (const { dated, units } of this.#unsent(name, copy, feeder)) {
        if (this.#lateUnits + units > MAX_LATE_UNITS) continue
        this.#lateUnits += units
        this.#late[name].push(dated)
      }
    this.#latePayments = [...this.#latePayments, ...this.#unsentPayments(copy)]
  }

  /** Clears everything. Called when a different chain starts. */
  clear(): void {
    for (const map of [this.#sent, this.#paid]) while (map.size > 0) map.dropOldest()
    this.#discardLate()
    this.#first = null
    this.#newest = -1
  }

  #discardLate(): void {
    this.#late = noRows()
    this.#lateUnits = 0
    this.#latePayments = []
  }

  /** The rows of a copy that no other copy had. Equal rows of one copy count as several. */
  #unsent(name: Name, copy: Copy, feeder: string, isCopy: (sent: SentRow) => boolean = () => true): Unsent[] {
    const { height, [name]: rows = [] } = copy
    const keyed = rows.map((row) => {
      // In a later block, funding needs its time.
      const dated = name === 'funding' ? { time: copy.time, ...(row as CoinFunding) } : row
      const text = JSON.stringify(dated)
      return { row, dated, units: text.length, key: digest(text) }
    })
    const unsent = keyed.filter(({ key }) => {
      const sent = this.#sent.get(key)
      return sent === undefined || Math.abs(sent.height - height) > NEAR_HEIGHTS[name] || !isCopy(sent)
    })
    for (const { key } of unsent) this.#sent.set(key, { height, feeder })
    return unsent
  }

  /** The payments of a copy at times of which no other copy had payments. */
  #unsentPayments({ payments }: Copy): readonly string[] {
    const times = new Set((payments ?? []).map(paidAt))
    for (const time of times)
      if (this.#paid.has(time)) times.delete(time)
      else this.#paid.set(time, true)
    return times.size === 0 ? [] : (payments ?? []).filter((entry) => times.has(paidAt(entry)))
  }
}
