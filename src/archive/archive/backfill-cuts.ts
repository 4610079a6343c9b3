// What of the blocks that were sent becomes segments, and which heights are missing between. Laws: a height that is there is
// not written again; nothing reaches into what the log archives; between two segments that follow each other lie no heights,
// or a gap that names them all.

import type { BackfillBlock, Known } from './backfill-lines.ts'
import { type CutGap, type CutSegment, SegmentCutter } from './segment-cutter.ts'

export interface BackfillSegment extends CutSegment {
  readonly known: Known
}

/** Heights and times of a segment. */
export type Span = Pick<CutSegment, 'first' | 'last' | 'firstMs' | 'lastMs'>

/** Segments of the blocks, in order of height, that are below height `before` and in none of `held`. */
export function backfillCuts(
  blocks: readonly BackfillBlock[],
  held: readonly Pick<Span, 'first' | 'last'>[],
  before: number,
): BackfillSegment[] {
  const isHeld = (height: number) => held.some(({ first, last }) => first <= height && height <= last)
  const wanted = blocks.filter(({ height }) => height < before && !isHeld(height))
  return runsOf(wanted).flatMap(([known, run]) => {
    const cutter = new SegmentCutter(null)
    const next = run.at(-1)!.height + 1
    const cuts = [...run.flatMap((block) => cutter.block(block)), ...cutter.gap(next, next)]
    return cuts.flatMap((cut) => ('segment' in cut ? [{ ...cut.segment, known }] : []))
  })
}

/** Blocks that follow each other and of which the same is known. */
function runsOf(blocks: readonly BackfillBlock[]): [Known, BackfillBlock[]][] {
  const runs: [Known, BackfillBlock[]][] = []
  for (const block of blocks) {
    const [known, run] = runs.at(-1) ?? []
    if (run?.at(-1)?.height === block.height - 1 && known === block.known) run.push(block)
    else runs.push([block.known, [block]])
  }
  return runs
}

/** What lies between the spans, in whatever order they are given. */
export function gapsBetween(spans: readonly Span[]): CutGap[] {
  const inOrder = spans.toSorted((a, b) => a.first - b.first)
  return inOrder.slice(1).flatMap((next, at) => {
    const { last, lastMs } = inOrder[at]!
    return next.first === last + 1
      ? []
      : [{ from: last + 1, to: next.first - 1, afterMs: lastMs, beforeMs: next.firstMs }]
  })
}
