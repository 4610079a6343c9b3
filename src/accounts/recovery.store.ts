// Rows of accounts, keys and grants as they are exported, imported and compared with the meters. Invariant: an import
// never changes an existing row.

import * as z from 'zod'
import type { AccountId, KeyHash } from '../core/ids.ts'
import { type AccountRows, ExportedGrant, ExportedKey, ExportedRow } from './exported-account.ts'

const KEY_COLUMNS = Object.keys(ExportedKey.shape)
const valuesOf = (columns: readonly string[]) => columns.map((column) => `value ->> '${column}'`).join(', ')

export class RecoveryStore {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  /** Accounts by name after the cursor, with their newest `rowsMax` grants and keys. */
  async page(after: string, limit: number, rowsMax: number): Promise<AccountRows[]> {
    const select = 'SELECT id AS account, plan, terms, created FROM accounts WHERE id > ? ORDER BY id LIMIT ?'
    const { results } = await this.#db.prepare(select).bind(after, limit).all()
    return Promise.all(results.map((row) => this.#withRows(ExportedRow.parse(row), rowsMax)))
  }

  async account(id: AccountId, rowsMax: number): Promise<AccountRows | null> {
    const select = 'SELECT id AS account, plan, terms, created FROM accounts WHERE id = ?'
    const row = await this.#db.prepare(select).bind(id).first()
    return row === null ? null : this.#withRows(ExportedRow.parse(row), rowsMax)
  }

  async #withRows(row: z.infer<typeof ExportedRow>, rowsMax: number): Promise<AccountRows> {
    const grants = 'SELECT id, micro, created FROM grants WHERE account = ? ORDER BY created DESC, id LIMIT ?'
    const keys = `SELECT ${KEY_COLUMNS.join(', ')} FROM keys WHERE account = ? ORDER BY created DESC, hash LIMIT ?`
    const read = [grants, keys].map((select) => this.#db.prepare(select).bind(row.account, rowsMax))
    const [given, made] = await this.#db.batch(read)
    return {
      ...row,
      grants: z.array(ExportedGrant).parse(given?.results ?? []),
      keys: z.array(ExportedKey).parse(made?.results ?? []),
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

  /** Sum of the usage of these keys that was copied to D1 USAGE. */
  async used(usage: D1Database, keys: readonly { readonly hash: string }[]): Promise<number> {
    const select = `SELECT coalesce(sum(micro), 0) AS micro FROM usage
      WHERE key_hash IN (SELECT value FROM json_each(?))`
    const hashes = JSON.stringify(keys.map(({ hash }) => hash))
    return (await usage.prepare(select).bind(hashes).first<{ micro: number }>())?.micro ?? 0
  }

  async limitKey(hash: KeyHash, what: 'cap' | 'expires', value: number): Promise<void> {
    await this.#db.prepare(`UPDATE keys SET ${what} = ? WHERE hash = ?`).bind(value, hash).run()
  }
}
