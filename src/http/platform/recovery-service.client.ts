// Export, import and reconciliation of accounts, over D1 and the meters (src/metering/reconciliation.ts has the rules).
// Invariants: every call handles a few accounts; each repetition continues where the last one stopped, and changes
// nothing that is done.

import { AccountStore } from '../../accounts/accounts.store.ts'
import { sha256 } from '../../accounts/digest.client.ts'
import { type AccountRows, type ExportedAccount, IMPORT_GRANT, RECOVERY_PAGE } from '../../accounts/exported-account.ts'
import { RecoveryStore } from '../../accounts/recovery.store.ts'
import { type AccountId, keyHashOf } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { remainingOf } from '../../metering/account-state.ts'
import { effectiveTerms } from '../../metering/plans/plan.ts'
import { PlanTable, termsFrom } from '../../metering/plans/plan-table.store.ts'
import { type AccountFacts, type Difference, FACTS_MAX } from '../../metering/reconciliation.ts'
import type { AccountPorts } from './account-service.client.ts'
import type { Recovery, RecoveryPage } from './platform-api.ts'
import { badField, type Refusal } from './refusal.ts'

interface RecoveryPorts extends AccountPorts {
  /** D1 USAGE. */
  readonly usage: D1Database
  /** Reports the failure of one account. */
  report(account: AccountId, error: unknown): void
}

type Reconciled = Awaited<ReturnType<Recovery['reconcile']>>['done'][number]
type Region = Parameters<Recovery['import']>[1]

export class RecoveryService implements Recovery {
  readonly #ports: RecoveryPorts
  readonly #store: RecoveryStore
  readonly #accounts: AccountStore

  constructor(ports: RecoveryPorts) {
    this.#ports = ports
    this.#store = new RecoveryStore(ports.db)
    this.#accounts = new AccountStore(ports.db)
  }

  export(after: string): Promise<RecoveryPage<ExportedAccount>> {
    return this.#page(after, async (row) => ({
      ...row,
      balance: remainingOf(await this.#ports.meterOf(row.account).balance()),
    }))
  }

  reconcile(after: string, apply: boolean): Promise<RecoveryPage<Reconciled>> {
    return this.#page(after, (row) => this.#reconcile(row, apply))
  }

  /** Handles the next accounts. One that fails does not affect the others. */
  async #page<T>(after: string, run: (row: AccountRows) => Promise<T>): Promise<RecoveryPage<T>> {
    const names = await this.#store.names(after, RECOVERY_PAGE)
    const failed: AccountId[] = []
    const one = async (account: AccountId) => {
      try {
        const row = await this.#rows(account)
        return row === null ? [] : [await run(row)]
      } catch (error) {
        failed.push(account)
        this.#ports.report(account, error)
        return []
      }
    }
    const done = await Promise.all(names.map(one))
    return { done: done.flat(), failed, next: names.length < RECOVERY_PAGE ? null : (names.at(-1) ?? null) }
  }

  #rows(account: AccountId): Promise<AccountRows | null> {
    return this.#store.account(account, FACTS_MAX, this.#ports.nowMs())
  }

  async #facts(row: AccountRows): Promise<AccountFacts> {
    return factsOf(row, await this.#store.used(this.#ports.usage, row))
  }

  async #reconcile(row: AccountRows, apply: boolean): Promise<Reconciled> {
    const { account } = row
    const meter = this.#ports.meterOf(account)
    await meter.copyUsage()
    const differences = await meter.reconcile(await this.#facts(row), apply)
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

  /**
   * Returns false if another account has this name, which then stays unchanged. The meter is first: until D1 has the
   * account, nothing can give its old grants again.
   */
  async import({ balance, ...rows }: ExportedAccount, region: Region): Promise<Result<boolean, Refusal>> {
    const { account, created } = rows
    const plan = await new PlanTable(this.#ports.db).named(rows.plan)
    if (plan === null) return err(badField('plan', `does not exist: "${rows.plan}". Create the plan first`))
    const before = await this.#accounts.account(account)
    if (before !== null && before.created !== created) return ok(false)
    const id = `${IMPORT_GRANT}${await sha256(JSON.stringify({ ...rows, balance }))}`
    const terms = effectiveTerms(plan, termsFrom(rows.terms))
    const facts = await this.#facts(rows)
    const order = { plan: plan.name, terms, firstMicro: 0 }
    if (!(await this.#ports.meterOf(account, region).adopt({ id, balance, plan: order, facts }))) return err(IN_USE)
    await this.#store.add({ ...rows, grants: [...rows.grants, { id, micro: balance, created: this.#ports.nowMs() }] })
    const stored = await this.#rows(account)
    if (stored !== null) await this.#reconcile(stored, true)
    return ok(true)
  }
}

const IN_USE: Refusal = {
  kind: 'conflict',
  message:
    'account: its meter already has a plan or credits, and not from this export. Nothing was imported. Add missing credits with a grant',
}

function factsOf({ plan, grants, keys }: AccountRows, used: ReadonlyMap<string, number>): AccountFacts {
  return {
    plan,
    used: [...used.values()].reduce((sum, micro) => sum + micro, 0),
    grants: grants.map(({ id, micro, created: atMs }) => ({ id, micro, atMs })),
    keys: keys.map(({ hash, revoked, expires, cap, replaces }) => ({
      hash: keyHashOf(hash),
      isRevoked: revoked !== null,
      expiresMs: expires,
      cap,
      replaces: replaces === null ? null : keyHashOf(replaces),
      used: used.get(hash) ?? 0,
    })),
  }
}
