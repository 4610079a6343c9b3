// Rows of repaired heights: a pipeline that has passed a gap gets the rows of its heights once the archive has them.
// Invariants: repairs are delivered in their order, and each once; the cursor returns to where it was; heights that the
// pipeline has not reached are left to it.

import type { DeliveryState, RepairedRange } from './delivery-state.ts'

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
  const from = Math.max(found.from, first ?? next)
  const to = Math.min(found.to, next - 1)
  if (from > to) return { repairedTo: found.id }
  const start = { place: { height: from }, epoch: null, timeMs: 0, fold: null }
  return { at: start, repair: { id: found.id, to, resume: at } }
}

/** The state after the last row of a repair. */
export function afterRepair({ at, repair, repairedTo }: RepairState): Partial<RepairState> {
  return { at: repair?.resume ?? at, repair: null, repairedTo: repair?.id ?? repairedTo }
}
