// Plan credits expire with their period; granted credits do not. Plan credits are spent first. Invariants
// (test/metering/plans/plan-period.test.ts): granted credits never expire; a period's credits are given once; skipped
// months are not made up for.

import type { MicroCredits } from '../../core/amount.ts'
import type { AccountState } from '../account-state.ts'
import type { LedgerEvent } from '../ledger.ts'
import { daysAfter, renewalAfter } from './calendar.ts'
import type { PlanTerms } from './plan.ts'

/** Plan state of an account. Times are Unix ms. */
export interface PlanState {
  readonly plan: string
  /** Start of the plan; its day of the month is the renewal day. */
  readonly anchorMs: number
  readonly sinceMs: number
  /** End of the period; null if it has none, as after a trial or for one-time credits. */
  readonly untilMs: number | null
  readonly micro: MicroCredits
  /** Credits of each later period of a renewing plan. */
  readonly everyMicro: MicroCredits
  readonly renews: boolean
  /** Spent and held credits at the start of the period. */
  readonly usedBefore: MicroCredits
}

/** Balance events in order, and the resulting plan. `expired` is what the ended period had left. */
export interface PlanDecision {
  readonly events: readonly LedgerEvent[]
  readonly state: PlanState
  readonly expired: MicroCredits
}

/** A plan with this account's terms. */
export interface PlanInput {
  readonly plan: string
  readonly terms: PlanTerms
  readonly firstMicro: MicroCredits | null
}

/**
 * Starts a plan that replaces `before`: the remaining credits of `before` expire, the new credits are granted in full,
 * and today becomes the renewal day. Null if the same plan with the same terms is active.
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

/** Ends a period that is over and starts the next; null while it lasts. */
export function decideRenewal(account: AccountState, state: PlanState, nowMs: number): PlanDecision | null {
  if (state.untilMs === null || nowMs < state.untilMs) return null
  const next = { ...state, sinceMs: state.untilMs }
  if (!state.renews) return startPeriod(account, state, { ...next, untilMs: null, micro: 0 })
  return startPeriod(account, state, { ...next, untilMs: renewalAfter(state.anchorMs, nowMs), micro: state.everyMicro })
}

/** Unspent plan credits of the period, at most what it granted. */
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
