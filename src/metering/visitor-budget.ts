// Budget of /live visitors who have no key, paid by one account. Invariants: spending in any hour is at most the
// budget; a sixth may be spent in a burst and the rest refills evenly, so that one heavy visitor does not block others
// for long. Amounts are integers, rounded down.

import type { MicroCredits } from '../core/amount.ts'

export interface VisitorBudget {
  readonly left: MicroCredits
  readonly atMs: number
}

/** One part in this many of the hourly budget may be spent in a burst. */
const BURST_PART = 6
/** Five sixths of the budget refill in an hour. At that rate, the whole budget would take this many seconds. */
const SECONDS_OF_ALL = (3_600 * BURST_PART) / (BURST_PART - 1)

const burstOf = (perHour: MicroCredits) => Math.floor(perHour / BURST_PART)
const perSecondOf = (perHour: MicroCredits) => Math.floor(perHour / SECONDS_OF_ALL)

/** Budget at `nowMs` after refilling. If `before` is null, the budget was never used and is full. */
export function budgetNow(before: VisitorBudget | null, perHour: MicroCredits, nowMs: number): VisitorBudget {
  const burst = burstOf(perHour)
  if (before === null || nowMs < before.atMs - 60_000) return { left: burst, atMs: nowMs }
  const seconds = Math.max(0, Math.floor((nowMs - before.atMs) / 1_000))
  const secondsToFull = Math.ceil(3_600 / (BURST_PART - 1)) + 1
  const refilled = seconds > 2 * secondsToFull ? burst - Math.min(0, before.left) : seconds * perSecondOf(perHour)
  return { left: Math.min(burst, before.left + refilled), atMs: before.atMs + seconds * 1_000 }
}

/** Milliseconds until `amount` is available; 0 if it is available now. */
export function budgetWaitMs({ left }: VisitorBudget, perHour: MicroCredits, amount: MicroCredits): number {
  if (left >= amount) return 0
  return Math.max(1, Math.ceil((amount - left) / Math.max(1, perSecondOf(perHour)))) * 1_000
}
