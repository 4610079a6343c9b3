// Decides how much of a gap the archive has from other sources.

import type { GapOutcome } from '../protocol/feed/archive-api.ts'
import type { GapRepair, SkippedHeights } from '../protocol/feed/status-shape.ts'

/** `outcomes`: ranges that do not overlap; null: there is no archive. */
export function repairOf(gap: SkippedHeights, outcomes: readonly GapOutcome[] | null): GapRepair {
  if (outcomes === null) return { repair: null, repairedFrom: [] }
  const inside = outcomes.filter(({ from, to }) => from <= gap.to && to >= gap.from)
  const count = (ranges: readonly GapOutcome[]) =>
    ranges.reduce((sum, { from, to }) => sum + Math.min(to, gap.to) - Math.max(from, gap.from) + 1, 0)
  const repaired = inside.filter(({ source }) => source !== null)
  const repairedFrom = [...new Set(repaired.flatMap(({ source }) => source ?? []))].sort()
  const heights = gap.to - gap.from + 1
  if (count(repaired) === heights) return { repair: 'repaired', repairedFrom }
  if (count(inside) === heights) return { repair: 'beyond_repair', repairedFrom }
  return { repair: repaired.length > 0 ? 'partly_repaired' : 'open', repairedFrom }
}
