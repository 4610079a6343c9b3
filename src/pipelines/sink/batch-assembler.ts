// Assembles the next batch: the rows of whole blocks, up to the limits. Invariants: batches follow one another and skip
// no block; reassembling a batch from its start yields the same rows; missing data is reported inside the batch.

import type { ReadBlock } from '../follower-api.ts'
import { FatalPipelineError } from '../pipeline.ts'
import { gapRow, type Row, repairedRow, resetRow, type TopicBlock, type TopicFold } from '../topics/topic.ts'
import {
  DAMAGED_REASON,
  type EndPosition,
  isBeyond,
  type Source,
  type SourceItem,
  type StartPosition,
  unreadableBlock,
} from './source.ts'

/** Reader state before a batch. The rows of the batch depend on it. */
export interface ReaderState {
  readonly place: StartPosition
  /** Last known epoch of the books. */
  readonly epoch: string | null
  /** Time of the previous block; 0: none. */
  readonly timeMs: number
  /** Height of the previous block. */
  readonly timed?: number
  /** State of the topic's fold. */
  readonly fold: string | null
}

/** The last block that was read; null if there is none. */
export function lastReadBlock({ timed: height, timeMs: time, epoch }: ReaderState): ReadBlock | null {
  return height === undefined ? null : { height, time, epoch }
}

/** The state after blocks that have nothing for the pipeline. */
export function afterBlock(state: ReaderState, { height, time, epoch }: ReadBlock): ReaderState {
  return { ...state, place: { height: height + 1 }, epoch: epoch ?? state.epoch, timeMs: time, timed: height }
}

export interface AssembledBatch {
  readonly from: number
  readonly to: number
  readonly rows: readonly Row[]
  /** JSON of each row. */
  readonly texts: readonly string[]
  readonly chars: number
  readonly after: ReaderState
  /** True if the pipeline ends with this batch. */
  readonly isEnd: boolean
  /** True if no more blocks are available yet. */
  readonly isHead: boolean
}

export interface BatchLimits {
  readonly rows: number
  readonly chars: number
  readonly blocks: number
  /** Reading ends at this time. */
  readonly untilMs: number
}

/**
 * `last`: the pipeline ends with this item. `rest` belongs to the next batch. `isCut`: the next batch starts with
 * `rest`.
 */
interface PutResult {
  readonly last: boolean
  readonly rest: SourceItem | null
  readonly isCut?: true
}
type BlockReader = Pick<Source, 'items' | 'retryMs'> & Partial<Pick<Source, 'ordersFrom' | 'isBehind'>>

export class Assembler {
  readonly #source: BlockReader
  readonly #fold: TopicFold
  readonly #nowMs: () => number
  readonly #isRepair: boolean
  #state: ReaderState
  #items: AsyncGenerator<SourceItem> | null = null
  #pending: SourceItem | null = null
  /** Partial batch of a fixed range. */
  #partial: BatchBuilder | null = null

  /** `isRepair`: rows are marked as repaired, and what is missing is not reported again. */
  constructor(source: BlockReader, fold: TopicFold, at: ReaderState, nowMs: () => number, isRepair = false) {
    this.#source = source
    this.#fold = fold
    this.#state = at
    this.#nowMs = nowMs
    this.#isRepair = isRepair
  }

  /** Delay that the log requested. */
  get retryMs(): number {
    return this.#source.retryMs
  }

  /** First height whose order statuses were known for the last batch; null: the topic does not use them. */
  get ordersFrom(): number | null {
    return this.#source.ordersFrom ?? null
  }

  /** `upTo`: end of a range fixed earlier. Null if no block is available yet, or the fixed range is incomplete. */
  async take(end: EndPosition | null, upTo: number | null, limits: BatchLimits): Promise<AssembledBatch | null> {
    const batch = this.#partial ?? new BatchBuilder()
    this.#partial = null
    const isFull = () => upTo === null && (batch.isFull(limits) || this.#nowMs() >= limits.untilMs)
    let isEnd = this.#isPastEnd(end)
    let isHead = false
    while (!isEnd && !isFull() && !batch.reaches(upTo)) {
      const piece = await this.#next()
      if (piece === null) isHead = !this.#source.isBehind
      if (piece === null) break
      const { last, rest, isCut } = this.#put(piece, batch, upTo, end)
      this.#pending = rest
      isEnd = last
      if (isCut) break
    }
    if (isEnd && batch.to === null) return this.#finish(batch, true, false)
    if (batch.to === null) return null
    if (!isEnd && upTo !== null && !batch.reaches(upTo)) {
      this.#partial = batch
      return null
    }
    return this.#finish(batch, isEnd, isHead)
  }

  async #next(): Promise<SourceItem | null> {
    const waiting = this.#pending
    this.#pending = null
    if (waiting) return waiting
    this.#items ??= this.#source.items(this.#state.place)
    // A failed generator is finished; a new one continues where it failed.
    try {
      const { value, done } = await this.#items.next()
      if (!done) return value
    } catch (error) {
      this.#items = null
      throw error
    }
    this.#items = null
    return null
  }

