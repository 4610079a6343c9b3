// What an operator does with accounts, over D1 and the meters. Law: a retry repeats nothing.

import { type AccountRow, AccountStore } from '../../accounts/accounts.store.ts'
import { liveKeysFromD1, putKeyHint } from '../../accounts/key-records.store.ts'
import type { MicroCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import { nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { AccountState } from '../../metering/account-state.ts'
import type { AccountMeterApi } from '../../metering/meter-api.ts'
import { agreedTerms, type ListedPlan, type Terms } from '../../metering/plans/plan.ts'
import type { PlanState } from '../../metering/plans/plan-period.ts'
import { PlanTable, termsFrom } from '../../metering/plans/plan-table.store.ts'
import type { Accounts, Granted, PlanChoice, ShownAccount } from './platform-api.ts'
import { badField, type Refusal } from './refusal.ts'

export interface AccountPorts {
  readonly db: D1Database
  readonly kv: KVNamespace
  meterOf(account: string): AccountMeterApi
  nowMs(): number
}

const LIST_MAX = 1_000
const FIRST_GRANT = 'first'

export class AccountService implements Accounts {
  readonly #ports: AccountPorts
  readonly #store: AccountStore
  readonly #plans: PlanTable

  constructor(ports: AccountPorts) {
    this.#ports = ports
    this.#store = new AccountStore(ports.db)
    this.#plans = new PlanTable(ports.db)
  }

  async missing(id: string): Promise<Failure | null> {
    return (await this.#store.account(id)) === null ? this.#absent(id) : null
  }

  async #absent(id: string): Promise<Failure> {
    return noAccount(id, nearestName(id, await this.#store.accountIds(LIST_MAX)))
  }

  async ensure(
    id: string,
    choice: PlanChoice,
    credits?: MicroCredits,
  ): Promise<Result<{ readonly created: boolean; readonly account: AccountState }, Failure>> {
    const chosen = await this.#chosen(choice)
    if (!chosen.ok) return chosen
    const created = await this.#store.ensureAccount(id, choice.plan, stored(choice.terms), this.#ports.nowMs())
    const meter = this.#ports.meterOf(id)
    // Also where the row was there: a first try may have ended between D1 and the meter.
    if ((await meter.plan()) === null) {
      const row = await this.#store.account(id)
      const plan = row === null ? null : await this.#plans.named(row.plan)
      if (row === null || plan === null) return err(noPlan(choice.plan))
      await this.#begin(row, plan, meter, credits)
    }
    return ok({ created, account: await meter.balance() })
  }

  /** First credits that are given by number take the place of the first period's, and do not expire. */
  async #begin(
    { id, terms }: AccountRow,
    plan: ListedPlan,
    meter: AccountMeterApi,
    credits: MicroCredits | undefined,
  ): Promise<void> {
    const isNew = (await meter.balance()).granted === 0
    if (credits !== undefined) {
      const answer = await meter.grantCredits(FIRST_GRANT, credits)
      if (answer.ok && !answer.repeated) await this.#store.addGrant(id, FIRST_GRANT, credits, this.#ports.nowMs())
    }
    // An account of before plans had periods has had its first credits.
    const firstMicro = credits === undefined && isNew ? null : 0
    await meter.beginPlan({ plan: plan.name, terms: agreedTerms(plan, termsFrom(terms)), firstMicro })
  }

  async account(id: string): Promise<Result<ShownAccount, Failure>> {
    const row = await this.#store.account(id)
    if (row === null) return err(await this.#absent(id))
    const meter = this.#ports.meterOf(id)
    const [sums, period] = await Promise.all([meter.balance(), meter.plan()])
    return ok({ plan: row.plan, terms: termsFrom(row.terms), created: row.created, sums, period })
  }

  async changePlan(id: string, choice: PlanChoice): Promise<Result<PlanState, Failure>> {
    const plan = await this.#chosen(choice)
    if (!plan.ok) return plan
    if (!(await this.#store.setPlan(id, choice.plan, stored(choice.terms)))) {
      return err((await this.missing(id)) ?? noPlan(choice.plan))
    }
    const order = { plan: choice.plan, terms: agreedTerms(plan.value, choice.terms), firstMicro: null }
    const state = await this.#ports.meterOf(id).changePlan(order)
    // The limits of a plan travel with the keys' records.
    for (const key of await liveKeysFromD1(this.#ports.db, id, LIST_MAX)) await putKeyHint(this.#ports.kv, key)
    return ok(state)
  }

  /** The plan, if there is one and it allows what is to be agreed. */
  async #chosen({ plan, terms }: PlanChoice): Promise<Result<ListedPlan, Failure>> {
    const row = await this.#plans.named(plan)
    if (row === null) {
      const names = (await this.#plans.list()).map(({ name }) => name)
      return err(noPlan(plan, nearestName(plan, names)))
    }
    if (!row.custom && stored(terms) !== null) {
      return err(badField('terms', `only for a plan whose terms are agreed per account: "${plan}" has its own`))
    }
    return ok(row)
  }

  async grant(account: string, id: string, micro: MicroCredits): Promise<Result<Granted, Refusal>> {
    const missing = await this.missing(account)
    if (missing !== null) return err(missing)
    const answer = await this.#ports.meterOf(account).grantCredits(`grant:${id}`, micro)
    if (!answer.ok) {
      if (answer.reason === 'conflict') {
        return err({ kind: 'conflict', message: 'idempotency_key: was used before with another amount' })
      }
      return err(badField('credits', 'would make the sum of grants too large'))
    }
    await this.#store.addGrant(account, `grant:${id}`, micro, this.#ports.nowMs())
    return ok({ repeated: answer.repeated, account: answer.account })
  }
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
