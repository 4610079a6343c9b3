// What an operator does with accounts and keys, over D1, KV and the meters. Laws: a retry repeats nothing; a revoked
// key is told to the meter first, then D1, then KV, so that what still believes in it can spend nothing.

import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { AccountMeterApi, AccountState, MicroCredits } from '../credit/meter-api.ts'
import type { PlanName } from '../credit/plan.ts'
import type { PlanState } from '../credit/plan-period.ts'
import { type AccountRow, AccountStore, type KeyChange, type KeyRow } from '../key/accounts.store.ts'
import { hashKey, mintKey } from '../key/digest.client.ts'
import { displayPrefix, type KeyKind, randomBase58 } from '../key/format.ts'
import type { Product } from '../key/identity.ts'
import { keyFromD1, putKeyHint } from '../key/key-records.store.ts'
import { PRODUCTS_OF_KIND } from '../key/record.ts'

export interface DeskPorts {
  readonly db: D1Database
  readonly kv: KVNamespace
  readonly keySecret: string
  meterOf(account: string): AccountMeterApi
  nowMs(): number
}

export interface KeyOrder {
  readonly account?: string | undefined
  readonly credits?: MicroCredits | undefined
  readonly plan?: PlanName | undefined
  readonly label: string
  readonly kind: KeyKind
  readonly products?: readonly Product[] | undefined
  readonly expires?: number | undefined
  /** What the key may spend in all. */
  readonly cap?: MicroCredits | undefined
}

export interface IssuedKey {
  /** Shown this once: only its hash is kept. */
  readonly key: string
  readonly hash: string
  readonly prefix: string
  readonly account: string
  readonly kind: KeyKind
  readonly label: string
}

/** `balance` is null where the account's meter did not answer. */
export type ListedKey = KeyRow & { readonly balance: MicroCredits | null }

/** What an operator sees of an account; `plan` is null where it was made before plans had periods. */
export interface ShownAccount {
  readonly row: AccountRow
  readonly sums: AccountState
  readonly plan: PlanState | null
  readonly keys: readonly KeyRow[]
}

/** A refusal of the operator's API that no other surface has. */
export type Refusal = Failure | { readonly kind: 'conflict'; readonly message: string }

const LIST_MAX = 1_000
const FIRST_GRANT = 'first'

export class AccountsDesk {
  readonly #ports: DeskPorts
  readonly #store: AccountStore

  constructor(ports: DeskPorts) {
    this.#ports = ports
    this.#store = new AccountStore(ports.db)
  }

