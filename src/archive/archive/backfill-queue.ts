// Blocks that were sent, into the archive, a body after the other. Laws: bodies do not meet; one that is refused has written
// nothing; one that comes again writes nothing again.

import { pairs } from '../../core/pairs.ts'
import type { BackfillResult } from './backfill-api.ts'
import type { BackfillBlock, KnownEvents } from './backfill-lines.ts'
import { type CutGap, type CutSegment, SegmentCutter } from './segment-cutter.ts'

/** Removals begin at the bound: what is backfilled would be the first to go. */
const MAX_FILL_RATIO = 0.9

/** Of a body full of holes each piece is an object: so many are written in a turn, in seconds. */
const MAX_SEGMENTS = 100

export interface BackfillPorts {
  logStart(): Promise<{ readonly height: number } | null>
  neighbors(first: number, last: number): Promise<SegmentSpan[]>
  write(segments: readonly BackfillSegment[], around: readonly SegmentSpan[]): Promise<number>
  /** Bytes of the whole archive, and the most that it keeps; null: it keeps all. */
  readonly bytes: number
  readonly maxBytes: number | null
  /** So many segments and bytes are there now beside. */
  addWritten(segments: number, bytes: number): void
}

export class BackfillQueue {
  readonly #ports: BackfillPorts
  #last: Promise<unknown> = Promise.resolve()

  constructor(ports: BackfillPorts) {
    this.#ports = ports
  }

  /** The blocks are in order of height. */
  write(blocks: readonly BackfillBlock[]): Promise<BackfillResult> {
    const turn = this.#last.then(() => this.#write(blocks))
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #write(blocks: readonly BackfillBlock[]): Promise<BackfillResult> {
    const before = await this.#ports.logStart()
    if (before === null) return { refused: 'empty' }
    const { bytes, maxBytes } = this.#ports
    if (maxBytes !== null && bytes > maxBytes * MAX_FILL_RATIO) return { refused: 'full', bytes, mostBytes: maxBytes }
    const first = blocks[0]?.height ?? 0
    const last = blocks.at(-1)?.height ?? 0
    const around = await this.#ports.neighbors(first, last)
    const all = backfillCuts(blocks, around, before.height)
    const segments = all.slice(0, MAX_SEGMENTS)
    const next = all[MAX_SEGMENTS]?.first ?? null
    if (segments.length === 0) return { blocks: 0, segments: 0, bytes: 0, next }
    const taken = await this.#ports.write(segments, around)
    this.#ports.addWritten(segments.length, taken)
    const count = segments.reduce((sum, { events }) => sum + events.length, 0)
    return { blocks: count, segments: segments.length, bytes: taken, next }
  }
}

// What of the blocks that were sent becomes segments, and which heights are missing between. Invariants: a height that is there is
// not written again; nothing reaches into what the log archives; between two segments that follow each other lie no heights,
// or a gap that names them all.

export interface BackfillSegment extends CutSegment {
  readonly known: KnownEvents
}

export type SegmentSpan = Pick<CutSegment, 'first' | 'last' | 'firstMs' | 'lastMs'>

/** Segments of the blocks, in order of height, that are below height `before` and in none of `held`. */
export function backfillCuts(
  blocks: readonly BackfillBlock[],
  held: readonly Pick<SegmentSpan, 'first' | 'last'>[],
  before: number,
): BackfillSegment[] {
  const isHeld = (height: number) => held.some(({ first, last }) => first <= height && height <= last)
  const wanted = blocks.filter(({ height }) => height < before && !isHeld(height))
  return runsOf(wanted).flatMap(([known, run]) => {
    const cutter = new SegmentCutter(null)
    const next = (run.at(-1)?.height ?? 0) + 1
    const cuts = [...run.flatMap((block) => cutter.addBlock(block)), ...cutter.addGap(next, next)]
    return cuts.flatMap((cut) => ('segment' in cut ? [{ ...cut.segment, known }] : []))
  })
}

/** Blocks that follow each other and of which the same is known. */
function runsOf(blocks: readonly BackfillBlock[]): [KnownEvents, BackfillBlock[]][] {
  const runs: [KnownEvents, BackfillBlock[]][] = []
  for (const block of blocks) {
    const [known, run] = runs.at(-1) ?? []
    if (run?.at(-1)?.height === block.height - 1 && known === block.known) run.push(block)
    else runs.push([block.known, [block]])
  }
  return runs
}

/** What lies between the spans, in whatever order they are given. */
export function gapsBetween(spans: readonly SegmentSpan[]): CutGap[] {
  return pairs(spans.toSorted((a, b) => a.first - b.first)).flatMap(([{ last, lastMs }, next]) =>
    next.first === last + 1 ? [] : [{ from: last + 1, to: next.first - 1, afterMs: lastMs, beforeMs: next.firstMs }],
  )
}
