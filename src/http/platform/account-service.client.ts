// What an operator does with accounts, over D1 and the meters. Law: a retry repeats nothing.

import { type AccountRow, AccountStore } from '../../accounts/accounts.store.ts'
import { liveKeysFromD1, putKeyHint } from '../../accounts/key-records.store.ts'
import type { MicroCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import { nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { AccountMeterApi } from '../../metering/meter-api.ts'
import { agreedTerms, type ListedPlan, type Terms } from '../../metering/plans/plan.ts'
import { PlanTable, termsFrom } from '../../metering/plans/plan-table.store.ts'
import type { Accounts, PlanChoice } from './platform-api.ts'
import { badField } from './refusal.ts'

export interface AccountPorts {
  readonly db: D1Database
  readonly kv: KVNamespace
  meterOf(account: string): AccountMeterApi
  nowMs(): number
}

const LIST_MAX = 1_000
const FIRST_GRANT = 'first'

export function accountsOf({ db, kv, meterOf, nowMs }: AccountPorts): Accounts {
  const store = new AccountStore(db)
  const plans = new PlanTable(db)

  const absent = async (id: string) => noAccount(id, nearestName(id, await store.accountIds(LIST_MAX)))
  const missing = async (id: string) => ((await store.account(id)) === null ? absent(id) : null)

  /** First credits that are given by number take the place of the first period's, and do not expire. */
  async function begin({ id, terms }: AccountRow, plan: ListedPlan, meter: AccountMeterApi, credits?: MicroCredits) {
    const isNew = (await meter.balance()).granted === 0
    if (credits !== undefined) {
      const answer = await meter.grantCredits(FIRST_GRANT, credits)
      if (answer.ok && !answer.repeated) await store.addGrant(id, FIRST_GRANT, credits, nowMs())
    }
    // An account of before plans had periods has had its first credits.
    const firstMicro = credits === undefined && isNew ? null : 0
    await meter.beginPlan({ plan: plan.name, terms: agreedTerms(plan, termsFrom(terms)), firstMicro })
  }

  return {
    missing,
    async ensure(id, choice, credits) {
      const allowed = await chosen(plans, choice)
      if (!allowed.ok) return allowed
      const created = await store.ensureAccount(id, choice.plan, stored(choice.terms), nowMs())
      const meter = meterOf(id)
      // Also where the row was there: a first try may have ended between D1 and the meter.
      if ((await meter.plan()) === null) {
        const row = await store.account(id)
        const plan = row === null ? null : await plans.named(row.plan)
        if (row === null || plan === null) return err(noPlan(choice.plan))
        await begin(row, plan, meter, credits)
      }
      return ok({ created, account: await meter.balance() })
    },
    async account(id) {
      const row = await store.account(id)
      if (row === null) return err(await absent(id))
      const meter = meterOf(id)
      const [sums, period] = await Promise.all([meter.balance(), meter.plan()])
      return ok({ plan: row.plan, terms: termsFrom(row.terms), created: row.created, sums, period })
    },
    async changePlan(id, choice) {
      const plan = await chosen(plans, choice)
      if (!plan.ok) return plan
      if (!(await store.setPlan(id, choice.plan, stored(choice.terms)))) {
        return err((await missing(id)) ?? noPlan(choice.plan))
      }
      const order = { plan: choice.plan, terms: agreedTerms(plan.value, choice.terms), firstMicro: null }
      const state = await meterOf(id).changePlan(order)
      // The limits of a plan travel with the keys' records.
      for (const key of await liveKeysFromD1(db, id, LIST_MAX)) await putKeyHint(kv, key)
      return ok(state)
    },
    async grant(account, id, micro) {
      const none = await missing(account)
      if (none !== null) return err(none)
      const answer = await meterOf(account).grantCredits(`grant:${id}`, micro)
      if (!answer.ok) {
        if (answer.reason === 'conflict') {
          return err({ kind: 'conflict', message: 'idempotency_key: was used before with another amount' })
        }
        return err(badField('credits', 'would make the sum of grants too large'))
      }
      await store.addGrant(account, `grant:${id}`, micro, nowMs())
      return ok({ repeated: answer.repeated, account: answer.account })
    },
  }
}

/** The plan, if there is one and it allows what is to be agreed. */
async function chosen(plans: PlanTable, { plan, terms }: PlanChoice): Promise<Result<ListedPlan, Failure>> {
  const row = await plans.named(plan)
  if (row === null) {
    const names = (await plans.list()).map(({ name }) => name)
    return err(noPlan(plan, nearestName(plan, names)))
  }
  if (!row.custom && stored(terms) !== null) {
    return err(badField('terms', `only for a plan whose terms are agreed per account: "${plan}" has its own`))
  }
  return ok(row)
}

function noPlan(name: string, meant?: string): Failure {
  const question = meant === undefined ? '' : ` (did you mean "${meant}"?)`
  return badField('plan', `there is no plan "${name}"${question}; GET /admin/plans lists them`)
}

function stored(terms: Terms): string | null {
  return Object.keys(terms).length === 0 ? null : JSON.stringify(terms)
}

/** `meant`: the account that is probably meant. */
function noAccount(id: string, meant?: string): Failure {
  const question = meant === undefined ? '.' : `; did you mean "${meant}"?`
  return { kind: 'not_found', what: 'This account', hint: `The account "${id}" does not exist${question}` }
}
