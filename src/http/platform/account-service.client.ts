// Account and plan management for the operator, over D1 and the credit meters. Invariants: retries are idempotent; a
// plan change is one statement; applying it to accounts is repeatable, proceeds page by page and never shortens a
// current period; invalid input changes nothing; a plan never switches between monthly and one-time while accounts use
// it.

import { type AccountRow, AccountStore } from '../../accounts/accounts.store.ts'
import { activeKeysFromD1, putKeyHint } from '../../accounts/key-records.store.ts'
import type { MicroCredits } from '../../core/amount.ts'
import type { Failure, Issue } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { AccountMeterApi } from '../../metering/meter-api.ts'
import { type AccountTerms, effectiveTerms, type ListedPlan, PLANS, type Plan } from '../../metering/plans/plan.ts'
import { PlanTable, termsFrom } from '../../metering/plans/plan-table.store.ts'
import { limitsIn, type PlanChange } from './plan-shapes.ts'
import type { Accounts, PlanChoice, Plans } from './platform-api.ts'
import { badField } from './refusal.ts'

export interface AccountPorts {
  readonly db: D1Database
  readonly kv: KVNamespace
  /** `region`: location hint of a meter that this call creates. */
  meterOf(account: AccountId, region?: string | null): AccountMeterApi
  nowMs(): number
}

const LIST_MAX = 1_000
const FIRST_GRANT = 'first'

export function accountsOf({ db, kv, meterOf, nowMs }: AccountPorts): Accounts {
  const store = new AccountStore(db)
  const plans = new PlanTable(db)

  const absent = async (id: string) => unknownAccount(id, nearestName(id, await store.accountIds(LIST_MAX)))
  const missing = async (id: string) => ((await store.account(id)) === null ? absent(id) : null)

  const open = openingOf(store, plans, { meterOf, nowMs })

  return {
    missingFailure: missing,
    async ensure(id, choice, opening) {
      const allowed = await allowedPlan(plans, choice)
      return allowed.ok ? open(id, choice, opening) : allowed
    },
    ensurePrepaid: (id, plan, region) => open(id, { plan, terms: { micro: 0 } }, { region }),
    async account(id) {
      const row = await store.account(id)
      if (row === null) return err(await absent(id))
      const meter = meterOf(id)
      const [sums, period] = await Promise.all([meter.balance(), meter.plan()])
      return ok({ plan: row.plan, terms: termsFrom(row.terms), created: row.created, sums, period })
    },
    async changePlan(id, choice) {
      const plan = await allowedPlan(plans, choice)
      if (!plan.ok) return plan
      if (!(await store.setPlan(id, choice.plan, termsText(choice.terms)))) {
        return err((await missing(id)) ?? unknownPlan(choice.plan))
      }
      const order = { plan: choice.plan, terms: effectiveTerms(plan.value, choice.terms), firstMicro: null }
      const state = await meterOf(id).changePlan(order)
      // Key records contain the plan's limits.
      for (const key of await activeKeysFromD1(db, id, LIST_MAX)) await putKeyHint(kv, key)
      return ok(state)
    },
    async grant(account, id, micro, call) {
      const none = await missing(account)
      if (none !== null) return err(none)
      const answer = await meterOf(account).grantCredits(`grant:${id}`, micro, call)
      if (!answer.ok) {
        if (answer.reason === 'conflict') {
          return err({
            kind: 'conflict',
            message: 'idempotency_key: was already used with a different amount. Send a new key for a new grant',
          })
        }
        return err(badField('credits', 'exceeds the maximum sum of grants'))
      }
      await store.addGrant(account, `grant:${id}`, micro, nowMs())
      return ok({ repeated: answer.repeated, account: answer.account })
    },
  }
}

/** Creates accounts on a plan that was checked. */
function openingOf(
  store: AccountStore,
  plans: PlanTable,
  { meterOf, nowMs }: Pick<AccountPorts, 'meterOf' | 'nowMs'>,
): Accounts['ensure'] {
  /** Starts the plan in the meter. Explicit `credits` replace those of the first period and do not expire. */
  async function begin({ id, terms }: AccountRow, plan: ListedPlan, meter: AccountMeterApi, credits?: MicroCredits) {
    const isNew = (await meter.balance()).granted === 0
    if (credits !== undefined) {
      const answer = await meter.grantCredits(FIRST_GRANT, credits)
      if (answer.ok && !answer.repeated) await store.addGrant(id, FIRST_GRANT, credits, nowMs())
    }
    // An account that predates plan periods already got its first credits.
    const firstMicro = credits === undefined && isNew ? null : 0
    await meter.beginPlan({ plan: plan.name, terms: effectiveTerms(plan, termsFrom(terms)), firstMicro })
  }

  return async (id, choice, { credits, region } = {}) => {
    const created = await store.ensureAccount(id, choice.plan, termsText(choice.terms), nowMs())
    const meter = meterOf(id, region)
    // Applies to an existing row as well, because an earlier attempt may have stopped between D1 and the meter.
    if ((await meter.plan()) === null) {
      const row = await store.account(id)
      const plan = row === null ? null : await plans.named(row.plan)
      if (row === null || plan === null) return err(unknownPlan(choice.plan))
      await begin(row, plan, meter, credits)
    }
    return ok({ created, account: await meter.balance() })
  }
}

