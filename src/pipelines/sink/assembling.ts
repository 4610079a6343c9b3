// What the next batch is: rows of whole blocks, as many as fit. Laws: batches follow one another without a hole; a batch is
// that of its range, whoever assembles it again from where it begins; what is missing is told within it.

import { CannotRun } from '../pipeline.ts'
import { gapRow, type Row, resetRow, type TopicBlock, type TopicFold } from '../topics/topic.ts'
import {
  DAMAGED,
  type End,
  isBeyond,
  type Piece,
  type Place,
  type ReadBlock,
  type Source,
  unreadable,
} from './source.ts'

/** Where a batch begins: what came before it matters for its rows. */
export interface Standing {
  readonly place: Place
  /** Of the books, as they were last known. */
  readonly epoch: string | null
  /** The time of the block before, 0 for none. */
  readonly timeMs: number
  /** The height of that block. */
  readonly timed?: number
  /** Of the topic. */
  readonly fold: string | null
}

/** The last block that was read; null: none was. */
export function readOf({ timed: height, timeMs: time, epoch }: Standing): ReadBlock | null {
  return height === undefined ? null : { height, time, epoch }
}

export interface Taken {
  readonly from: number
  readonly to: number
  readonly rows: readonly Row[]
  /** JSON of each row. */
  readonly texts: readonly string[]
  readonly chars: number
  readonly after: Standing
  /** Nothing more follows: the pipeline ends here. */
  readonly isEnd: boolean
  /** Nothing more is there yet. */
  readonly isHead: boolean
}

export interface Bounds {
  readonly rows: number
  readonly chars: number
  readonly blocks: number
  /** Reading ends at this time. */
  readonly untilMs: number
}

/** `last`: the pipeline ends with it; `rest` is of another batch, which begins with it where this one is cut. */
interface Put {
  readonly last: boolean
  readonly rest: Piece | null
  readonly isCut?: true
}
type Reads = Pick<Source, 'pieces' | 'retryMs'> & Partial<Pick<Source, 'ordersFrom' | 'isBehind'>>

export class Assembler {
  readonly #source: Reads
  readonly #fold: TopicFold
  readonly #nowMs: () => number
  #at: Standing
  #pieces: AsyncGenerator<Piece> | null = null
  #waiting: Piece | null = null
  /** What is there of a range that was fixed before. */
  #begun: Growing | null = null

  constructor(source: Reads, fold: TopicFold, at: Standing, nowMs: () => number) {
    this.#source = source
    this.#fold = fold
    this.#at = at
    this.#nowMs = nowMs
  }

  /** So long the log asks to be left alone. */
  get retryMs(): number {
    return this.#source.retryMs
  }

  /** From here on order statuses were known as the last batch was read; null: they are not asked for. */
  get ordersFrom(): number | null {
    return this.#source.ordersFrom ?? null
  }

  /** `upTo`: the range was fixed before; null where nothing is there yet, or of such a range not all. */
  async take(end: End | null, upTo: number | null, most: Bounds): Promise<Taken | null> {
    const batch = this.#begun ?? new Growing()
    this.#begun = null
    const isFull = () => upTo === null && (batch.isFull(most) || this.#nowMs() >= most.untilMs)
    let isEnd = this.#isPast(end)
    let isHead = false
    while (!isEnd && !isFull() && !batch.reaches(upTo)) {
      const piece = await this.#next()
      if (piece === null) isHead = !this.#source.isBehind
      if (piece === null) break
      const { last, rest, isCut } = this.#put(piece, batch, upTo, end)
      this.#waiting = rest
      isEnd = last
      if (isCut) break
    }
    if (isEnd && batch.to === null) return this.#taken(batch, true, false)
    if (batch.to === null) return null
    if (!isEnd && upTo !== null && !batch.reaches(upTo)) {
      this.#begun = batch
      return null
    }
    return this.#taken(batch, isEnd, isHead)
  }

  async #next(): Promise<Piece | null> {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting) return waiting
    this.#pieces ??= this.#source.pieces(this.#at.place)
    // One that failed is at its end, and goes on where it failed.
    try {
      const { value, done } = await this.#pieces.next()
      if (!done) return value
    } catch (error) {
      this.#pieces = null
      throw error
    }
    this.#pieces = null
    return null
  }

