// Where the log and the files meet. Laws: a height is told by one of the two; a hole is said to lie between two blocks
// wherever heights between them may be missing.

import { pairs } from '../../core/pairs.ts'
import type { EventBlock, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { FillHistory } from '../funding-spans.ts'
import type { FileCoverage, FileGap, FundedRange } from './files-read.ts'

export interface Seam {
  /** The files tell heights from here … */
  readonly from: number
  /** … up to here, the log those above; -1: there are no files. */
  readonly upTo: number
  /** What the log tells, oldest first. */
  readonly tail: readonly EventBlock[]
  /** From where on nothing is missing: a block, or above a height, whose time only the archive knows. */
  readonly since: HeightAndTime | { readonly above: number }
  /** Whether heights between two that are told one after the other, the lower one first, may be missing. */
  readonly isHole: (lower: number, upper: number) => boolean
  /** Whether it lies in a gap: what the files have of it is not told. */
  readonly isMissing: (height: number) => boolean
}

/**
 * The files as far as their funding is known; null where none is. Where one stretch ends and another begins is a gap, be it
 * one of no heights; of a damaged file the funding is still known.
 */
export function fundedCoverage(cover: FileCoverage): FileCoverage | null {
  return coverageWithin(cover, cover.funded)
}

/** The files as far as is known what each wallet paid; null where it is nowhere. Stretches that touch are one. */
export function paidCoverage(cover: FileCoverage): FileCoverage | null {
  const joined: FundedRange[] = []
  for (const stretch of cover.paid ?? []) {
    const last = joined.at(-1)
    if (last === undefined || stretch.from > last.to + 1) joined.push(stretch)
    else joined.splice(-1, 1, { ...last, to: Math.max(last.to, stretch.to) })
  }
  return coverageWithin(cover, joined)
}

function coverageWithin(
  { from, to, gaps, funded }: FileCoverage,
  stretches: readonly FundedRange[],
): FileCoverage | null {
  const known = stretches.filter((stretch) => stretch.to >= from.height)
  const first = known[0]
  const last = known.at(-1)
  if (!first || !last) return null
  const unfunded: FileGap[] = pairs(known).map(([one, next]) => ({ from: one.to + 1, to: next.from - 1 }))
  if (last.to < to.height) unfunded.push({ from: last.to + 1, to: to.height })
  const begin = first.from > from.height ? { height: first.from, time: first.fromMs } : from
  return { from: begin, to, gaps: [...gaps, ...unfunded], funded }
}

export function seamOf({ since, runs }: FillHistory, cover: FileCoverage | null): Seam {
  const below = since.height - 1
  const upTo = cover === null ? -1 : Math.min(below, cover.to.height)
  const gaps = (cover?.gaps ?? []).filter(({ from, to }) => cover !== null && from <= upTo && to >= cover.from.height)
  const isJoined =
    cover !== null &&
    upTo === below &&
    cover.from.height <= below &&
    !gaps.some(({ to, from }) => from <= below && to >= below)
  // Between two runs are heights that the log lacks; what it told of the older one is right.
  const starts = runs.slice(1).flatMap((run) => run.slice(0, 1).map(({ height }) => height))
  if (!isJoined) starts.push(upTo + 1)
  const above = Math.max(...gaps.map(({ to }) => (to < below ? to : -1)), -1)
  return {
    from: cover?.from.height ?? 0,
    upTo,
    tail: runs.flat().filter(({ height }) => height > upTo),
    since: !isJoined ? since : above < 0 ? cover.from : { above },
    isHole: (lower, upper) =>
      starts.some((start) => lower < start && start <= upper) ||
      gaps.some(({ from, to }) => lower < from && to < upper),
    isMissing: (height) => height <= upTo && gaps.some(({ from, to }) => from <= height && height <= to),
  }
}
