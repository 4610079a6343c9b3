// Key management over D1, KV and the credit meters. Invariant: a revocation goes to the meter first, then D1, then KV,
// so that caches that still accept the key cannot spend.

import { AccountStore, type Successor } from '../../accounts/accounts.store.ts'
import { hashKey, mintKey } from '../../accounts/digest.client.ts'
import { displayPrefix } from '../../accounts/format.ts'
import type { Product } from '../../accounts/identity.ts'
import { PRODUCTS_OF_KIND } from '../../accounts/key-record.ts'
import { keyFromD1, putKeyHint } from '../../accounts/key-records.store.ts'
import {
  KEYS_MAX,
  type KeyChange,
  type KeyName,
  type KeyPosition,
  type KeyRow,
  pipelineRight,
  rootOf,
  type SignInKey,
} from '../../accounts/key-row.ts'
import { randomBase58 } from '../../core/base58.ts'
import { inGroups } from '../../core/digit-groups.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId, KeyHash } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { remainingOf } from '../../metering/account-state.ts'
import type { AccountMeterApi } from '../../metering/meter-api.ts'
import { type AccountPorts, accountsOf } from './account-service.client.ts'
import type { ListedKey, UsedKey } from './key-shapes.ts'
import type {
  IssuedKey,
  KeyInput,
  KeyRef,
  Keys,
  OwnKeyInput,
  OwnKeyRow,
  RotatedKey,
  RotationInput,
} from './platform-api.ts'
import { badField, type Refusal } from './refusal.ts'
import { lastUsed } from './usage-copy.store.ts'

export interface KeyPorts extends AccountPorts {
  /** D1 USAGE. */
  readonly usage: D1Database
  readonly keySecret: string
}

interface MintInput extends Omit<KeyChange, 'label' | 'products'>, Pick<KeyRow, 'account' | 'kind' | 'label'> {
  readonly products: readonly Product[]
  readonly maker?: string | undefined
}

/** Window of the spending shown in key lists: 30 days. */
const SPENT_MS = 30 * 86_400_000
/** Maximum number of keys listed as created by a key. */
const CREATED_KEYS_MAX = 1_000
const TOO_MANY_KEYS: Refusal = {
  kind: 'conflict',
  message: `keys: this account already has ${inGroups(KEYS_MAX)} keys that are active or were created in the last 24 hours. Revoke unused keys or wait a day`,
}

export class KeyService implements Keys {
  readonly #ports: KeyPorts
  readonly #store: AccountStore

  constructor(ports: KeyPorts) {
    this.#ports = ports
    this.#store = new AccountStore(ports.db)
  }

  async create(input: KeyInput): Promise<Result<IssuedKey, Failure>> {
    const products = input.products ?? PRODUCTS_OF_KIND[input.kind]
    const beyond = kindRefusal({ ...input, products })
    if (beyond !== null) return err(beyond)
    const account = await this.#accountFor(input)
    if (!account.ok) return account
    const { key, shown, row } = await this.#mint({ ...input, account: account.value, products })
    await this.#setBounds(row)
    await this.#store.addKey(row)
    return ok({ key, ...shown })
  }

