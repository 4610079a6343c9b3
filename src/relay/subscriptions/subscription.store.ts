// Persists a relay's subscriptions across hibernation in the table `subscription`. Invariant: at most one transaction a
// second, because a pending write delays every frame of the object.

import type { AccountId } from '../../core/ids.ts'
import { migrate } from '../../core/migrate.store.ts'
import type { Subscription } from './subscription.ts'

const WRITE_EVERY_MS = 1000

const SCHEMA = `
  CREATE TABLE subscription (
    id TEXT PRIMARY KEY, socket TEXT NOT NULL, body TEXT NOT NULL, meta INTEGER NOT NULL, since_ms INTEGER NOT NULL,
    account TEXT NOT NULL, digest TEXT NOT NULL, operation TEXT NOT NULL) WITHOUT ROWID;`

export interface SavedSubscription {
  readonly id: string
  readonly socket: string
  readonly echo: string
  readonly meta: boolean
  readonly sinceMs: number
  readonly account: AccountId
  readonly digest: string
  /** JSON to restart a GraphQL operation; empty for other subscriptions. */
  readonly operation: string
}

type Row = Record<'id' | 'socket' | 'body' | 'account' | 'digest' | 'operation', string> &
  Record<'meta' | 'since_ms', number>

export class SubscriptionStore {
  readonly #storage: DurableObjectStorage
  /** Null if the row is to be deleted. */
  readonly #pending = new Map<string, SavedSubscription | null>()
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    migrate(storage, [SCHEMA])
  }

  /** Returns everything saved, for a relay that wakes up. */
  all(): SavedSubscription[] {
    const rows = this.#storage.sql.exec<Row>(
      'SELECT id, socket, body, meta, since_ms, account, digest, operation FROM subscription',
    )
    return rows.toArray().map(({ body, meta, since_ms: sinceMs, ...row }) => ({
      ...row,
      echo: body,
      meta: meta === 1,
      sinceMs,
    }))
  }

  save({ connection, echo, meta, minutes }: Subscription): void {
    const { id, sinceMs, body: digest } = minutes
    const { account } = connection.identity
    const { id: socket } = connection
    const operation = connection.operation ? JSON.stringify(connection.operation) : ''
    this.#enqueue(id, { id, socket, echo, meta, sinceMs, account, digest, operation })
  }

  /** `id` is the id under which the subscription's minutes are counted. */
  remove(id: string): void {
    this.#enqueue(id, null)
  }

  #enqueue(id: string, row: SavedSubscription | null): void {
    this.#pending.set(id, row)
    this.#timer ??= setTimeout(() => this.#write(), WRITE_EVERY_MS)
  }

  #write(): void {
    this.#timer = null
    const { sql } = this.#storage
    this.#storage.transactionSync(() => {
      for (const [id, row] of this.#pending) {
        if (!row) sql.exec('DELETE FROM subscription WHERE id = ?', id)
        else {
          sql.exec(
            `INSERT OR REPLACE INTO subscription (id, socket, body, meta, since_ms, account, digest, operation)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
            ...[id, row.socket, row.echo, row.meta ? 1 : 0, row.sinceMs, row.account, row.digest, row.operation],
          )
        }
      }
    })
    this.#pending.clear()
  }
}
