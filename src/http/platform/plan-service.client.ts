// What an operator does with plans. Laws: a change of a plan is one statement; telling it to the accounts on the plan is
// repeatable, page by page, and takes nothing from a period that runs; nothing is changed where anything is wrong; accounts
// keep the kind of plan that they were put on.

import { liveKeysFromD1, putKeyHint } from '../../accounts/key-records.store.ts'
import type { Issue } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { AccountMeterApi } from '../../metering/meter-api.ts'
import { agreedTerms, type ListedPlan, PLANS, type Plan } from '../../metering/plans/plan.ts'
import { PlanTable } from '../../metering/plans/plan-table.store.ts'
import { limitsIn, type PlanChange } from './plan-shapes.ts'
import type { Plans } from './platform-api.ts'

export interface PlanPorts {
  readonly db: D1Database
  readonly kv: KVNamespace
  meterOf(account: string): AccountMeterApi
}

const PLANS_MAX = 100
/** Accounts told at a time, and keys of each whose records are renewed at once; others follow within the hour. */
const PAGE = 10
const KEYS_AT_ONCE = 50

export function plansOf(ports: PlanPorts): Plans {
  const table = new PlanTable(ports.db)
  return {
    list: () => table.list(),
    async set(name, change) {
      const plans = await table.list()
      const before = plans.find((plan) => plan.name === name) ?? null
      if (before === null && plans.length >= PLANS_MAX) {
        return err({ kind: 'conflict', message: `name: there are ${PLANS_MAX} plans already, remove one` })
      }
      const after = changedPlan(name, before, change)
      if (!after.ok) return err({ kind: 'bad_field', issues: after.error })
      await table.put(after.value)
      return ok({ ...after.value, accounts: before?.accounts ?? 0 })
    },
    async remove(name) {
      if (await table.remove(name)) return ok(undefined)
      const plan = await table.named(name)
      if (plan === null) return err({ kind: 'not_found', what: 'This plan' })
      const message = `name: the plan has accounts (${plan.accounts}), put them on another first`
      return err({ kind: 'conflict', message })
    },
    async apply(name, after) {
      const plan = await table.named(name)
      if (plan === null) return err({ kind: 'not_found', what: 'This plan' })
      const accounts = await table.accountsOn(name, after, PAGE)
      for (const { id, terms } of accounts) {
        const { micro, period } = agreedTerms(plan, terms)
        if (period === 'month') await ports.meterOf(id).renewWith(name, micro)
        await ports.meterOf(id).noteChange(null)
        const keys = await liveKeysFromD1(ports.db, id, KEYS_AT_ONCE)
        await Promise.all(keys.map((key) => putKeyHint(ports.kv, key)))
      }
      return ok({ told: accounts.length, next: accounts.length < PAGE ? null : (accounts.at(-1)?.id ?? null) })
    },
  }
}

/** The plan of this name with the change made; `before` is null for a new one. */
function changedPlan(
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
