// `folder.json`, which marks the state folder of `weir serve`. Invariants: an older Weir never opens a folder that a newer
// one has used, because migrations only go forward; a clock that was set back does not reach leases and grants.

import * as z from 'zod'

export const FolderMark = z.object({
  /** The newest version that has used the folder. */
  version: z.string(),
  /** Last time at which the gateway is known to have run, Unix ms. */
  lastMs: z.number(),
})
export type FolderMark = z.infer<typeof FolderMark>

/** Time sync may move a clock a little. */
const CLOCK_TOLERANCE_MS = 60_000

/** Why this version must not use the folder now. Null: it may. */
export function markFault(mark: FolderMark, version: string, nowMs: number): string | null {
  if (compareVersions(mark.version, version) > 0)
    return `was used by Weir ${mark.version}, and this is ${version}. Install ${mark.version} or newer, or restore a backup of the older version.`
  if (nowMs < mark.lastMs - CLOCK_TOLERANCE_MS)
    return `was used at ${iso(mark.lastMs)}, and the clock of this machine says ${iso(nowMs)}. Correct the clock, or pass --accept-clock if the folder's time was wrong.`
  return null
}

/** Orders versions such as 0.2.0 by their numbers. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(/[.-]/).slice(0, 3).map(Number))
  for (let i = 0; i < 3; i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const iso = (ms: number) => new Date(ms).toISOString()
