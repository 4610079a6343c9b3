// Fills in SQLite, clustered by their user: what a page of them costs a database that has them all.

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { UserFill } from '../../src/protocol/feed/block.ts'

const FIELDS = [
  ...['coin', 'px', 'sz', 'startPosition', 'side', 'dir', 'closedPnl', 'fee', 'feeToken', 'hash', 'oid', 'crossed'],
] as const
const COLUMNS = ['user', 'time', 'tid', ...FIELDS].join(', ')

export class ClusteredFills {
  readonly #db: DatabaseSync
  readonly #insert: StatementSync
  readonly #newest: StatementSync

  constructor(path: string) {
    this.#db = new DatabaseSync(path)
    this.#db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
      CREATE TABLE fills (${COLUMNS}, PRIMARY KEY (user, time, tid)) WITHOUT ROWID`)
    this.#insert = this.#db.prepare(
      `INSERT INTO fills (${COLUMNS}) VALUES (${COLUMNS.split(', ')
        .map(() => '?')
        .join(', ')})`,
    )
    this.#newest = this.#db.prepare('SELECT * FROM fills WHERE user = ? ORDER BY time DESC, tid DESC LIMIT 2000')
  }

  add(fills: Iterable<UserFill>): void {
    this.#db.exec('BEGIN')
    for (const [user, fill] of fills) {
      const { time, tid, crossed, coin, px, sz, startPosition, side, dir, closedPnl, fee, feeToken, hash, oid } = fill
      const amounts = [coin, px, sz, startPosition, side, dir, closedPnl, fee, feeToken, hash, oid]
      this.#insert.run(user, time, tid, ...amounts, Number(crossed))
    }
    this.#db.exec('COMMIT')
  }

  /** The body of an answer, and how many rows it has. */
  newest(user: string): { readonly body: string; readonly tids: readonly number[] } {
    const rows = this.#newest.all(user)
    return { body: JSON.stringify(rows), tids: rows.map(({ tid }) => tid as number) }
  }

  close(): void {
    this.#db.close()
  }
}
