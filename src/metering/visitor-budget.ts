// What visitors of /live, who have no key, may spend of the account that pays for them. Invariants: in any hour they spend
// at most the budget; a sixth of it may be spent at once, and the rest flows in evenly, so that one who spends all that
// there is stops nobody for long. Amounts are whole: what does not divide is left out.

import type { MicroCredits } from '../core/amount.ts'

export interface VisitorBudget {
  readonly left: MicroCredits
  readonly atMs: number
}

/** Of an hour's budget, so much may be spent at once. */
const BURST_PART = 6
/** The other five sixths over the seconds of an hour. */
const SECONDS_OF_ALL = (3_600 * BURST_PART) / (BURST_PART - 1)

const burstOf = (perHour: MicroCredits) => Math.floor(perHour / BURST_PART)
const perSecondOf = (perHour: MicroCredits) => Math.floor(perHour / SECONDS_OF_ALL)

/** The budget at `nowMs`: what was left `before`, and what flowed in since. Null: nobody has spent yet, so it is full. */
export function budgetNow(before: VisitorBudget | null, perHour: MicroCredits, nowMs: number): VisitorBudget {
  const most = burstOf(perHour)
  if (before === null || nowMs < before.atMs - 60_000) return { left: most, atMs: nowMs }
  const seconds = Math.max(0, Math.floor((nowMs - before.atMs) / 1_000))
  const secondsToFull = Math.ceil(3_600 / (BURST_PART - 1)) + 1
  const flown = seconds > 2 * secondsToFull ? most - Math.min(0, before.left) : seconds * perSecondOf(perHour)
  return { left: Math.min(most, before.left + flown), atMs: before.atMs + seconds * 1_000 }
}

/** Milliseconds until there is `amount`, 0 where there is now. */
export function budgetWaitMs({ left }: VisitorBudget, perHour: MicroCredits, amount: MicroCredits): number {
  if (left >= amount) return 0
  return Math.max(1, Math.ceil((amount - left) / Math.max(1, perSecondOf(perHour)))) * 1_000
}
