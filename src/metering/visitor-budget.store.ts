// What visitors of /live, who have no key, may spend of the account that pays for them, and how much of it is left in its meter.
// Invariants: in any hour they spend at most the budget; a sixth of it may be spent at once, and the rest flows in evenly, so
// that one who spends all that there is stops nobody for long; amounts are whole: what does not divide is left out; what is
// left is written in the transaction of the decision that spends it; an account without visitors pays nothing for it.

import type { MicroCredits } from '../core/amount.ts'
import { Tables } from '../core/tables.store.ts'

export class VisitorBudgets extends Tables {
  /** What visitors may spend now; infinite where it is not visitors who spend. */
  left(perHour: MicroCredits | undefined, nowMs: number): number {
    return perHour === undefined ? Number.POSITIVE_INFINITY : this.#now(perHour, nowMs).left
  }

  /** Milliseconds until they may spend `amount`, 0 where they may now. */
  waitMs(perHour: MicroCredits, amount: MicroCredits, nowMs: number): number {
    return budgetWaitMs(this.#now(perHour, nowMs), perHour, amount)
  }

  /** They spent so much, or hold it in a lease; below nought: they gave it back. */
  spend(perHour: MicroCredits | undefined, amount: MicroCredits, nowMs: number): void {
    if (perHour === undefined || amount === 0) return
    const { left, atMs } = this.#now(perHour, nowMs)
    this.run('INSERT OR REPLACE INTO visitors VALUES (1, ?, ?)', left - amount, atMs)
  }

  #now(perHour: MicroCredits, nowMs: number): VisitorBudget {
    const row = this.first<VisitorBudget>('SELECT left_micro AS left, at AS atMs FROM visitors')
    return budgetNow(row ?? null, perHour, nowMs)
  }
}

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
