// Rules of backfills: which heights a backfill may deliver, and what they are expected to cost. Pure. Invariant: unless
// the owner asks to deliver again, no height is planned that the pipeline, or an earlier backfill of it, delivers.

import { inGroups } from '../core/digit-groups.ts'
import { err, ok, type Result } from '../core/result.ts'

/** Inclusive. */
export interface HeightRange {
  readonly from: number
  readonly to: number
}

/** `first`, `height`: first and last height that the pipeline itself has delivered; it delivers everything above. */
export interface DeliveredHeights {
  readonly first: number
  readonly height: number | null
  /** Delivered by earlier backfills, or read before the pipeline was restarted; sorted, without overlaps. */
  readonly backfilled: readonly HeightRange[]
}

/** Separate ranges that are remembered for a pipeline. */
export const MAX_RANGES = 100

/** Adds a range to sorted ranges, and joins those that touch. */
export function withRange(ranges: readonly HeightRange[], { from, to }: HeightRange): readonly HeightRange[] {
  if (from > to) return ranges
  const touching = ranges.filter((each) => each.from <= to + 1 && each.to >= from - 1)
  const joined = {
    from: Math.min(from, ...touching.map((each) => each.from)),
    to: Math.max(to, ...touching.map((each) => each.to)),
  }
  return [...ranges.filter((each) => !touching.includes(each)), joined].sort((a, b) => a.from - b.from)
}

/** Ranges that contain these, and are few enough to be remembered. Of too many, the lowest are joined. */
export function withinLimit(ranges: readonly HeightRange[]): readonly HeightRange[] {
  const [lowest] = ranges
  const last = ranges[ranges.length - MAX_RANGES]
  return lowest === undefined || last === undefined ? ranges : withRange(ranges, { from: lowest.from, to: last.to })
}

/**
 * Whether the ranges can be remembered together with any part of `range` that a backfill delivers before it is canceled.
 * The more it delivers, the fewer ranges there are.
 */
export const hasRoomFor = (ranges: readonly HeightRange[], { from }: HeightRange) =>
  withRange(ranges, { from, to: from }).length <= MAX_RANGES

/** The parts of a range that none of these sorted ranges has. */
export function without({ from, to }: HeightRange, ranges: readonly HeightRange[]): readonly HeightRange[] {
  const parts: HeightRange[] = []
  let next = from
  for (const each of ranges) {
    if (each.from > to) break
    if (each.from > next) parts.push({ from: next, to: each.from - 1 })
    next = Math.max(next, each.to + 1)
  }
  return next <= to ? [...parts, { from: next, to }] : parts
}

/** The heights to deliver for a request. The error says what to send instead. `isAgain`: also what was delivered before. */
export function planBackfill(
  { from, to }: HeightRange,
  { first, height, backfilled }: DeliveredHeights,
  isAgain: boolean,
): Result<HeightRange, string> {
  const last = isAgain ? (height ?? first - 1) : first - 1
  const range = { from, to: Math.min(to, last) }
  if (from > range.to)
    return err(
      isAgain || from < first
        ? `must be at most block ${inGroups(range.to)}`
        : `must be below block ${inGroups(first)}, the first one that the pipeline has read, unless "redeliver" is true`,
    )
  const parts = isAgain ? [range] : without(range, backfilled)
  const [only] = parts
  if (only === undefined)
    return err('and "to" must name blocks that were not delivered before, unless "redeliver" is true')
  if (parts.length === 1) return ok(only)
  const names = parts.slice(0, 3).map((part) => `${inGroups(part.from)} to ${inGroups(part.to)}`)
  return err(
    `and "to" must not enclose blocks that were delivered before, unless "redeliver" is true. Order ${names.join(' and ')} separately`,
  )
}

const SAMPLES = 16
const SAMPLE_BLOCKS = 256

/** Ranges to read for an estimate: all of a short range, or evenly spaced parts, in an order that covers it early. */
export function samplesOf({ from, to }: HeightRange): readonly HeightRange[] {
  const blocks = to - from + 1
  const count = Math.min(SAMPLES, Math.ceil(blocks / SAMPLE_BLOCKS))
  const all = Array.from({ length: count }, (_, at) => {
    const start = from + Math.floor((at * blocks) / count)
    const end = from + Math.floor(((at + 1) * blocks) / count) - 1
    return { from: start, to: Math.min(end, start + SAMPLE_BLOCKS - 1) }
  })
  const stride = 7
  return count < SAMPLES ? all : all.map((_, at) => all[(at * stride) % count] as HeightRange)
}

/** A part that was read. `rows`: rows to charge. */
interface Sample {
  readonly blocks: number
  readonly rows: number
}

export interface RowEstimate {
  /** Expected rows to charge. */
  readonly rows: number
  /** Rows that are very unlikely to be exceeded; `rows` if all blocks were read. */
  readonly most: number
  /** True if all blocks were read. */
  readonly isExact: boolean
}

/** Standard errors between the expected rows and the most. */
const CERTAINTY = 3

/** `blocks`: number of blocks of the range. Null: nothing was read. */
export function estimateRows(samples: readonly Sample[], blocks: number): RowEstimate | null {
  const read = samples.reduce((sum, sample) => sum + sample.blocks, 0)
  if (read === 0) return null
  const found = samples.reduce((sum, sample) => sum + sample.rows, 0)
  if (read >= blocks) return { rows: found, most: found, isExact: true }
  const rate = found / read
  const rows = Math.round(rate * blocks)
  const rates = samples.map((sample) => sample.rows / sample.blocks)
  const variance = rates.reduce((sum, each) => sum + (each - rate) ** 2, 0) / Math.max(1, rates.length - 1)
  // One sample says nothing about the spread.
  const error = rates.length < 2 ? rate : Math.sqrt(variance / rates.length)
  return { rows, most: Math.ceil((rate + CERTAINTY * error) * blocks), isExact: false }
}
