// The gateway's clock, by which all times on the pages are. A device may be hours wrong.

/** A `Date` header has whole seconds, and a response may take some. */
const TOLERANCE_MS = 10_000

let aheadMs = 0

/** Adopts the time of a response that no cache stored. `date` is its `Date` header. */
export function adoptServerTime(date: string | null): void {
  const differenceMs = Date.parse(date ?? '') - Date.now()
  if (Number.isNaN(differenceMs)) return
  aheadMs = Math.abs(differenceMs) > TOLERANCE_MS ? differenceMs : 0
}

export const nowMs = (): number => Date.now() + aheadMs
