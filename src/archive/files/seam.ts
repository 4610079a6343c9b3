// Combines the log and the files. Invariants: each height comes from either the log or the files; a hole is reported
// between two blocks whenever heights between them may be missing.

import { pairs } from '../../core/pairs.ts'
import type { EventBlock, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { FillHistory } from '../funding-spans.ts'
import type { FileCoverage, FileGap, FundedRange } from './files-read.ts'

export interface Seam {
  /** The first height that the files cover. */
  readonly from: number
  /** The last height that the files cover; -1 if there are no files. The log covers heights above it. */
  readonly upTo: number
  /** Blocks of the log, oldest first. */
  readonly tail: readonly EventBlock[]
  /** Start of complete data: a block, or a height whose time only the archive knows. */
  readonly since: HeightAndTime | { readonly above: number }
  /** Whether heights between two consecutive blocks may be missing. */
  readonly isHole: (lower: number, upper: number) => boolean
  /** Whether a height lies in a gap, so that its file data must be ignored. */
  readonly isMissing: (height: number) => boolean
  /** Whether a height lies in the files or in the complete part of the log. */
  readonly isKnown: (height: number) => boolean
}

/** Coverage limited to known funding; null if no funding is known. The funding of a damaged file remains known. */
export function fundedCoverage(cover: FileCoverage): FileCoverage | null {
  return coverageWithin(cover, joined(cover.funded))
}

/** Coverage limited to known payments per wallet; null if none are known. */
export function paidCoverage(cover: FileCoverage): FileCoverage | null {
  return coverageWithin(cover, joined(cover.paid ?? []))
}

/** Joins adjacent ranges. */
function joined(stretches: readonly FundedRange[]): FundedRange[] {
  const runs: FundedRange[] = []
  for (const stretch of stretches) {
    const last = runs.at(-1)
    if (last === undefined || stretch.from > last.to + 1) runs.push(stretch)
    else runs.splice(-1, 1, { ...last, to: Math.max(last.to, stretch.to) })
  }
  return runs
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
  // Each later run starts after heights that the log lacks.
  const starts = runs.slice(1).flatMap((run) => run.slice(0, 1).map(({ height }) => height))
  if (!isJoined) starts.push(upTo + 1)
  const above = Math.max(...gaps.map(({ to }) => (to < below ? to : -1)), -1)
  const isMissing = (height: number) => height <= upTo && gaps.some(({ from, to }) => from <= height && height <= to)
  return {
    from: cover?.from.height ?? 0,
    upTo,
    tail: runs.flat().filter(({ height }) => height > upTo),
    since: !isJoined ? since : above < 0 ? cover.from : { above },
    isHole: (lower, upper) =>
      starts.some((start) => lower < start && start <= upper) ||
      gaps.some(({ from, to }) => lower < from && to < upper),
    isMissing,
    isKnown: (height) =>
      height >= since.height || (cover !== null && height >= cover.from.height && height <= upTo && !isMissing(height)),
  }
}
