// What a BookHub keeps in its SQLite: its place in the shards and one checkpoint a coin.
// See schemas/storage.md.

import { fromChunks, toChunks } from '../core/chunks.ts'
import type { Checkpoint } from './coin-book.ts'

/** Which shard of how many the stored coins belong to, and the epoch and seed height they descend from. */
interface ShardStamp {
  readonly shards: number
  readonly index: number
  readonly epoch: string
  readonly seedHeight: number
}

export class CheckpointStore {
  readonly #sql: SqlStorage
  readonly #transaction: <T>(closure: () => T) => T

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql
    this.#transaction = (closure) => storage.transactionSync(closure)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)`)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS checkpoints (
      coin TEXT NOT NULL, part INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (coin, part)) WITHOUT ROWID`)
  }

  stamp(): ShardStamp | null {
    const row = this.#sql.exec<{ value: string }>(`SELECT value FROM meta WHERE key = 'stamp'`).toArray()[0]
    return row ? (JSON.parse(row.value) as ShardStamp) : null
  }

  /** Begins an epoch: checkpoints of the old one are of no use and go. */
  begin(stamp: ShardStamp): void {
    this.#transaction(() => {
      this.#sql.exec(`INSERT OR REPLACE INTO meta VALUES ('stamp', ?)`, JSON.stringify(stamp))
      this.#sql.exec(`DELETE FROM checkpoints`)
    })
  }

  /** Stores some checkpoints in one transaction. */
  save(checkpoints: readonly Checkpoint[]): void {
    this.#transaction(() => {
      for (const checkpoint of checkpoints) {
        this.#sql.exec(`DELETE FROM checkpoints WHERE coin = ?`, checkpoint.coin)
        toChunks(JSON.stringify(checkpoint)).forEach((chunk, part) => {
          this.#sql.exec(`INSERT INTO checkpoints VALUES (?, ?, ?)`, checkpoint.coin, part, chunk)
        })
      }
    })
  }

  /** Forgets the checkpoints of repaired coins: no blocks of the log lead from them to the repaired books. */
  drop(coins: readonly string[]): void {
    this.#transaction(() => {
      for (const coin of coins) this.#sql.exec(`DELETE FROM checkpoints WHERE coin = ?`, coin)
    })
  }

  /** Every stored checkpoint. */
  load(): Checkpoint[] {
    const bodies = new Map<string, ArrayBuffer[]>()
    const rows = this.#sql.exec<{ coin: string; body: ArrayBuffer }>(
      `SELECT coin, body FROM checkpoints ORDER BY coin, part`,
    )
    for (const { coin, body } of rows) {
      const chunks = bodies.get(coin)
      if (chunks) chunks.push(body)
      else bodies.set(coin, [body])
    }
    return [...bodies.values()].map((chunks) => JSON.parse(fromChunks(chunks)) as Checkpoint)
  }
}