/** The plan, if it exists and allows these terms. */
async function allowedPlan(plans: PlanTable, { plan, terms }: PlanChoice): Promise<Result<ListedPlan, Failure>> {
  const row = await plans.named(plan)
  if (row === null) {
    const names = (await plans.list()).map(({ name }) => name)
    return err(unknownPlan(plan, nearestName(plan, names)))
  }
  if (!row.custom && termsText(terms) !== null) {
    return err(badField('terms', `are not allowed: "${plan}" is not a custom plan`))
  }
  return ok(row)
}

function unknownPlan(name: string, meant?: string): Failure {
  const question = meant === undefined ? '' : ` (did you mean "${meant}"?)`
  return badField('plan', `does not exist: "${name}"${question}. GET /admin/plans lists all plans`)
}

function termsText(terms: AccountTerms): string | null {
  return Object.keys(terms).length === 0 ? null : JSON.stringify(terms)
}

/** `meant`: a similar account name. */
function unknownAccount(id: string, meant?: string): Failure {
  const question = meant === undefined ? '.' : `; did you mean "${meant}"?`
  return { kind: 'not_found', what: 'This account', hint: `The account "${id}" does not exist${question}` }
}

const PLANS_MAX = 100
/**
 * Accounts per `apply` call, and keys per account whose records are refreshed immediately; the rest follow within an
 * hour.
 */
const APPLY_PAGE_SIZE = 10
const HINT_REFRESH_MAX = 50

export function plansOf(ports: Omit<AccountPorts, 'nowMs'>): Plans {
  const table = new PlanTable(ports.db)
  return {
    list: () => table.list(),
    existing: (names) => table.existing(names),
    async set(name, change) {
      const plans = await table.list()
      const before = plans.find((plan) => plan.name === name) ?? null
      if (before === null && plans.length >= PLANS_MAX) {
        return err({ kind: 'conflict', message: `name: the gateway already has ${PLANS_MAX} plans. Remove one first` })
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
      const message = `name: ${plan.accounts} accounts use this plan. Move them to another plan first`
      return err({ kind: 'conflict', message })
    },
    async apply(name, after) {
      const plan = await table.named(name)
      if (plan === null) return err({ kind: 'not_found', what: 'This plan' })
      const accounts = await table.accountsOn(name, after, APPLY_PAGE_SIZE)
      for (const { id, terms } of accounts) {
        const { micro, period } = effectiveTerms(plan, terms)
        if (period === 'month') await ports.meterOf(id).renewWith(name, micro)
        await ports.meterOf(id).noteChange(null)
        const keys = await activeKeysFromD1(ports.db, id, HINT_REFRESH_MAX)
        await Promise.all(keys.map((key) => putKeyHint(ports.kv, key)))
      }
      return ok({
        told: accounts.length,
        next: accounts.length < APPLY_PAGE_SIZE ? null : (accounts.at(-1)?.id ?? null),
      })
    },
  }
}

/** The plan after the change; `before` is null for a new plan. */
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
      message: 'is required for a new plan. Send an integer, or null for no limit',
    })
  }
  const periodNow = period ?? before?.terms.period ?? 'month'
  if (before !== null && before.accounts > 0 && periodNow !== before.terms.period) {
    issues.push({ path: 'period', message: `cannot change while ${before.accounts} accounts use the plan` })
  }
  const daysNow = days === undefined && periodNow === 'once' ? (before?.terms.days ?? null) : (days ?? null)
  if (daysNow !== null && periodNow === 'month') {
    issues.push({ path: 'days', message: 'is allowed only with period "once"; monthly plans renew' })
  }
  if (micro === undefined || issues.length > 0) return err(issues)
  return ok({
    name,
    terms: { micro, period: periodNow, days: daysNow },
    limits: { ...(before?.limits ?? PLANS.entry.limits), ...limitsIn(limits) },
    custom: custom ?? before?.custom ?? false,
  })
}