  #put(piece: SourceItem, batch: BatchBuilder, upTo: number | null, end: EndPosition | null): PutResult {
    const maxHeight = lower(upTo, end)
    if (!('line' in piece)) return this.#putGap(piece, batch, maxHeight, end)
    const block = this.#parse(piece)
    // The log no longer has the block, so it will never be readable.
    if (block instanceof Error && piece.isArchived)
      return this.#putGap({ from: piece.height, to: piece.height, why: DAMAGED_REASON }, batch, maxHeight, end)
    // The blocks before this one are delivered first.
    if (block instanceof Error && batch.to !== null && upTo === null) return { last: false, rest: piece, isCut: true }
    if (block instanceof Error) throw unreadableBlock(piece.height, block)
    const { height, time, epoch = null } = block
    if ('timeMs' in this.#state.place && time < this.#state.place.timeMs) return { last: false, rest: null }
    if (isBeyond(end, block)) return { last: true, rest: piece }
    const { epoch: before } = this.#state
    const isAnew = epoch !== null && before !== null && epoch !== before
    const rows = this.#rowsOf(block)
    const all = isAnew ? [resetRow(height, time, epoch), ...rows] : rows
    batch.add(height, height, this.#isRepair ? rows.map(repairedRow) : all)
    this.#state = { ...this.#state, place: { height: height + 1 }, epoch: epoch ?? before, timeMs: time, timed: height }
    return { last: this.#isPastEnd(end) || this.#fold.isDone?.() === true, rest: null }
  }

  /** Parsing does not change the state of the fold. */
  #parse({ height, line, rows }: Extract<SourceItem, { line: string }>): TopicBlock | Error {
    try {
      const block = this.#fold.parse(line, rows)
      return block.height === height ? block : new Error(`found block ${block.height} instead`)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #rowsOf(block: TopicBlock): readonly Row[] {
    try {
      return this.#fold.rows(block)
    } catch (error) {
      throw error instanceof FatalPipelineError ? error : unreadableBlock(block.height, error)
    }
  }

  #putGap(
    gap: Extract<SourceItem, { why: string }>,
    batch: BatchBuilder,
    maxHeight: number | null,
    end: EndPosition | null,
  ): PutResult {
    // A gap before the first block is reported only if the start is a height.
    if (!('height' in this.#state.place)) return { last: false, rest: null }
    const to = maxHeight === null ? gap.to : Math.min(gap.to, maxHeight)
    if (to < gap.from) return { last: this.#isPastEnd(end), rest: gap }
    this.#fold.onGap?.()
    batch.add(gap.from, to, this.#isRepair ? [] : [gapRow(gap.from, to, this.#state.timeMs, gap.why)])
    this.#state = { ...this.#state, place: { height: to + 1 } }
    return { last: this.#isPastEnd(end), rest: to < gap.to ? { ...gap, from: to + 1 } : null }
  }

  /** True if all heights up to the end have been read. */
  #isPastEnd(end: EndPosition | null): boolean {
    return end !== null && 'height' in end && 'height' in this.#state.place && this.#state.place.height > end.height
  }

  #finish(batch: BatchBuilder, isEnd: boolean, isHead: boolean): AssembledBatch {
    const after = { ...this.#state, fold: this.#fold.state?.() ?? null }
    const { from, to, rows, texts, chars } = batch
    const at = 'height' in this.#state.place ? this.#state.place.height - 1 : -1
    return { from: from ?? at + 1, to: to ?? at, rows, texts, chars, after, isEnd, isHead }
  }
}

function lower(upTo: number | null, end: EndPosition | null): number | null {
  const last = end && 'height' in end ? end.height : null
  return upTo === null || last === null ? (upTo ?? last) : Math.min(upTo, last)
}

class BatchBuilder {
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
    for (const row of rows) if (!this.#joinsGap(row)) this.#push(row)
  }

  isFull({ rows, chars, blocks }: BatchLimits): boolean {
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

  /** Merges adjacent gaps with the same reason into one row. */
  #joinsGap(row: Row): boolean {
    const before = this.rows.at(-1)
    if (row._kind !== 'gap' || before?._kind !== 'gap') return false
    if (before._reason !== row._reason || before._height !== (row._from as number) - 1) return false
    this.chars -= this.texts.pop()?.length ?? 0
    this.rows.pop()
    this.#push(gapRow(before._from as number, row._height, row._time, row._reason as string))
    return true
  }
}
