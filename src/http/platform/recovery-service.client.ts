// Export, import and reconciliation of accounts, over D1 and the meters (src/metering/reconciliation.ts has the rules).
// Invariants: every call handles a few accounts; each repetition continues where the last one stopped, and changes
// nothing that is done.

import { AccountStore } from '../../accounts/accounts.store.ts'
import { type AccountRows, type ExportedAccount, RECOVERY_PAGE } from '../../accounts/exported-account.ts'
import { RecoveryStore } from '../../accounts/recovery.store.ts'
import { keyHashOf } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { remainingOf } from '../../metering/account-state.ts'
import { effectiveTerms } from '../../metering/plans/plan.ts'
import { PlanTable, termsFrom } from '../../metering/plans/plan-table.store.ts'
import { type AccountFacts, type Difference, FACTS_MAX } from '../../metering/reconciliation.ts'
import type { AccountPorts } from './account-service.client.ts'
import type { Recovery } from './platform-api.ts'
import { badField, type Refusal } from './refusal.ts'

interface RecoveryPorts extends AccountPorts {
  /** D1 USAGE. */
  readonly usage: D1Database
}

type Reconciled = Awaited<ReturnType<Recovery['reconcile']>>[number]

export class RecoveryService implements Recovery {
  readonly #ports: RecoveryPorts
  readonly #store: RecoveryStore
  readonly #accounts: AccountStore

  constructor(ports: RecoveryPorts) {
    this.#ports = ports
    this.#store = new RecoveryStore(ports.db)
    this.#accounts = new AccountStore(ports.db)
  }

  async export(after: string): Promise<readonly ExportedAccount[]> {
    const rows = await this.#store.page(after, RECOVERY_PAGE, FACTS_MAX)
    return Promise.all(
      rows.map(async (row) => ({ ...row, balance: remainingOf(await this.#ports.meterOf(row.account).balance()) })),
    )
  }

  async reconcile(after: string, apply: boolean): Promise<readonly Reconciled[]> {
    const rows = await this.#store.page(after, RECOVERY_PAGE, FACTS_MAX)
    return Promise.all(rows.map((row) => this.#reconcile(row, apply)))
  }

  async #reconcile(row: AccountRows, apply: boolean): Promise<Reconciled> {
    const { account } = row
    const facts = factsOf(row, await this.#store.used(this.#ports.usage, row.keys))
    const differences = await this.#ports.meterOf(account).reconcile(facts, apply)
    if (apply) for (const difference of differences) await this.#repair(account, difference)
    return { account, differences }
  }

  async #repair(account: string, { what, id, meter, repair }: Difference): Promise<void> {
    if (repair !== 'd1') return
    const now = this.#ports.nowMs()
    if (what === 'grant') await this.#accounts.addGrant(account, id, Number(meter), now)
    else if (what === 'revoked') await this.#accounts.revokeKey(keyHashOf(id), now)
    else if (what === 'cap' || what === 'expires') await this.#store.limitKey(keyHashOf(id), what, Number(meter))
  }

  /** Returns false if another account has this name, which then stays unchanged. */
  async import({ balance, ...rows }: ExportedAccount): Promise<Result<boolean, Refusal>> {
    const { account, created } = rows
    const plan = await new PlanTable(this.#ports.db).named(rows.plan)
    if (plan === null) return err(badField('plan', `does not exist: "${rows.plan}". Create the plan first`))
    const before = await this.#accounts.account(account)
    if (before !== null && before.created !== created) return ok(false)
    await this.#store.add(rows)
    const grants = rows.grants.map(({ id, micro, created: atMs }) => ({ id, micro, atMs }))
    const terms = effectiveTerms(plan, termsFrom(rows.terms))
    await this.#ports.meterOf(account).adopt(balance, grants, { plan: plan.name, terms, firstMicro: 0 })
    const stored = await this.#store.account(account, FACTS_MAX)
    // Also records the grant of the balance in D1.
    if (stored !== null) await this.#reconcile(stored, true)
    return ok(true)
  }
}

function factsOf({ plan, grants, keys }: AccountRows, used: number): AccountFacts {
  return {
    plan,
    used,
    grants: grants.map(({ id, micro, created: atMs }) => ({ id, micro, atMs })),
    keys: keys.map(({ hash, revoked, expires, cap, replaces }) => ({
      hash: keyHashOf(hash),
      isRevoked: revoked !== null,
      expiresMs: expires,
      cap,
      replaces: replaces === null ? null : keyHashOf(replaces),
    })),
  }
}
