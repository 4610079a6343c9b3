// D1 tables of accounts, keys and grants. Invariant: existing rows are never overwritten by an insert.

import { oneRow } from '../core/d1.store.ts'
import type { AccountId, KeyHash } from '../core/ids.ts'
import { DAY_MS } from '../core/time.ts'
import type { KeyKind } from './format.ts'
import type { Product } from './identity.ts'
import {
  KEYS_MAX,
  type KeyChange,
  type KeyName,
  type KeyPosition,
  KeyRow,
  type PipelineRight,
  type Rotation,
  type SignInKey,
} from './key-row.ts'

/** Key columns with the successor. */
const SELECT_KEYS = 'SELECT *, (SELECT hash FROM keys WHERE replaces = k.hash) AS replaced_by FROM keys k'

const COLUMNS = 'hash, prefix, label, account, kind, products, created, expires, cap, ranges, pipelines, maker'

const countedKeysSql = (account: AccountId, now: string) => `(SELECT count(*) FROM keys WHERE account = ${account} AND
  (created > ${now} - ${DAY_MS} OR (revoked IS NULL AND (expires IS NULL OR expires > ${now}))))`

const FIRST_PAGE: KeyPosition = { created: Number.MAX_SAFE_INTEGER, hash: '' }

interface NewKey {
  readonly hash: KeyHash
  readonly prefix: string
  readonly label: string
  readonly account: AccountId
  readonly kind: KeyKind
  readonly products: readonly Product[]
  readonly createdMs: number
  readonly expiresMs: number | null
  readonly cap: number | null
  readonly ranges: readonly string[] | null
  readonly pipelines: PipelineRight | null
  /** Root of the key that created this one; null: it was not created with a key. */
  readonly maker: string | null
}

export interface Successor {
  readonly key: KeyRow
  readonly rotation: Rotation
}

/** An account row; `created` in Unix ms. */
export interface AccountRow {
  readonly id: string
  readonly plan: string
  readonly created: number
  /** Terms agreed for this account, as JSON. They override the plan's values. */
  readonly terms: string | null
}

export class AccountStore {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  async account(id: string): Promise<AccountRow | null> {
    return this.#db.prepare('SELECT id, plan, created, terms FROM accounts WHERE id = ?').bind(id).first<AccountRow>()
  }

  /** Up to `limit` account ids. */
  async accountIds(limit: number): Promise<string[]> {
    const { results } = await this.#db.prepare('SELECT id FROM accounts LIMIT ?').bind(limit).all<{ id: string }>()
    return results.map(({ id }) => id)
  }

