// How much is left of the visitors' budget, in the meter of the account that pays for them. Invariant: written in the
// transaction of the decision that spends it; an account without visitors pays nothing for it.

import type { MicroCredits } from '../core/amount.ts'
import { Tables } from '../core/tables.store.ts'
import { budgetNow, budgetWaitMs, type VisitorBudget } from './visitor-budget.ts'

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
