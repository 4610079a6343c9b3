// The credits of a plan, which end with its period, beside those that were granted, which do not. A plan's credits are
// spent first. Laws (test/metering/plans/plan-period.test.ts): what was granted beside the plan never expires; a period's
// credits are given once; months that nobody looked at are made up for by the present one alone.

import type { MicroCredits } from '../../core/amount.ts'
import type { AccountState } from '../account-state.ts'
import type { LedgerEvent } from '../ledger.ts'
import { daysAfter, renewalAfter } from './calendar.ts'
import type { PlanTerms } from './plan.ts'

/** Where an account stands in its plan. Times are Unix ms. */
export interface PlanState {
  readonly plan: string
  /** When the plan began: its day of the month is the account's day. */
  readonly anchorMs: number
  readonly sinceMs: number
  /** End of the period, null where it has none: an ended trial, or credits once and for good. */
  readonly untilMs: number | null
  readonly micro: MicroCredits
  /** Given for each later one, which come only where the plan renews. */
  readonly everyMicro: MicroCredits
  readonly renews: boolean
  /** Spent and held of the account when the period began. */
  readonly usedBefore: MicroCredits
}

/** What happens to the balance, in order, and the plan after it; `expired` is what the ended period had left. */
export interface PlanDecision {
  readonly events: readonly LedgerEvent[]
  readonly state: PlanState
  readonly expired: MicroCredits
}

/** What an operator orders: a plan with the terms that hold for this account. */
export interface PlanInput {
  readonly plan: string
  readonly terms: PlanTerms
  readonly firstMicro: MicroCredits | null
}

/**
 * Begins a plan now, in place of `before`: what that has left expires, the new one's credits are given in full, and
 * today becomes the account's day. Null where the same plan with the same terms runs already.
 */
export function decidePlan(
  account: AccountState,
  before: PlanState | null,
  { plan, terms, firstMicro }: PlanInput,
  nowMs: number,
): PlanDecision | null {
  const renews = terms.period === 'month'
  const everyMicro = renews ? terms.micro : 0
  if (before?.plan === plan && before.renews === renews && before.everyMicro === everyMicro) return null
  const endMs = terms.days === null ? null : daysAfter(nowMs, terms.days)
  const untilMs = renews ? renewalAfter(nowMs, nowMs) : endMs
  const micro = firstMicro ?? terms.micro
  return startPeriod(account, before, { plan, anchorMs: nowMs, sinceMs: nowMs, untilMs, micro, everyMicro, renews })
}

/** The end of a period that is over, and what follows; null while it lasts. */
export function decideRenewal(account: AccountState, state: PlanState, nowMs: number): PlanDecision | null {
  if (state.untilMs === null || nowMs < state.untilMs) return null
  const next = { ...state, sinceMs: state.untilMs }
  if (!state.renews) return startPeriod(account, state, { ...next, untilMs: null, micro: 0 })
  return startPeriod(account, state, { ...next, untilMs: renewalAfter(state.anchorMs, nowMs), micro: state.everyMicro })
}

/** What the period has left of its own credits; never more than it gave. */
export function unspentOfPlan(account: AccountState, { micro, usedBefore }: PlanState): MicroCredits {
  const used = Math.max(0, account.spent + account.held - usedBefore)
  return Math.min(account.available, Math.max(0, micro - used))
}

function startPeriod(
  account: AccountState,
  before: PlanState | null,
  next: Omit<PlanState, 'usedBefore'>,
): PlanDecision {
  const expired = before === null ? 0 : unspentOfPlan(account, before)
  const events: LedgerEvent[] = []
  if (expired > 0) events.push({ type: 'expired', amount: expired })
  if (next.micro > 0) events.push({ type: 'granted', amount: next.micro })
  return { events, expired, state: { ...next, usedBefore: account.spent + account.held } }
}
