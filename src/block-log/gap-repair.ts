// Decides how much of a gap the archive has from other sources. Invariant: a state is shown only if it is known.

import type { ArchivedGap } from '../protocol/feed/archive-api.ts'
import type { GapRepair, SkippedHeights } from '../protocol/feed/status-shape.ts'

/** The archive as its last report described it. `last`: the last height that it has or skipped; null: none. */
export interface ReportedGaps {
  readonly last: number | null
  readonly gaps: readonly ArchivedGap[]
}

/** `archive`: null if there is none, or its report is missing. */
export function repairOf(gap: SkippedHeights, archive: ReportedGaps | null): GapRepair {
  const at = (repair: GapRepair['repair'], repairedFrom: readonly string[] = []) => ({ repair, repairedFrom })
  if (archive === null) return at(null)
  // Heights above the last archived one are never repaired.
  if (gap.to > (archive.last ?? -1)) return at('open')
  const known = archive.gaps.find(({ from, to }) => from === gap.from && to === gap.to)
  if (!known) return at(null)
  const { repaired, missing, beyond, sources } = known
  const heights = gap.to - gap.from + 1
  if (repaired === heights) return at('repaired', sources)
  if (missing > beyond) return at(repaired > 0 ? 'partly_repaired' : 'open', sources)
  return at(repaired + beyond === heights ? 'beyond_repair' : null, sources)
}