  /** Creates the account with its first credits (the plan's, unless given); an existing one is left as it is. */
  async ensureAccount(
    id: string,
    plan: PlanName,
    credits?: MicroCredits,
  ): Promise<{ readonly created: boolean; readonly account: AccountState }> {
    const created = await this.#store.ensureAccount(id, plan, this.#ports.nowMs())
    const meter = this.#ports.meterOf(id)
    // Also where the row was there: a first try may have ended between D1 and the meter.
    if ((await meter.plan()) === null) {
      const planned = created ? plan : ((await this.#store.planOf(id)) as PlanName)
      await this.#begin(id, meter, planned, credits)
    }
    return { created, account: await meter.balance() }
  }

  /** First credits that are given by number take the place of the first period's, and do not expire. */
  async #begin(id: string, meter: AccountMeterApi, plan: PlanName, credits: MicroCredits | undefined): Promise<void> {
    const isNew = (await meter.balance()).granted === 0
    if (credits !== undefined) {
      const answer = await meter.grantCredits(FIRST_GRANT, credits)
      if (answer.ok && !answer.repeated) await this.#store.addGrant(id, FIRST_GRANT, credits, this.#ports.nowMs())
    }
    // An account of before plans had periods has had its first credits.
    const firstMicro = credits === undefined && isNew ? null : 0
    await meter.beginPlan({ plan, firstMicro, everyMicro: null })
  }

  /** The account, its sums, its plan's period and its keys; null where there is none. */
  async account(id: string): Promise<Result<ShownAccount, Failure>> {
    const row = await this.#store.account(id)
    if (row === null) return err({ kind: 'not_found', what: 'This account' })
    const meter = this.#ports.meterOf(id)
    const [sums, plan, keys] = await Promise.all([meter.balance(), meter.plan(), this.#store.keysOf(id, LIST_MAX)])
    return ok({ row, sums, plan, keys })
  }

  /** Puts the account on a plan now: what the old one has left expires, the new one's credits are there in full. */
  async changePlan(id: string, plan: PlanName, everyMicro: MicroCredits | null): Promise<Result<PlanState, Failure>> {
    if ((await this.#store.planOf(id)) === null) return err({ kind: 'not_found', what: 'This account' })
    await this.#store.setPlan(id, plan)
    const state = await this.#ports.meterOf(id).changePlan({ plan, firstMicro: null, everyMicro })
    // The rate limits of a plan travel with the keys' records.
    for (const { hash } of await this.#store.keysOf(id, LIST_MAX)) await this.#refreshHint(hash)
    return ok(state)
  }

  async createKey(order: KeyOrder): Promise<Result<IssuedKey, Failure>> {
    let account = order.account
    if (account === undefined) {
      account = `acct_${randomBase58(12, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))}`
      await this.ensureAccount(account, order.plan ?? 'trial', order.credits)
    } else if ((await this.#store.planOf(account)) === null) {
      return err({ kind: 'bad_field', issues: [{ path: 'account', message: 'there is no such account' }] })
    }
    const products = order.products ?? PRODUCTS_OF_KIND[order.kind]
    const beyond = notOfKind(order.kind, products)
    if (beyond !== null) return err(beyond)
    return ok(await this.#issue({ ...order, account, products }))
  }

  async #issue(order: {
    readonly account: string
    readonly kind: KeyKind
    readonly label: string
    readonly products: readonly Product[]
    readonly expires?: number | undefined
    readonly cap?: MicroCredits | null | undefined
  }): Promise<IssuedKey> {
    const { account, products } = order
    const key = await mintKey(order.kind, this.#ports.keySecret)
    const shown = {
      hash: await hashKey(key),
      prefix: displayPrefix(key),
      account,
      kind: order.kind,
      label: order.label,
    }
    const expiresMs = order.expires ?? null
    const cap = order.cap ?? null
    // Before the key exists, so that it never spends without its cap.
    if (cap !== null) await this.#ports.meterOf(account).capKey(shown.hash, cap)
    await this.#store.addKey({ ...shown, products, createdMs: this.#ports.nowMs(), expiresMs, cap })
    return { key, ...shown }
  }

  /** Labels, restricts or lets expire; isolates know it within a minute. */
  async changeKey(hashOrPrefix: string, change: KeyChange): Promise<Result<KeyRow, Failure>> {
    const row = await this.#keyNamed(hashOrPrefix)
    if (!row.ok) return row
    const beyond = notOfKind(row.value.kind, change.products ?? [])
    if (beyond !== null) return err(beyond)
    if (change.cap !== undefined) await this.#ports.meterOf(row.value.account).capKey(row.value.hash, change.cap)
    await this.#store.changeKey(row.value.hash, change)
    await this.#refreshHint(row.value.hash)
    return this.#keyNamed(row.value.hash)
  }

  /** A new key like the old one (with the whole of its cap), which works for `graceMs` more at most. A retry makes another new key. */
  async rotate(hashOrPrefix: string, graceMs: number): Promise<Result<IssuedKey & { oldEndsMs: number }, Failure>> {
    const old = await this.#keyNamed(hashOrPrefix)
    if (!old.ok) return old
    const { hash, account, kind, label, products, expires, revoked, cap } = old.value
    const now = this.#ports.nowMs()
    if (revoked !== null || (expires !== null && expires <= now)) {
      const message = 'has ended: make a new key instead'
      return err({ kind: 'bad_field', issues: [{ path: 'key', message }] })
    }
    const issued = await this.#issue({ account, kind, label, products, cap })
    const oldEndsMs = Math.min(expires ?? Number.POSITIVE_INFINITY, now + graceMs)
    if (graceMs === 0) await this.revoke(hash)
    else await this.changeKey(hash, { expires: oldEndsMs })
    return ok({ ...issued, oldEndsMs })
  }

  /** Newest first, at most a thousand. */
  async keys(): Promise<ListedKey[]> {
    const rows = await this.#store.keys(LIST_MAX)
    const accounts = [...new Set(rows.map((row) => row.account))]
    const asked = await Promise.allSettled(accounts.map((account) => this.#ports.meterOf(account).balance()))
    const balances = new Map(
      accounts.map((account, i) => {
        const answer = asked[i]
        return [account, answer?.status === 'fulfilled' ? answer.value.available + answer.value.held : null]
      }),
    )
    return rows.map((row) => ({ ...row, balance: balances.get(row.account) ?? null }))
  }

  /** Revokes by hash or shown prefix; again is the same. */
  async revoke(hashOrPrefix: string): Promise<Result<KeyRow, Failure>> {
    const found = await this.#keyNamed(hashOrPrefix)
    if (!found.ok) return found
    const row = found.value
    await this.#ports.meterOf(row.account).revokeKey(row.hash)
    const now = this.#ports.nowMs()
    await this.#store.revokeKey(row.hash, now)
    await this.#refreshHint(row.hash)
    return ok({ ...row, revoked: row.revoked ?? now })
  }

  async #keyNamed(hashOrPrefix: string): Promise<Result<KeyRow, Failure>> {
    const [row, second] = await this.#store.keysNamed(hashOrPrefix)
    if (row === undefined) return err({ kind: 'not_found', what: 'This key' })
    if (second === undefined) return ok(row)
    const message = 'two keys begin like this: name the key by its hash'
    return err({ kind: 'bad_field', issues: [{ path: 'key', message }] })
  }

  async #refreshHint(hash: string): Promise<void> {
    const record = await keyFromD1(this.#ports.db, hash)
    if (record !== null) await putKeyHint(this.#ports.kv, record)
  }

  /** Adds credits once per `id`; the same id with another amount is refused. */
  async grant(account: string, id: string, micro: MicroCredits): Promise<Result<AccountState, Refusal>> {
    if ((await this.#store.planOf(account)) === null) return err({ kind: 'not_found', what: 'This account' })
    const answer = await this.#ports.meterOf(account).grantCredits(`grant:${id}`, micro)
    if (!answer.ok) {
      if (answer.reason === 'conflict') {
        return err({ kind: 'conflict', message: 'idempotency_key: was used before with another amount' })
      }
      const issue = { path: 'credits', message: 'would make the sum of grants too large' }
      return err({ kind: 'bad_field', issues: [issue] })
    }
    await this.#store.addGrant(account, `grant:${id}`, micro, this.#ports.nowMs())
    return ok(answer.account)
  }
}

/** Null where a key of this kind may have all of these products. */
function notOfKind(kind: KeyKind, products: readonly Product[]): Failure | null {
  const allowed = PRODUCTS_OF_KIND[kind]
  if (products.every((product) => allowed.includes(product))) return null
  const message = `a key of kind "${kind}" can have ${allowed.join(', ')}`
  return { kind: 'bad_field', issues: [{ path: 'products', message }] }
}
