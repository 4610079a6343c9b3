// What a plan is after an operator's change. Laws: nothing is changed where anything is wrong; accounts keep the kind of
// plan that they were put on.

import type { Issue } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type ListedPlan, PLANS, type Plan } from '../credit/plans/plan.ts'
import { limitsIn, type PlanChange } from './plan-shapes.ts'

/** The plan of this name with the change made; `before` is null for a new one. */
export function changedPlan(
  name: string,
  before: ListedPlan | null,
  { credits, period, days, custom, ...limits }: PlanChange,
): Result<Plan, readonly Issue[]> {
  const issues: Issue[] = []
  const micro = credits ?? before?.terms.micro
  if (micro === undefined) issues.push({ path: 'credits', message: 'is required for a new plan' })
  if (before === null && limits.rest_requests_per_second === undefined) {
    issues.push({
      path: 'rest_requests_per_second',
      message: 'is required for a new plan: an integer, or null for no limit',
    })
  }
  const periodNow = period ?? before?.terms.period ?? 'month'
  if (before !== null && before.accounts > 0 && periodNow !== before.terms.period) {
    issues.push({ path: 'period', message: `cannot change while the plan has accounts (${before.accounts})` })
  }
  const daysNow = days === undefined && periodNow === 'once' ? (before?.terms.days ?? null) : (days ?? null)
  if (daysNow !== null && periodNow === 'month') {
    issues.push({ path: 'days', message: 'only for the period "once": one of a month renews' })
  }
  if (micro === undefined || issues.length > 0) return err(issues)
  return ok({
    name,
    terms: { micro, period: periodNow, days: daysNow },
    limits: { ...(before?.limits ?? PLANS.entry.limits), ...limitsIn(limits) },
    custom: custom ?? before?.custom ?? false,
  })
}
