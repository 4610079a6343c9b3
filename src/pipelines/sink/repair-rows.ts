// Rows of repaired heights: a pipeline that has passed a gap gets the rows of its heights once the archive has them, and
// rows that depend on them (reread.ts). Invariants: repairs are delivered in their order, and each once; the cursor returns
// to where it was; heights that the pipeline has not reached are left to it.

import type { ReaderState } from './batch-assembler.ts'
import type { DeliveryState, RepairedRange } from './delivery-state.ts'
import { stateAfterReread } from './reread.ts'

type RepairState = Pick<DeliveryState, 'at' | 'repair' | 'repairedTo' | 'first'>

/**
 * The state that follows from the next repair: its rows are delivered first, or it concerns no block that was read.
 * `found`: the first repair after `repairedTo`, or the newest one if `repairedTo` is null.
 */
export function afterFinding(
  { at, repairedTo, first }: Pick<DeliveryState, 'at' | 'repairedTo' | 'first'>,
  found: RepairedRange | null,
): Partial<RepairState> {
  if (repairedTo === null) return { repairedTo: found?.id ?? 0 }
  if (found === null || at === null || !('height' in at.place)) return {}
  const next = at.place.height
  const read = first ?? next
  const from = Math.max(found.from, read)
  const to = Math.min(found.to, next - 1)
  if (from > to) return { repairedTo: found.id }
  const { readFrom } = found
  const height = readFrom === undefined ? from : Math.max(readFrom, read)
  const readTo = readFrom === undefined ? to : next - 1
  const start = { place: { height }, epoch: null, timeMs: 0, fold: null }
  return { at: start, repair: { id: found.id, from, to, readTo, isReread: readFrom !== undefined, resume: at } }
}

/** The state after the last row of a repair. `after`: where reading for it has ended. */
export function afterRepair({ repair }: Pick<RepairState, 'repair'>, after: ReaderState | null): Partial<RepairState> {
  if (!repair) return {}
  const { id, isReread, resume } = repair
  return { at: isReread ? cursorAfter(resume, after) : resume, repair: null, repairedTo: id }
}

function cursorAfter(resume: ReaderState, after: ReaderState | null): ReaderState {
  const isReached =
    after && 'height' in after.place && 'height' in resume.place && after.place.height >= resume.place.height
  return isReached && after.fold !== null ? { ...resume, fold: stateAfterReread(after.fold) } : resume
}
