// Writes missing blocks into the archive, one request after another. Invariants: requests never overlap; a refused
// request writes nothing; a repeated request writes nothing again; archived blocks never change; a source that
// contradicts the archived blocks around is refused; books are stored only if they continue archived books.

import { pairs } from '../../core/pairs.ts'
import type { BackfillRequest, BackfillResult, UploadedCheckpoint } from './backfill-api.ts'
import type { BackfillBlock, KnownEvents } from './backfill-lines.ts'
import { type CutGap, type CutSegment, SegmentCutter } from './segment-cutter.ts'
import { type CheckedBlock, checkedBlock, contradictionOf } from './source-check.ts'

/**
 * Blocks below the archive are refused above this share of the size limit. At the limit, retention removes the oldest
 * data, which is those blocks. Gaps are repaired even then, because a limited archive is always near its limit.
 */
const MAX_FILL_RATIO = 0.9

/** Maximum segments per request. A body with many gaps needs many objects. */
const MAX_SEGMENTS = 100
/** Maximum archived segments per request that are compared with the source. */
const MAX_COMPARED = 8

export interface BackfillPorts {
  /**
   * The last height that has a segment; null if there is none. Later blocks are left to the log, and so is a gap above it,
   * until the log has archived the block that ends it.
   */
  last(): Promise<number | null>
  neighbors(first: number, last: number): Promise<SegmentSpan[]>
  /** The blocks of an archived segment; empty if they were removed or are damaged. */
  blocks(segment: SegmentSpan): Promise<readonly CheckedBlock[]>
  /** The uploaded checkpoint of the books after block `height`; null if there is none with this SHA-256. */
  uploaded(height: number, sha256: string): Promise<UploadedCheckpoint | null>
  write(segments: readonly BackfillSegment[], around: readonly SegmentSpan[], origin: BackfillOrigin): Promise<number>
  /** Size of the archive. `maxBytes`: its limit; null if there is no limit. */
  readonly bytes: number
  readonly maxBytes: number | null
  /** Runs work in steps, with other work in between (core/timers.client.ts). */
  inTurns<T>(work: Generator<number, T>): Promise<T>
  /** Adds to the archive's totals. */
  addWritten(segments: number, bytes: number): void
}

/** `checkpoint`: all books after the last block of the segments. */
export interface BackfillOrigin {
  readonly source: string
  readonly checkpoint: UploadedCheckpoint | null
}

export class BackfillQueue {
  readonly #ports: BackfillPorts
  #last: Promise<unknown> = Promise.resolve()

  constructor(ports: BackfillPorts) {
    this.#ports = ports
  }

  /** Blocks must be in height order. */
  write(request: Omit<BackfillRequest, 'v'>): Promise<BackfillResult> {
    const turn = this.#last.then(() => this.#write(request))
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #write({ blocks, source, checkpoint: sha256 }: Omit<BackfillRequest, 'v'>): Promise<BackfillResult> {
    const end = await this.#ports.last()
    const { bytes, maxBytes } = this.#ports
    if (end === null) return { refused: 'empty' }
    const first = blocks[0]?.height ?? 0
    const last = blocks.at(-1)?.height ?? 0
    const around = await this.#ports.neighbors(first, last)
    const all = backfillCuts(blocks, around, end + 1)
    const segments = all.slice(0, MAX_SEGMENTS)
    const next = all[MAX_SEGMENTS]?.first ?? null
    const lowest = segments[0]?.first
    if (lowest === undefined) return { blocks: 0, segments: 0, bytes: 0, next }
    const isBelowAll = around.every((span) => span.first > lowest)
    if (isBelowAll && maxBytes !== null && bytes > maxBytes * MAX_FILL_RATIO)
      return { refused: 'full', bytes, maxBytes }
    const { inTurns } = this.#ports
    const checked = await inTurns(checkedBlocks(blocks))
    const compared = await this.#compared(segments, around)
    const reason =
      (await inTurns(contradictionOf(checked, compared, around.flatMap(endsOf)))) ?? bookBreakOf(segments, around)
    if (reason !== null) return { refused: 'contradiction', reason }
    const isCheckpointDue = sha256 !== null && segments.at(-1)?.last === last
    const checkpoint = isCheckpointDue ? await this.#ports.uploaded(last, sha256) : null
    if (isCheckpointDue && !isCheckpointOf(checkpoint, segments.at(-1)))
      return { refused: 'contradiction', reason: `the checkpoint ${sha256} is not of the books after block ${last}` }
    const written = await this.#ports.write(segments, around, { source, checkpoint })
    this.#ports.addWritten(segments.length, written)
    const count = segments.reduce((sum, { events }) => sum + events.length, 0)
    return { blocks: count, segments: segments.length, bytes: written, next }
  }

