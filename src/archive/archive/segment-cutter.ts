// Where segments begin and end: at the UTC minute of block time, at gaps, where the epoch of books changes, and where the
// lines are many. Laws: how blocks are handed over in pages changes no segment; a segment is whole once what follows it has
// come; a height that neither comes nor is named as missing is an error and no segment.

import { MINUTE_MS } from '../../core/time.ts'

/** Characters of the lines of both kinds. */
const MAX_CHARS = 32 * 1024 * 1024
/** Blocks, where their times stand still. */
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
  /** Time of the block behind the last one; null: that block is missing. */
  readonly nextMs?: number | null
  readonly events: readonly string[]
  readonly books: readonly string[]
}

/** Heights that never come, with the times of the blocks before and after. */
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
  /** The height that must come; null: any may be the first. */
  #next: number | null
  #lastMs: number

  /** `last`: the last block that is archived, or the end of a gap and the time before it; null: none is. */
  constructor(last: { readonly height: number; readonly time: number } | null, maxChars = MAX_CHARS) {
    this.#maxChars = maxChars
    this.#next = last && last.height + 1
    this.#lastMs = last?.time ?? 0
  }

  /** When the open segment ends at the latest, by block time; null: none is open. */
  get endMs(): number | null {
    const first = this.#open[0]
    return first ? (minuteOf(first) + 1) * MINUTE_MS : null
  }

  get height(): number | null {
    return this.#next === null ? null : this.#next - 1
  }

  /** Takes the next block; answers what is whole by it. One that was taken before is passed over. */
  addBlock(line: ArchiveLine): Cut[] {
    if (this.#next !== null && line.height < this.#next) return []
    if (this.#next !== null && line.height > this.#next)
      throw new Error(`block ${line.height} came in the place of ${this.#next}`)
    const cuts: Cut[] = this.#endsBefore(line) ? this.#cut(line.time) : []
    if (this.#gap) cuts.push({ gap: { ...this.#gap, afterMs: this.#lastMs, beforeMs: line.time } })
    this.#gap = null
    this.#open.push(line)
    this.#chars += charsOf(line)
    this.#next = line.height + 1
    this.#lastMs = line.time
    return cuts
  }

  /** Heights that never come. Before the first block there is nothing to be missing from. */
  addGap(from: number, to: number): Cut[] {
    const missing = Math.max(from, this.#next ?? to + 1)
    if (missing > to) return []
    if (missing !== this.#next) throw new Error(`a gap from ${missing} on came in the place of block ${this.#next}`)
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