  async createOwn({ request, ...input }: OwnKeyInput): Promise<Result<IssuedKey | Omit<IssuedKey, 'key'>, Refusal>> {
    const products = input.products ?? PRODUCTS_OF_KIND[input.kind]
    const beyond = kindRefusal({ ...input, products })
    if (beyond !== null) return err(beyond)
    const before = request === null ? null : await this.#store.keyOfRequest(input.account, request)
    if (before !== null) return repeatedCreate(before, input)
    const now = this.#ports.nowMs()
    if ((await this.#store.keyCount(input.account, now)) >= KEYS_MAX) return err(TOO_MANY_KEYS)
    const { key, shown, row } = await this.#mint({ ...input, products })
    await this.#setBounds(row)
    if (await this.#store.addOwnKey(row, request, now)) return ok({ key, ...shown })
    const meanwhile = request === null ? null : await this.#store.keyOfRequest(input.account, request)
    return meanwhile === null ? err(TOO_MANY_KEYS) : repeatedCreate(meanwhile, input)
  }

  async page(account: AccountId, after: KeyPosition | null, limit: number): Promise<readonly OwnKeyRow[]> {
    const rows = await this.#withUse(await this.#store.keysOf(account, limit, after ?? undefined))
    const fromMs = this.#ports.nowMs() - SPENT_MS
    const hashes = rows.map(({ hash }) => hash)
    const sums = await this.#ports
      .meterOf(account)
      .keySums(hashes, fromMs)
      .catch(() => null)
    return rows.map((row, i) => ({ ...row, spent: sums?.[i]?.spent ?? null, capLeft: sums?.[i]?.capLeft ?? null }))
  }

  count(account: AccountId): Promise<number> {
    return this.#store.keyCount(account, this.#ports.nowMs())
  }

  signUpKeys(account: AccountId, label: string): Promise<SignInKey> {
    return this.#store.signInKey(account, label)
  }

  /** Account of the key; a new account if the request names none. */
  async #accountFor({
    account,
    plan = 'trial',
    terms = {},
    credits,
    region,
  }: KeyInput): Promise<Result<string, Failure>> {
    if (account !== undefined) {
      if ((await this.#store.account(account)) === null)
        return err(badField('account', 'does not exist. Create the account first'))
      return ok(account)
    }
    const id = `acct_${randomBase58(12, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))}`
    const made = await accountsOf(this.#ports).ensure(id, { plan, terms }, { credits, region })
    return made.ok ? ok(id) : made
  }

  /** Sets cap and expiry in the meter before the key exists, so that the key never spends without a cap or expiry. */
  async #setBounds({ account, hash, cap, expiresMs }: Parameters<AccountStore['addKey']>[0]): Promise<void> {
    const meter = this.#ports.meterOf(account)
    if (cap !== null) await meter.capKey(hash, cap)
    if (expiresMs !== null) await meter.endKey(hash, expiresMs)
  }

  /** A new key, its names and its row, not stored yet. */
  async #mint({ account, kind, label, products, ...bounds }: MintInput) {
    const { expires: expiresMs = null, cap = null, ranges = null, pipelines = null, maker = null } = bounds
    const key = await mintKey(kind, this.#ports.keySecret)
    const shown = { hash: await hashKey(key), prefix: displayPrefix(key), account, kind, label }
    const row = { ...shown, products, expiresMs, cap, ranges, pipelines, maker, createdMs: this.#ports.nowMs() }
    return { key, shown, row }
  }

  async change(key: KeyRef, change: KeyChange): Promise<Result<UsedKey, Failure>> {
    const row = await this.find(key)
    if (!row.ok) return row
    const beyond = kindRefusal({ ...change, kind: row.value.kind })
    if (beyond !== null) return err(beyond)
    const meter = this.#ports.meterOf(row.value.account)
    if (change.cap !== undefined) await meter.capKey(row.value.hash, change.cap)
    if (change.expires !== undefined) await meter.endKey(row.value.hash, change.expires)
    await this.#store.changeKey(row.value.hash, change)
    await meter.noteChange(row.value.hash)
    await this.#refreshHint(row.value.hash)
    const changed = await this.find({ name: row.value.hash })
    return changed.ok ? ok((await this.#withUse([changed.value]))[0] ?? { ...changed.value, lastUsed: null }) : changed
  }

  async rotate(key: KeyRef, input: RotationInput): Promise<Result<RotatedKey, Refusal>> {
    const old = await this.find(key)
    if (!old.ok) return old
    const { hash, account, kind, expires, revoked } = old.value
    const before = await this.#store.successorOf(hash)
    if (before !== null) return this.#repeatedRotation(old.value, before, input)
    const now = this.#ports.nowMs()
    if (revoked !== null || (expires !== null && expires <= now)) {
      return err(badField('key', 'was revoked or has expired. Create a new key instead'))
    }
    const endsMs = Math.min(expires ?? Number.POSITIVE_INFINITY, now + input.graceMs)
    const minted = await this.#mint({ ...old.value, maker: input.maker })
    await this.#ports.meterOf(account).inheritKey(hash, minted.shown.hash)
    if (expires !== null) await this.#ports.meterOf(account).endKey(minted.shown.hash, expires)
    const right = pipelineRight(old.value)
    if (!(await this.#store.replaceKey(hash, minted.row, { id: input.id, graceMs: input.graceMs, endsMs }, right)))
      return this.rotate(key, input)
    await this.#retireOld(old.value, minted.shown.hash, input)
    return ok({ key: minted.key, ...minted.shown, kind, oldEndsMs: endsMs })
  }

  async #repeatedRotation(old: KeyRow, before: Successor, input: RotationInput): Promise<Result<RotatedKey, Refusal>> {
    const { rotation } = before
    if (input.id === null || input.id !== rotation.id) {
      const message = `key: was already replaced by ${before.key.prefix}. Rotate that key instead`
      return err({ kind: 'conflict', message })
    }
    if (input.graceMs !== rotation.graceMs) {
      return err({
        kind: 'conflict',
        message: 'idempotency_key: was already used with a different grace_seconds. Retry with the first value',
      })
    }
    // The first attempt may have stopped halfway.
    await this.#retireOld(old, before.key.hash, input)
    const { hash, prefix, account, label, kind } = before.key
    return ok({ hash, prefix, account, label, kind, oldEndsMs: rotation.endsMs })
  }

  /**
   * Propagates the end of the old key from D1 to the meter and KV. The meter receives the successor before the
   * revocation.
   */
  async #retireOld({ account, hash }: KeyRow, newHash: KeyHash, { graceMs }: RotationInput): Promise<void> {
    const meter = this.#ports.meterOf(account)
    await meter.replaceKey(hash, newHash)
    if (graceMs === 0) await meter.revokeKey(hash)
    await meter.noteChange(hash)
    await this.#refreshHint(hash)
  }

  async list(account: AccountId | undefined, limit: number, after?: KeyPosition): Promise<ListedKey[]> {
    const rows = await this.#withUse(
      await (account === undefined ? this.#store.keys(limit, after) : this.#store.keysOf(account, limit, after)),
    )
    // One meter call per account, and one per key with a cap.
    const sumsByName = new Map<string, ReturnType<AccountMeterApi['balance']>>()
    const sumsOf = ({ account, hash, cap }: KeyRow) => {
      const name = cap === null ? account : hash
      const sums = sumsByName.get(name) ?? this.#ports.meterOf(account).balance(cap === null ? undefined : hash)
      sumsByName.set(name, sums)
      return sums
    }
    const sums = await Promise.allSettled(rows.map(sumsOf))
    return rows.map((row, i) => {
      const answer = sums[i]
      const known = answer?.status === 'fulfilled' ? answer.value : null
      return { ...row, balance: known && remainingOf(known), capLeft: known?.capLeft ?? null }
    })
  }

  /** Without D1 USAGE, keys are still listed. */
  async #withUse(rows: readonly KeyRow[]): Promise<UsedKey[]> {
    const hashes = rows.map(({ hash }) => hash)
    const used = await lastUsed(this.#ports.usage, hashes).catch(() => new Map<string, number>())
    return rows.map((row) => ({ ...row, lastUsed: used.get(row.hash) ?? null }))
  }

  createdBy(key: Pick<KeyRow, 'hash' | 'root'>): Promise<readonly KeyName[]> {
    return this.#store.createdBy(rootOf(key), this.#ports.nowMs(), CREATED_KEYS_MAX)
  }

  async namesByHash(hashes: readonly KeyHash[]) {
    const rows = await this.#store.keyNames(hashes)
    return new Map(rows.map((row) => [row.hash, row]))
  }

  async findByHash(hash: KeyHash): Promise<KeyRow | null> {
    const [row] = await this.#store.keysNamed(hash)
    return row ?? null
  }

  async revoke(key: KeyRef): Promise<Result<KeyRow & { readonly revoked: number }, Failure>> {
    const found = await this.find(key)
    if (!found.ok) return found
    const row = found.value
    const meter = this.#ports.meterOf(row.account)
    // If the rotation was interrupted, the meter may not know the successor, with which the old key's pipelines must
    // end.
    if (row.replaces !== null) await meter.replaceKey(row.replaces, row.hash)
    await meter.revokeKey(row.hash)
    const now = this.#ports.nowMs()
    await this.#store.revokeKey(row.hash, now)
    await this.#refreshHint(row.hash)
    return ok({ ...row, revoked: row.revoked ?? now })
  }

  async find({ name, account }: KeyRef): Promise<Result<KeyRow, Failure>> {
    const [row, second] = await this.#store.keysNamed(name, account)
    if (row === undefined) {
      const what = account === undefined ? 'This key' : `This key of the account "${account}"`
      return err({ kind: 'not_found', what })
    }
    if (second === undefined) return ok(row)
    return err(badField('key', 'matches two keys. Use the hash of the key'))
  }

  async #refreshHint(hash: KeyHash): Promise<void> {
    const record = await keyFromD1(this.#ports.db, hash)
    if (record !== null) await putKeyHint(this.#ports.kv, record)
  }
}

/** Result of a repeated create request; a conflict if it differs from the first request. */
function repeatedCreate(key: KeyRow, { kind, label }: Pick<OwnKeyInput, 'kind' | 'label'>): Result<KeyRow, Refusal> {
  if (key.kind === kind && key.label === label) return ok(key)
  const message = `idempotency_key: already created ${key.prefix}, which has a different kind or label. Send a new idempotency_key`
  return err({ kind: 'conflict', message })
}

/** Failure if a key of this kind cannot have these products or rights, else null. */
function kindRefusal({ kind, products = [], pipelines }: Pick<KeyRow, 'kind'> & KeyChange): Failure | null {
  const allowed = PRODUCTS_OF_KIND[kind]
  if (!products.every((product) => allowed.includes(product)))
    return badField('products', `must be among ${allowed.join(', ')} for a key of kind "${kind}"`)
  if (kind === 'api' && pipelines)
    return badField('pipelines', 'is allowed only for service keys; API keys do not manage pipelines')
  return null
}