  /** Returns false and changes nothing if the account or the plan does not exist. `terms` is JSON. */
  async setPlan(account: AccountId, plan: string, terms: string | null): Promise<boolean> {
    const update = `UPDATE accounts SET plan = ?2, terms = ?3
      WHERE id = ?1 AND EXISTS (SELECT 1 FROM plans WHERE name = ?2)`
    return (await this.#db.prepare(update).bind(account, plan, terms).run()).meta.changes > 0
  }

  /** Returns true if the account is new; an existing one keeps its plan. Does nothing if the plan does not exist. */
  async ensureAccount(id: string, plan: string, terms: string | null, nowMs: number): Promise<boolean> {
    const insert = `INSERT INTO accounts (id, plan, created, terms)
      SELECT ?, name, ?, ? FROM plans WHERE name = ? ON CONFLICT DO NOTHING`
    return (await this.#db.prepare(insert).bind(id, nowMs, terms, plan).run()).meta.changes > 0
  }

  async addKey(key: NewKey): Promise<void> {
    await this.#insertion(key).run()
  }

  /**
   * Adds a revoked key, under which calls that were paid for without a key are counted. No text has its hash. Returns
   * false and changes nothing if it exists.
   */
  async addCallsKey(account: AccountId, hash: KeyHash, label: string, nowMs: number): Promise<boolean> {
    const insert = `INSERT INTO keys (hash, prefix, label, account, kind, products, created, revoked)
      VALUES (?1, ?2, ?2, ?3, 'api', '[]', ?4, ?4) ON CONFLICT DO NOTHING`
    return (await this.#db.prepare(insert).bind(hash, label, account, nowMs).run()).meta.changes > 0
  }

  /**
   * Adds a key at its owner's request. Returns false and changes nothing if the account is at its key limit, or if this
   * request already created a key.
   */
  async addOwnKey(key: NewKey, request: string | null, nowMs: number): Promise<boolean> {
    const insert = `INSERT INTO keys (${COLUMNS}, request)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 WHERE ${countedKeysSql('?4', '?14')} < ?15 ON CONFLICT DO NOTHING`
    const inserted = this.#db.prepare(insert).bind(...valuesOf(key), request, nowMs, KEYS_MAX)
    return (await inserted.run()).meta.changes > 0
  }

  /** Number of keys that count towards the account's limit. */
  async keyCount(account: AccountId, nowMs: number): Promise<number> {
    const select = `SELECT ${countedKeysSql('?1', '?2')} AS count`
    return (await this.#db.prepare(select).bind(account, nowMs).first<{ count: number }>())?.count ?? 0
  }

  /** The key that this request of its owner created. */
  async keyOfRequest(account: AccountId, request: string): Promise<KeyRow | null> {
    const select = `${SELECT_KEYS} WHERE k.account = ? AND k.request = ?`
    const row = await this.#db.prepare(select).bind(account, request).first()
    return row === null ? null : KeyRow.parse(row)
  }

  /**
   * Newest active key in the rotation chains of keys with such an idempotency key: `prefix`, a space and anything.
   */
  async keyRequestedBy(account: AccountId, prefix: string, nowMs: number): Promise<KeyHash | null> {
    const select = `SELECT hash FROM keys k WHERE account = ?1 AND revoked IS NULL AND (expires IS NULL OR expires > ?3)
      AND coalesce(root, hash) IN (SELECT hash FROM keys WHERE account = ?1 AND request GLOB ?2 || ' *')
      AND NOT EXISTS (SELECT 1 FROM keys WHERE replaces = k.hash) ORDER BY created DESC, hash LIMIT 1`
    return this.#db.prepare(select).bind(account, prefix, nowMs).first<KeyHash>('hash')
  }

  /** Number of keys of the account that were ever created by a request with this prefix. */
  async countRequestedBy(account: AccountId, prefix: string): Promise<number> {
    const select = `SELECT count(*) AS keys FROM keys WHERE account = ?1 AND request GLOB ?2 || ' *'`
    return (await oneRow<{ keys: number }>(this.#db.prepare(select).bind(account, prefix))).keys
  }

  /**
   * Adds the successor of `old` and ends `old`, atomically. Returns false and changes nothing if `old` already has a
   * successor. `right`: pipelines that `old` may still manage until it ends.
   */
  async replaceKey(old: KeyHash, key: NewKey, rotation: Rotation, right: PipelineRight | null): Promise<boolean> {
    const inherit = `UPDATE keys SET replaces = ?2, rotation = ?3,
      root = (SELECT coalesce(root, hash) FROM keys WHERE hash = ?2) WHERE hash = ?1`
    const end = rotation.graceMs === 0 ? 'revoked = coalesce(revoked, ?2)' : 'expires = ?2'
    try {
      await this.#db.batch([
        this.#insertion(key),
        this.#db.prepare(inherit).bind(key.hash, old, JSON.stringify(rotation)),
        this.#db.prepare(`UPDATE keys SET ${end}, pipelines = ?3 WHERE hash = ?1`).bind(old, rotation.endsMs, right),
      ])
      return true
    } catch (error) {
      if ((await this.successorOf(old)) !== null) return false
      throw error
    }
  }

  /** Successor of a key and its rotation. */
  async successorOf(hash: KeyHash): Promise<Successor | null> {
    const row = await this.#db.prepare(`${SELECT_KEYS} WHERE k.replaces = ?`).bind(hash).first<{ rotation: string }>()
    return row === null ? null : { key: KeyRow.parse(row), rotation: JSON.parse(row.rotation) }
  }

  #insertion(key: NewKey): D1PreparedStatement {
    const insert = `INSERT INTO keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
    return this.#db.prepare(insert).bind(...valuesOf(key))
  }

  /** Newest first, at most `limit`, after the cursor. */
  async keys(limit: number, after: KeyPosition = FIRST_PAGE): Promise<KeyRow[]> {
    const select = `${SELECT_KEYS} WHERE k.created <= ?1 AND (k.created < ?1 OR k.hash > ?2)
      ORDER BY k.created DESC, k.hash LIMIT ?3`
    const { results } = await this.#db.prepare(select).bind(after.created, after.hash, limit).all()
    return results.map((row) => KeyRow.parse(row))
  }

  /** Keys of an account, newest first, at most `limit`, after the cursor. */
  async keysOf(account: AccountId, limit: number, after: KeyPosition = FIRST_PAGE): Promise<KeyRow[]> {
    const select = `${SELECT_KEYS} WHERE k.account = ?1 AND k.created <= ?2 AND (k.created < ?2 OR k.hash > ?3)
      ORDER BY k.created DESC, k.hash LIMIT ?4`
    const { results } = await this.#db.prepare(select).bind(account, after.created, after.hash, limit).all()
    return results.map((row) => KeyRow.parse(row))
  }

  /** Counts all keys of the account, however many there are. */
  signInKey(account: AccountId, label: string): Promise<SignInKey> {
    const whole = `revoked IS NULL AND expires IS NULL AND cap IS NULL AND ranges IS NULL AND pipelines IS NOT 'own'
      AND NOT EXISTS (SELECT 1 FROM keys WHERE replaces = k.hash)`
    const select = `SELECT coalesce(sum(kind = 'api'), 0) AS api, coalesce(sum(kind = 'service'), 0) AS service,
      (SELECT hash FROM keys k WHERE account = ?1 AND kind = 'service' AND label = ?2 AND ${whole}
      ORDER BY created DESC, hash LIMIT 1) AS hash FROM keys WHERE account = ?1`
    return oneRow(this.#db.prepare(select).bind(account, label))
  }

  /** Active keys created with this key's rotation chain, directly or through other keys; newest first. */
  async createdBy(root: string, nowMs: number, limit: number): Promise<KeyName[]> {
    const select = `WITH RECURSIVE made (hash, root) AS (SELECT '', ?1 UNION
      SELECT k.hash, coalesce(k.root, k.hash) FROM made JOIN keys k ON k.maker = made.root)
      SELECT k.hash, k.prefix, k.label FROM made JOIN keys k ON k.hash = made.hash
      WHERE k.revoked IS NULL AND (k.expires IS NULL OR k.expires > ?2) ORDER BY k.created DESC, k.hash LIMIT ?3`
    return (await this.#db.prepare(select).bind(root, nowMs, limit).all<KeyName>()).results
  }

  async keyNames(hashes: readonly KeyHash[]): Promise<KeyName[]> {
    const select = 'SELECT hash, prefix, label FROM keys WHERE hash IN (SELECT value FROM json_each(?))'
    return (await this.#db.prepare(select).bind(json(hashes)).all<KeyRow>()).results
  }

  /** A cap applies to the whole rotation chain. */
  async changeKey(hash: KeyHash, { label, products, expires, cap, ranges, pipelines }: KeyChange): Promise<void> {
    const change = `UPDATE keys SET label = coalesce(?2, label), products = coalesce(?3, products),
      expires = iif(?4, ?5, expires), ranges = iif(?6, ?7, ranges),
      pipelines = iif(?8, ?9, pipelines) WHERE hash = ?1`
    const isPresent = (value: unknown) => (value === undefined ? 0 : 1)
    const changed = this.#db
      .prepare(change)
      .bind(
        ...[hash, label ?? null, json(products), isPresent(expires), expires ?? null, isPresent(ranges), json(ranges)],
        ...[isPresent(pipelines), pipelines ?? null],
      )
    const root = '(SELECT coalesce(root, hash) FROM keys WHERE hash = ?1)'
    const capped = this.#db.prepare(`UPDATE keys SET cap = ?2 WHERE hash = ${root} OR root = ${root}`)
    await this.#db.batch(cap === undefined ? [changed] : [changed, capped.bind(hash, cap)])
  }

  /**
   * Keys with this hash or display prefix, in one account or in all accounts. Two rows mean that the prefix is
   * ambiguous.
   */
  async keysNamed(hashOrPrefix: string, account: AccountId | null = null): Promise<KeyRow[]> {
    const select = `${SELECT_KEYS} WHERE (k.hash = ?1 OR k.prefix = ?1) AND (?2 IS NULL OR k.account = ?2) LIMIT 2`
    const { results } = await this.#db.prepare(select).bind(hashOrPrefix, account).all()
    return results.map((row) => KeyRow.parse(row))
  }

  /** Keeps the time of the first revocation. */
  async revokeKey(hash: KeyHash, nowMs: number): Promise<void> {
    await this.#db.prepare('UPDATE keys SET revoked = coalesce(revoked, ?) WHERE hash = ?').bind(nowMs, hash).run()
  }

  /** Records a grant that the meter has applied. */
  async addGrant(account: AccountId, id: string, micro: number, nowMs: number): Promise<void> {
    const insert = 'INSERT INTO grants (account, id, micro, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
    await this.#db.prepare(insert).bind(account, id, micro, nowMs).run()
  }
}

function json(value: readonly string[] | null | undefined): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}

function valuesOf({ hash, prefix, label, account, kind, products, createdMs, expiresMs, cap, ...key }: NewKey) {
  return [
    hash,
    prefix,
    label,
    account,
    kind,
    json(products),
    createdMs,
    expiresMs,
    cap,
    json(key.ranges),
    key.pipelines,
    key.maker,
  ]
}
