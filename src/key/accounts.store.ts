// The rows of D1 that say who exists: accounts, keys, grants. Law: what is there already is left as it is.

import type { KeyKind } from './format.ts'
import type { Product } from './identity.ts'
import { KeyRow } from './key-row.ts'

/** With the last use; the index of `usage` begins with the key, so this reads one entry. */
const SELECT_KEYS = 'SELECT *, (SELECT max(hour) FROM usage WHERE key_hash = hash) AS last_used FROM keys'

export interface NewKey {
  readonly hash: string
  readonly prefix: string
  readonly label: string
  readonly account: string
  readonly kind: KeyKind
  readonly products: readonly Product[]
  readonly createdMs: number
  readonly expiresMs: number | null
  readonly cap: number | null
}

/** An account as D1 has it; `created` in Unix ms. */
export interface AccountRow {
  readonly id: string
  readonly plan: string
  readonly created: number
  /** JSON of what was agreed with it in place of its plan's terms. */
  readonly terms: string | null
}

/** What may change of a key; a field left out stays. */
export interface KeyChange {
  readonly label?: string | undefined
  readonly products?: readonly Product[] | undefined
  readonly expires?: number | null | undefined
  /** Micro-credits. */
  readonly cap?: number | null | undefined
}

export class AccountStore {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  async account(id: string): Promise<AccountRow | null> {
    return this.#db.prepare('SELECT id, plan, created, terms FROM accounts WHERE id = ?').bind(id).first<AccountRow>()
  }

  /** False, and nothing done, where there is no such account or no longer such a plan. `terms`: JSON. */
  async setPlan(account: string, plan: string, terms: string | null): Promise<boolean> {
    const update = `UPDATE accounts SET plan = ?2, terms = ?3
      WHERE id = ?1 AND EXISTS (SELECT 1 FROM plans WHERE name = ?2)`
    return (await this.#db.prepare(update).bind(account, plan, terms).run()).meta.changes > 0
  }

  /** True if the account is new; an existing one keeps its plan. Nothing is done where there is no such plan. */
  async ensureAccount(id: string, plan: string, terms: string | null, nowMs: number): Promise<boolean> {
    const insert = `INSERT INTO accounts (id, plan, created, terms)
      SELECT ?, name, ?, ? FROM plans WHERE name = ? ON CONFLICT DO NOTHING`
    return (await this.#db.prepare(insert).bind(id, nowMs, terms, plan).run()).meta.changes > 0
  }

  async addKey(key: NewKey): Promise<void> {
    await this.#db
      .prepare(
        `INSERT INTO keys (hash, prefix, label, account, kind, products, created, expires, cap)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(
        key.hash,
        key.prefix,
        key.label,
        key.account,
        key.kind,
        JSON.stringify(key.products),
        key.createdMs,
        key.expiresMs,
        key.cap,
      )
      .run()
  }

  /** Newest first, at most `limit`. */
  async keys(limit: number): Promise<KeyRow[]> {
    const select = `${SELECT_KEYS} ORDER BY created DESC, hash LIMIT ?`
    const { results } = await this.#db.prepare(select).bind(limit).all()
    return results.map((row) => KeyRow.parse(row))
  }

  /** Keys of an account, newest first, at most `limit`. */
  async keysOf(account: string, limit: number): Promise<KeyRow[]> {
    const select = `${SELECT_KEYS} WHERE account = ? ORDER BY created DESC, hash LIMIT ?`
    const { results } = await this.#db.prepare(select).bind(account, limit).all()
    return results.map((row) => KeyRow.parse(row))
  }

  async changeKey(hash: string, { label, products, expires, cap }: KeyChange): Promise<void> {
    await this.#db
      .prepare(
        `UPDATE keys SET label = coalesce(?2, label), products = coalesce(?3, products),
         expires = CASE WHEN ?4 THEN ?5 ELSE expires END, cap = CASE WHEN ?6 THEN ?7 ELSE cap END WHERE hash = ?1`,
      )
      .bind(
        hash,
        label ?? null,
        products === undefined ? null : JSON.stringify(products),
        expires === undefined ? 0 : 1,
        expires ?? null,
        cap === undefined ? 0 : 1,
        cap ?? null,
      )
      .run()
  }

  /** Keys with this hash or shown prefix; two answers mean that the prefix does not decide. */
  async keysNamed(hashOrPrefix: string): Promise<KeyRow[]> {
    const select = `${SELECT_KEYS} WHERE hash = ?1 OR prefix = ?1 LIMIT 2`
    const { results } = await this.#db.prepare(select).bind(hashOrPrefix).all()
    return results.map((row) => KeyRow.parse(row))
  }

  /** The first revocation's time stays. */
  async revokeKey(hash: string, nowMs: number): Promise<void> {
    await this.#db.prepare('UPDATE keys SET revoked = coalesce(revoked, ?) WHERE hash = ?').bind(nowMs, hash).run()
  }

  /** Records a grant that the meter has taken. */
  async addGrant(account: string, id: string, micro: number, nowMs: number): Promise<void> {
    const insert = 'INSERT INTO grants (account, id, micro, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
    await this.#db.prepare(insert).bind(account, id, micro, nowMs).run()
  }
}
