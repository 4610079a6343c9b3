// Writes backfill requests one after another. Invariants: requests never overlap; a refused request writes nothing; a
// repeated request writes nothing again.

import { pairs } from '../../core/pairs.ts'
import type { BackfillResult } from './backfill-api.ts'
import type { BackfillBlock, KnownEvents } from './backfill-lines.ts'
import { type CutGap, type CutSegment, SegmentCutter } from './segment-cutter.ts'

/**
 * Backfill is refused above this share of the size limit. At the limit, retention removes the oldest data, which is the
 * backfilled data.
 */
const MAX_FILL_RATIO = 0.9

/** Maximum segments per request. A body with many gaps needs many objects. */
const MAX_SEGMENTS = 100

export interface BackfillPorts {
  logStart(): Promise<{ readonly height: number } | null>
  neighbors(first: number, last: number): Promise<SegmentSpan[]>
  write(segments: readonly BackfillSegment[], around: readonly SegmentSpan[]): Promise<number>
  /** Size of the archive. `maxBytes`: its limit; null if there is no limit. */
  readonly bytes: number
  readonly maxBytes: number | null
  /** Adds to the archive's totals. */
  addWritten(segments: number, bytes: number): void
}

export class BackfillQueue {
  readonly #ports: BackfillPorts
  #last: Promise<unknown> = Promise.resolve()

  constructor(ports: BackfillPorts) {
    this.#ports = ports
  }

  /** Blocks must be in height order. */
  write(blocks: readonly BackfillBlock[]): Promise<BackfillResult> {
    const turn = this.#last.then(() => this.#write(blocks))
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #write(blocks: readonly BackfillBlock[]): Promise<BackfillResult> {
    const before = await this.#ports.logStart()
    if (before === null) return { refused: 'empty' }
    const { bytes, maxBytes } = this.#ports
    if (maxBytes !== null && bytes > maxBytes * MAX_FILL_RATIO) return { refused: 'full', bytes, maxBytes }
    const first = blocks[0]?.height ?? 0
    const last = blocks.at(-1)?.height ?? 0
    const around = await this.#ports.neighbors(first, last)
    const all = backfillCuts(blocks, around, before.height)
    const segments = all.slice(0, MAX_SEGMENTS)
    const next = all[MAX_SEGMENTS]?.first ?? null
    if (segments.length === 0) return { blocks: 0, segments: 0, bytes: 0, next }
    const written = await this.#ports.write(segments, around)
    this.#ports.addWritten(segments.length, written)
    const count = segments.reduce((sum, { events }) => sum + events.length, 0)
    return { blocks: count, segments: segments.length, bytes: written, next }
  }
}

// Cuts blocks into segments and gaps. Invariants: heights that exist are not written again; segments end below the
// first block that the log archived; consecutive segments touch or have one gap between them.

export interface BackfillSegment extends CutSegment {
  readonly known: KnownEvents
}

export type SegmentSpan = Pick<CutSegment, 'first' | 'last' | 'firstMs' | 'lastMs'>

/** Segments of the blocks below height `before` that are in none of the `existing` segments. */
export function backfillCuts(
  blocks: readonly BackfillBlock[],
  existing: readonly Pick<SegmentSpan, 'first' | 'last'>[],
  before: number,
): BackfillSegment[] {
  const exists = (height: number) => existing.some(({ first, last }) => first <= height && height <= last)
  const missing = blocks.filter(({ height }) => height < before && !exists(height))
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
export function gapsBetween(spans: readonly SegmentSpan[]): CutGap[] {
  return pairs(spans.toSorted((a, b) => a.first - b.first)).flatMap(([{ last, lastMs }, next]) =>
    next.first === last + 1 ? [] : [{ from: last + 1, to: next.first - 1, afterMs: lastMs, beforeMs: next.firstMs }],
  )
}
