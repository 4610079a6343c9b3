// Subscriptions of a relay at rest, so that they outlive its memory. Table `subscription`, one row each.
// Law: at most one transaction a second, because a pending write holds back every frame of the object.

import type { Subscription } from './subscriptions.ts'

const WRITE_EVERY_MS = 1000

export interface SavedSubscription {
  readonly id: string
  readonly socket: string
  readonly echo: string
  readonly meta: boolean
  readonly sinceMs: number
}

export class SubscriptionStore {
  readonly #storage: DurableObjectStorage
  /** Null: to be deleted. */
  readonly #pending = new Map<string, SavedSubscription | null>()
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    storage.sql.exec(`CREATE TABLE IF NOT EXISTS subscription (
      id TEXT PRIMARY KEY, socket TEXT NOT NULL, body TEXT NOT NULL, meta INTEGER NOT NULL, since_ms INTEGER NOT NULL
    ) WITHOUT ROWID`)
  }

  /** Everything saved, for a relay that wakes. */
  all(): SavedSubscription[] {
    const rows = this.#storage.sql.exec<{ id: string; socket: string; body: string; meta: number; since_ms: number }>(
      'SELECT id, socket, body, meta, since_ms FROM subscription',
    )
    return rows.toArray().map((row) => ({
      id: row.id,
      socket: row.socket,
      echo: row.body,
      meta: row.meta === 1,
      sinceMs: row.since_ms,
    }))
  }

  save({ connection, echo, meta, minutes }: Subscription): void {
    this.#later(minutes.id, { id: minutes.id, socket: connection.id, echo, meta, sinceMs: minutes.sinceMs })
  }

  /** `id` is that of the subscription's minutes. */
  remove(id: string): void {
    this.#later(id, null)
  }

  #later(id: string, row: SavedSubscription | null): void {
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
            'INSERT OR REPLACE INTO subscription (id, socket, body, meta, since_ms) VALUES (?, ?, ?, ?, ?)',
            ...[id, row.socket, row.echo, row.meta ? 1 : 0, row.sinceMs],
          )
        }
      }
    })
    this.#pending.clear()
  }
}
