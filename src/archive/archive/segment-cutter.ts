// Cuts blocks into segments: when the UTC minute of the block time changes, at gaps, at epoch changes, and at size
// limits. Invariants: segments do not depend on how blocks are paged; a segment is complete once the next block or gap
// arrives; a height that neither arrives nor is reported as missing is an error.

import { MINUTE_MS } from '../../core/time.ts'

/** Maximum length of a segment's lines, in characters. */
const MAX_CHARS = 32 * 1024 * 1024
/** Maximum blocks of a segment, in case block times do not advance. */
const MAX_BLOCKS = 4_096

export interface ArchiveLine {
  readonly height: number
  readonly time: number
  readonly epoch: string | null
  readonly events: string
  readonly books: string
}

export interface CutSegment {
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
  readonly epoch: string | null
  /** Time of the block after the last one; null if that block is missing. */
  readonly nextMs?: number | null
  readonly events: readonly string[]
  readonly books: readonly string[]
}

/** A range of missing heights, with the times of the blocks around it. */
export interface CutGap {
  readonly from: number
  readonly to: number
  readonly afterMs: number
  readonly beforeMs: number
}

export type Cut = { readonly segment: CutSegment } | { readonly gap: CutGap }

export class SegmentCutter {
  readonly #maxChars: number
  #open: ArchiveLine[] = []
  #chars = 0
  #gap: { readonly from: number; readonly to: number } | null = null
  /** The next expected height; null if any height is accepted. */
  #next: number | null
  #lastMs: number

  /**
   * `last`: the last archived block. After a gap, the last missing height with the time of the block before the gap.
   * Null if nothing is archived.
   */
  constructor(last: { readonly height: number; readonly time: number } | null, maxChars = MAX_CHARS) {
    this.#maxChars = maxChars
    this.#next = last && last.height + 1
    this.#lastMs = last?.time ?? 0
  }

  /** The latest block time at which the open segment can end; null if no segment is open. */
  get endMs(): number | null {
    const first = this.#open[0]
    return first ? (minuteOf(first) + 1) * MINUTE_MS : null
  }

  get height(): number | null {
    return this.#next === null ? null : this.#next - 1
  }

  /** Adds the next block and returns the completed cuts. Blocks that were already added are ignored. */
  addBlock(line: ArchiveLine): Cut[] {
    if (this.#next !== null && line.height < this.#next) return []
    if (this.#next !== null && line.height > this.#next)
      throw new Error(`received block ${line.height} instead of ${this.#next}`)
    const cuts: Cut[] = this.#endsBefore(line) ? this.#cut(line.time) : []
    if (this.#gap) cuts.push({ gap: { ...this.#gap, afterMs: this.#lastMs, beforeMs: line.time } })
    this.#gap = null
    this.#open.push(line)
    this.#chars += charsOf(line)
    this.#next = line.height + 1
    this.#lastMs = line.time
    return cuts
  }

  /** Adds missing heights. Heights before the first block cannot be missing. */
  addGap(from: number, to: number): Cut[] {
    const missing = Math.max(from, this.#next ?? to + 1)
    if (missing > to) return []
    if (missing !== this.#next) throw new Error(`received a gap from ${missing} instead of block ${this.#next}`)
    this.#gap = { from: this.#gap?.from ?? missing, to }
    this.#next = to + 1
    return this.#cut(null)
  }

  #endsBefore(line: ArchiveLine): boolean {
    const first = this.#open[0]
    if (!first) return false
    const isFull = this.#chars + charsOf(line) > this.#maxChars
    const isLong = isFull || this.#open.length >= MAX_BLOCKS
    return isLong || minuteOf(line) > minuteOf(first) || first.epoch !== line.epoch
  }

  #cut(nextMs: number | null): Cut[] {
    const first = this.#open[0]
    const last = this.#open.at(-1)
    if (!first || !last) return []
    const segment = {
      first: first.height,
      last: last.height,
      firstMs: first.time,
      lastMs: last.time,
      epoch: first.epoch,
      nextMs,
      events: this.#open.map(({ events }) => events),
      books: this.#open.map(({ books }) => books),
    }
    this.#open = []
    this.#chars = 0
    return [{ segment }]
  }
}

const minuteOf = ({ time }: ArchiveLine): number => Math.floor(time / MINUTE_MS)
const charsOf = ({ events, books }: ArchiveLine): number => events.length + books.length