  /** The archived blocks of the segments next to the new ones. */
  async #compared(segments: readonly BackfillSegment[], around: readonly SegmentSpan[]): Promise<CheckedBlock[]> {
    const isNext = (span: SegmentSpan) =>
      segments.some(({ first, last }) => span.last === first - 1 || span.first === last + 1)
    const blocks: CheckedBlock[] = []
    for (const span of around.filter(isNext).slice(0, MAX_COMPARED)) blocks.push(...(await this.#ports.blocks(span)))
    return blocks
  }
}

function* checkedBlocks(blocks: readonly BackfillBlock[]): Generator<number, CheckedBlock[]> {
  const checked: CheckedBlock[] = []
  for (const { events } of blocks) {
    checked.push(checkedBlock(events))
    yield events.length
  }
  return checked
}

const endsOf = ({ first, last, firstMs, lastMs }: SegmentSpan) => [
  { height: first, time: firstMs },
  { height: last, time: lastMs },
]

// Cuts blocks into segments and gaps. Invariants: heights that exist are not written again; consecutive segments touch
// or have one gap between them.

export interface BackfillSegment extends CutSegment {
  readonly known: KnownEvents
}

export type SegmentSpan = Pick<CutSegment, 'first' | 'last' | 'firstMs' | 'lastMs' | 'epoch'>

/**
 * Why books of `segments` do not continue the books of the segment before; null if they do. Within an epoch, every
 * block continues the block before.
 */
export function bookBreakOf(segments: readonly SegmentSpan[], around: readonly SegmentSpan[]): string | null {
  const ends = new Map([...around, ...segments].map(({ last, epoch }) => [last, epoch]))
  const broken = segments.find(({ first, epoch }) => epoch !== null && ends.get(first - 1) !== epoch)
  return broken === undefined
    ? null
    : `block ${broken.first} has changes of books in the epoch ${broken.epoch}, which block ${broken.first - 1} does not have`
}

function isCheckpointOf(checkpoint: UploadedCheckpoint | null, segment: SegmentSpan | undefined): boolean {
  return checkpoint !== null && checkpoint.epoch === segment?.epoch && checkpoint.time === segment.lastMs
}

/** Segments of the blocks below height `before` that are in none of the `existing` segments. Blocks are in height order. */
export function backfillCuts(
  blocks: readonly BackfillBlock[],
  existing: readonly Pick<SegmentSpan, 'first' | 'last'>[],
  before: number,
): BackfillSegment[] {
  const spans = existing.toSorted((a, b) => a.first - b.first)
  let at = 0
  const missing = blocks.filter(({ height }) => {
    while ((spans[at]?.last ?? height) < height) at++
    return height < before && height < (spans[at]?.first ?? Number.POSITIVE_INFINITY)
  })
  return runsOf(missing).flatMap(([known, run]) => {
    const cutter = new SegmentCutter(null)
    const next = (run.at(-1)?.height ?? 0) + 1
    const cuts = [...run.flatMap((block) => cutter.addBlock(block)), ...cutter.addGap(next, next)]
    return cuts.flatMap((cut) => ('segment' in cut ? [{ ...cut.segment, known }] : []))
  })
}

/** Runs of consecutive blocks with the same known data. */
function runsOf(blocks: readonly BackfillBlock[]): [KnownEvents, BackfillBlock[]][] {
  const runs: [KnownEvents, BackfillBlock[]][] = []
  for (const block of blocks) {
    const [known, run] = runs.at(-1) ?? []
    if (run?.at(-1)?.height === block.height - 1 && known === block.known) run.push(block)
    else runs.push([block.known, [block]])
  }
  return runs
}

/** The gaps between the spans, which may be in any order. */
export function gapsBetween(spans: readonly Omit<SegmentSpan, 'epoch'>[]): CutGap[] {
  return pairs(spans.toSorted((a, b) => a.first - b.first)).flatMap(([{ last, lastMs }, next]) =>
    next.first === last + 1 ? [] : [{ from: last + 1, to: next.first - 1, afterMs: lastMs, beforeMs: next.firstMs }],
  )
}
