// What an operator does with keys, over D1, KV and the meters. Law: a revoked key is told to the meter first, then D1,
// then KV, so that what still believes in it can spend nothing.

import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { MicroCredits } from '../credit/meter-api.ts'
import type { Terms } from '../credit/plan.ts'
import { AccountStore, type KeyChange } from '../key/accounts.store.ts'
import { hashKey, mintKey } from '../key/digest.client.ts'
import { displayPrefix, type KeyKind, randomBase58 } from '../key/format.ts'
import type { Product } from '../key/identity.ts'
import { keyFromD1, putKeyHint } from '../key/key-records.store.ts'
import type { KeyRow } from '../key/key-row.ts'
import { PRODUCTS_OF_KIND } from '../key/record.ts'
import { AccountsDesk, type DeskPorts } from './accounts-desk.client.ts'
import { badField } from './refusal.ts'

export interface KeyPorts extends DeskPorts {
  readonly keySecret: string
}

export interface KeyOrder {
  /** Left out: a new account with `plan`, `terms` and `credits`. */
  readonly account?: string | undefined
  readonly credits?: MicroCredits | undefined
  readonly plan?: string | undefined
  readonly terms?: Terms | undefined
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

/** A key by its hash or its shown prefix; where an account is named, one of another account is none. */
export interface NamedKey {
  readonly name: string
  readonly account?: string | undefined
}

const LIST_MAX = 1_000

export class KeysDesk {
  readonly #ports: KeyPorts
  readonly #store: AccountStore

  constructor(ports: KeyPorts) {
    this.#ports = ports
    this.#store = new AccountStore(ports.db)
  }

  async create(order: KeyOrder): Promise<Result<IssuedKey, Failure>> {
    const products = order.products ?? PRODUCTS_OF_KIND[order.kind]
    const beyond = notOfKind(order.kind, products)
    if (beyond !== null) return err(beyond)
    const account = await this.#accountFor(order)
    if (!account.ok) return account
    return ok(await this.#issue({ ...order, account: account.value, products }))
  }

  /** The account that the key is for; a new one where none is named. */
  async #accountFor({ account, plan = 'trial', terms = {}, credits }: KeyOrder): Promise<Result<string, Failure>> {
    if (account !== undefined) {
      if ((await this.#store.account(account)) === null) return err(badField('account', 'there is no such account'))
      return ok(account)
    }
    const id = `acct_${randomBase58(12, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))}`
    const made = await new AccountsDesk(this.#ports).ensure(id, { plan, terms }, credits)
    return made.ok ? ok(id) : made
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
  async change(key: NamedKey, change: KeyChange): Promise<Result<KeyRow, Failure>> {
    const row = await this.#named(key)
    if (!row.ok) return row
    const beyond = notOfKind(row.value.kind, change.products ?? [])
    if (beyond !== null) return err(beyond)
    if (change.cap !== undefined) await this.#ports.meterOf(row.value.account).capKey(row.value.hash, change.cap)
    await this.#store.changeKey(row.value.hash, change)
    await this.#ports.meterOf(row.value.account).noteChange(row.value.hash)
    await this.#refreshHint(row.value.hash)
    return this.#named({ name: row.value.hash })
  }

  /** A new key like the old one (with the whole of its cap), which works for `graceMs` more at most. A retry makes another new key. */
  async rotate(key: NamedKey, graceMs: number): Promise<Result<IssuedKey & { oldEndsMs: number }, Failure>> {
    const old = await this.#named(key)
    if (!old.ok) return old
    const { hash, account, kind, label, products, expires, revoked, cap } = old.value
    const now = this.#ports.nowMs()
    if (revoked !== null || (expires !== null && expires <= now)) {
      return err(badField('key', 'has ended: make a new key instead'))
    }
    const issued = await this.#issue({ account, kind, label, products, cap })
    const oldEndsMs = Math.min(expires ?? Number.POSITIVE_INFINITY, now + graceMs)
    if (graceMs === 0) await this.revoke({ name: hash })
    else await this.change({ name: hash }, { expires: oldEndsMs })
    return ok({ ...issued, oldEndsMs })
  }

  /** Of one account or of all, newest first, at most a thousand. */
  async list(account?: string): Promise<ListedKey[]> {
    const rows = await (account === undefined ? this.#store.keys(LIST_MAX) : this.#store.keysOf(account, LIST_MAX))
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
  async revoke(key: NamedKey): Promise<Result<KeyRow, Failure>> {
    const found = await this.#named(key)
    if (!found.ok) return found
    const row = found.value
    await this.#ports.meterOf(row.account).revokeKey(row.hash)
    const now = this.#ports.nowMs()
    await this.#store.revokeKey(row.hash, now)
    await this.#refreshHint(row.hash)
    return ok({ ...row, revoked: row.revoked ?? now })
  }

  async #named({ name, account }: NamedKey): Promise<Result<KeyRow, Failure>> {
    const [row, second] = await this.#store.keysNamed(name)
    if (row === undefined) return err({ kind: 'not_found', what: 'This key' })
    if (account !== undefined && second === undefined && row.account !== account) {
      return err({ kind: 'not_found', what: `This key of the account "${account}"` })
    }
    if (second === undefined) return ok(row)
    return err(badField('key', 'two keys begin like this: name the key by its hash'))
  }

  async #refreshHint(hash: string): Promise<void> {
    const record = await keyFromD1(this.#ports.db, hash)
    if (record !== null) await putKeyHint(this.#ports.kv, record)
  }
}

/** Null where a key of this kind may have all of these products. */
function notOfKind(kind: KeyKind, products: readonly Product[]): Failure | null {
  const allowed = PRODUCTS_OF_KIND[kind]
  if (products.every((product) => allowed.includes(product))) return null
  return badField('products', `a key of kind "${kind}" can have ${allowed.join(', ')}`)
}