  #put(piece: Piece, batch: Growing, upTo: number | null, end: End | null): Put {
    const most = lower(upTo, end)
    if (!('line' in piece)) return this.#putGap(piece, batch, most, end)
    const block = this.#parsed(piece)
    // The log has it no more: nobody will ever have read it.
    if (block instanceof Error && piece.isArchived)
      return this.#putGap({ from: piece.height, to: piece.height, why: DAMAGED }, batch, most, end)
    // What came before it is delivered first.
    if (block instanceof Error && batch.to !== null && upTo === null) return { last: false, rest: piece, isCut: true }
    if (block instanceof Error) throw unreadable(piece.height, block)
    const { height, time, epoch = null } = block
    if ('timeMs' in this.#at.place && time < this.#at.place.timeMs) return { last: false, rest: null }
    if (isBeyond(end, block)) return { last: true, rest: piece }
    const { epoch: before } = this.#at
    const isAnew = epoch !== null && before !== null && epoch !== before
    const rows = this.#rowsOf(block)
    batch.add(height, height, isAnew ? [resetRow(height, time, epoch), ...rows] : rows)
    this.#at = { ...this.#at, place: { height: height + 1 }, epoch: epoch ?? before, timeMs: time, timed: height }
    return { last: this.#isPast(end), rest: null }
  }

  /** The fold is as it was. */
  #parsed({ height, line, orders }: Extract<Piece, { line: string }>): TopicBlock | Error {
    try {
      const block = this.#fold.parse(line, orders)
      return block.height === height ? block : new Error(`block ${block.height} came in its place`)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #rowsOf(block: TopicBlock): readonly Row[] {
    try {
      return this.#fold.rows(block)
    } catch (error) {
      throw error instanceof CannotRun ? error : unreadable(block.height, error)
    }
  }

  #putGap(gap: Extract<Piece, { why: string }>, batch: Growing, most: number | null, end: End | null): Put {
    // Before the first block nothing is missing, unless a height was asked for.
    if (!('height' in this.#at.place)) return { last: false, rest: null }
    const to = most === null ? gap.to : Math.min(gap.to, most)
    if (to < gap.from) return { last: this.#isPast(end), rest: gap }
    this.#fold.missing?.()
    batch.add(gap.from, to, [gapRow(gap.from, to, this.#at.timeMs, gap.why)])
    this.#at = { ...this.#at, place: { height: to + 1 } }
    return { last: this.#isPast(end), rest: to < gap.to ? { ...gap, from: to + 1 } : null }
  }

  /** All heights up to the end were taken. */
  #isPast(end: End | null): boolean {
    return end !== null && 'height' in end && 'height' in this.#at.place && this.#at.place.height > end.height
  }

  #taken(batch: Growing, isEnd: boolean, isHead: boolean): Taken {
    const after = { ...this.#at, fold: this.#fold.state?.() ?? null }
    const { from, to, rows, texts, chars } = batch
    const at = 'height' in this.#at.place ? this.#at.place.height - 1 : -1
    return { from: from ?? at + 1, to: to ?? at, rows, texts, chars, after, isEnd, isHead }
  }
}

function lower(upTo: number | null, end: End | null): number | null {
  const last = end && 'height' in end ? end.height : null
  return upTo === null || last === null ? (upTo ?? last) : Math.min(upTo, last)
}

class Growing {
  from: number | null = null
  to: number | null = null
  readonly rows: Row[] = []
  readonly texts: string[] = []
  chars = 0
  #blocks = 0

  add(from: number, to: number, rows: readonly Row[]): void {
    this.from ??= from
    this.to = to
    this.#blocks++
    for (const row of rows) if (!this.#joins(row)) this.#push(row)
  }

  isFull({ rows, chars, blocks }: Bounds): boolean {
    return this.rows.length >= rows || this.chars >= chars || this.#blocks >= blocks
  }

  reaches(height: number | null): boolean {
    return height !== null && this.to !== null && this.to >= height
  }

  #push(row: Row): void {
    const text = JSON.stringify(row)
    this.rows.push(row)
    this.texts.push(text)
    this.chars += text.length
  }

  /** Blocks that follow one another lack the same: one row says so. */
  #joins(row: Row): boolean {
    const before = this.rows.at(-1)
    if (row._kind !== 'gap' || before?._kind !== 'gap') return false
    if (before._reason !== row._reason || before._height !== (row._from as number) - 1) return false
    this.chars -= this.texts.pop()?.length ?? 0
    this.rows.pop()
    this.#push(gapRow(before._from as number, row._height, row._time, row._reason as string))
    return true
  }
}
