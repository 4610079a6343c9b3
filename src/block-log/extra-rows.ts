// Joins the oracle updates and writer actions of several feeders' copies. No block waits for these rows, so a copy may
// lack a row that another copy has, or have it in a later block. Invariants: a row of any copy is sent once, with its
// block or with the next one; rows that were sent before this object started are not sent again.

import { BoundedMap } from '../core/bounded-map.ts'
import type { Block } from '../protocol/feed/block.ts'
import { digest } from './segment.ts'

const PARTS = ['oracle', 'writer'] as const
type Parts = Pick<Block, (typeof PARTS)[number]>

/**
 * The same row at most this many heights away is another copy of it. A DEX sets its prices at most every 2.5 seconds,
 * which are 35 blocks, and writer actions have a number.
 */
const NEAR_HEIGHTS = 16
/** Rows of older copies are not sent: 17 seconds of blocks. */
const MAX_HEIGHTS = 256
const MAX_ROWS = 8_192
/** Maximum characters that wait for the next block. */
const MAX_LATE_UNITS = 1024 * 1024

export class ExtraRows {
  /** Heights of rows that were sent or will be sent with the next block, by digest. */
  readonly #heights = new BoundedMap<number, number>(MAX_ROWS)
  #late = { oracle: [] as unknown[], writer: [] as unknown[] }
  #lateUnits = 0
  /** First accepted height; null until a block was accepted. */
  #first: number | null = null
  #newest = -1

  /** Records an accepted copy. Returns the rows to send with it; a part is absent if it is unknown. */
  onTaken(block: Pick<Block, 'height'> & Parts): Parts {
    const { height } = block
    this.#first ??= height
    this.#newest = height
    const late = this.#late
    this.#late = { oracle: [], writer: [] }
    this.#lateUnits = 0
    const parts: Parts = {}
    for (const name of PARTS) {
      const own = block[name] && this.#unsent(block[name], height).map(({ row }) => row)
      if (own || late[name].length > 0) parts[name] = [...late[name], ...(own ?? [])]
    }
    return parts
  }

  /** Records another copy of a block that is already accepted. */
  onCompared(block: Pick<Block, 'height'> & Parts): void {
    const { height } = block
    if (this.#first === null || height < this.#first || height <= this.#newest - MAX_HEIGHTS) return
    for (const name of PARTS)
      for (const { row, units } of this.#unsent(block[name] ?? [], height)) {
        if (this.#lateUnits + units > MAX_LATE_UNITS) continue
        this.#lateUnits += units
        this.#late[name].push(row)
      }
  }

  /** Clears everything. Called when a different chain starts. */
  clear(): void {
    while (this.#heights.size > 0) this.#heights.dropOldest()
    this.#late = { oracle: [], writer: [] }
    this.#lateUnits = 0
    this.#first = null
    this.#newest = -1
  }

  /** The rows of a copy that no other copy had. Equal rows of one copy count as several. */
  #unsent(rows: readonly unknown[], height: number): { readonly row: unknown; readonly units: number }[] {
    const keyed = rows.map((row) => {
      const text = JSON.stringify(row)
      return { row, units: text.length, key: digest(text) }
    })
    const isNew = ({ key }: { readonly key: number }) => {
      const sent = this.#heights.get(key)
      return sent === undefined || Math.abs(sent - height) > NEAR_HEIGHTS
    }
    const unsent = keyed.filter(isNew)
    for (const { key } of unsent) this.#heights.set(key, height)
    return unsent
  }
}
