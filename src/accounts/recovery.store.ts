// Rows of accounts, keys and grants as they are exported, imported and compared with the meters. Invariant: an import
// never changes an existing row.

import * as z from 'zod'
import type { MicroCredits } from '../core/amount.ts'
import type { AccountId, KeyHash } from '../core/ids.ts'
import { type AccountRows, ExportedGrant, ExportedKey, ExportedRow } from './exported-account.ts'

const CountedRow = ExportedRow.extend({ keys: z.int() })
const KEY_COLUMNS = Object.keys(ExportedKey.shape)
const valuesOf = (columns: readonly string[]) => columns.map((column) => `value ->> '${column}'`).join(', ')

export class RecoveryStore {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  /** Names of accounts after the cursor. */
  async names(after: string, limit: number): Promise<AccountId[]> {
    const select = 'SELECT id FROM accounts WHERE id > ? ORDER BY id LIMIT ?'
    const { results } = await this.#db.prepare(select).bind(after, limit).all<{ id: AccountId }>()
    return results.map(({ id }) => id)
  }

  /** The account with its newest grants and its live or newest keys, at most `rowsMax` of each. */
  async account(id: AccountId, rowsMax: number, nowMs: number): Promise<AccountRows | null> {
    const row = `SELECT id AS account, plan, terms, created,
      (SELECT count(*) FROM keys WHERE account = accounts.id) AS keys FROM accounts WHERE id = ?`
    const grants = 'SELECT id, micro, created FROM grants WHERE account = ? ORDER BY created DESC, id LIMIT ?'
    const keys = `SELECT ${KEY_COLUMNS.join(', ')} FROM keys WHERE account = ?1
      ORDER BY revoked IS NULL AND (expires IS NULL OR expires > ?3) DESC, created DESC, hash LIMIT ?2`
    const [found, given, made] = await this.#db.batch([
      this.#db.prepare(row).bind(id),
      this.#db.prepare(grants).bind(id, rowsMax),
      this.#db.prepare(keys).bind(id, rowsMax, nowMs),
    ])
    if (found?.results[0] === undefined) return null
    const { keys: count, ...account } = CountedRow.parse(found.results[0])
    const listed = z.array(ExportedKey).parse(made?.results ?? [])
    return {
      ...account,
      grants: z.array(ExportedGrant).parse(given?.results ?? []),
      keys: listed,
      keys_left_out: count - listed.length,
    }
  }

  /** Adds the rows that do not exist, in one transaction. The plan must exist. */
  async add({ account, plan, terms, created, grants, keys }: AccountRows): Promise<void> {
    const db = this.#db
    await db.batch([
      db
        .prepare('INSERT INTO accounts (id, plan, terms, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
        .bind(account, plan, terms, created),
      db
        .prepare(
          `INSERT INTO grants (account, id, micro, created) SELECT ?1, ${valuesOf(['id', 'micro', 'created'])}
           FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`,
        )
        .bind(account, JSON.stringify(grants)),
      db
        .prepare(
          `INSERT INTO keys (account, ${KEY_COLUMNS.join(', ')}) SELECT ?1, ${valuesOf(KEY_COLUMNS)}
           FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`,
        )
        .bind(account, JSON.stringify(keys)),
    ])
  }

  /** Usage that was copied to D1 USAGE, by key: of these keys and of all stored keys of the account. */
  async used(usage: D1Database, { account, keys }: AccountRows): Promise<ReadonlyMap<string, MicroCredits>> {
    const own = 'SELECT hash FROM keys WHERE account = ?'
    const stored = await this.#db.prepare(own).bind(account).all<{ hash: string }>()
    const hashes = new Set([...keys, ...stored.results].map(({ hash }) => hash))
    const select = `SELECT key_hash AS hash, sum(micro) AS micro FROM usage
      WHERE key_hash IN (SELECT value FROM json_each(?)) GROUP BY 1`
    const { results } = await usage
      .prepare(select)
      .bind(JSON.stringify([...hashes]))
      .all<{ hash: string; micro: MicroCredits }>()
    return new Map(results.map(({ hash, micro }) => [hash, micro]))
  }

  async limitKey(hash: KeyHash, what: 'cap' | 'expires', value: number): Promise<void> {
    await this.#db.prepare(`UPDATE keys SET ${what} = ? WHERE hash = ?`).bind(value, hash).run()
  }
}
