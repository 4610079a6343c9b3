// The tables of BlockLog, which are rarely written: its feeders, the coins of the epoch, and gaps. segment.store.ts
// stores the blocks, in a way that does not delay frames. See schemas/storage.md.

import type { Coin } from '../core/coin.ts'
import { migrate } from '../core/migrate.store.ts'
import { Tables } from '../core/tables.store.ts'
import type { RecordedGap } from '../protocol/feed/status-shape.ts'
import type { FeederList } from './feeder-list.ts'

const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE coins (coin TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE gaps (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, why TEXT NOT NULL, at INTEGER NOT NULL);
  CREATE INDEX gaps_by_time ON gaps (at);`

export class BlockLogStore extends Tables {
  readonly #transaction: <T>(closure: () => T) => T

  constructor(storage: DurableObjectStorage) {
    super(storage.sql)
    this.#transaction = (closure) => storage.transactionSync(closure)
    migrate(storage, [SCHEMA])
  }

  /** The list of feeders as last saved. */
  feederList(): FeederList {
    return this.#meta<FeederList>('feeders') ?? []
  }

  saveFeederList(roster: FeederList): void {
    this.#setMeta('feeders', roster)
  }

  #meta<T>(key: string): T | null {
    const row = this.first<{ value: string }>(`SELECT value FROM meta WHERE key = ?`, key)
    return row ? (JSON.parse(row.value) as T) : null
  }

  #setMeta(key: string, value: object): void {
    this.run(`INSERT OR REPLACE INTO meta VALUES (?, ?)`, key, JSON.stringify(value))
  }

  /** Coins that have a book in the current epoch. */
  coins(): string[] {
    return this.all<{ coin: Coin }>(`SELECT coin FROM coins`).map(({ coin }) => coin)
  }

  /** Replaces the coins of the epoch. */
  setCoins(coins: Iterable<string>): void {
    this.#transaction(() => {
      this.run(`DELETE FROM coins`)
      this.addCoins(coins)
    })
  }

  addCoins(coins: Iterable<string>): void {
    for (const coin of coins) this.run(`INSERT OR IGNORE INTO coins VALUES (?)`, coin)
  }

  addGap({ from, to, why, atMs }: RecordedGap): void {
    this.run(`INSERT OR REPLACE INTO gaps VALUES (?, ?, ?, ?)`, from, to, why, atMs)
  }

  /** Last height of the gap that contains `height` in the current chain; null if there is none. */
  gapAt(height: number): number | null {
    // Gaps from before a reset belong to a different chain and may cover heights of this chain.
    const [found] = this.all<{ last: number }>(
      `SELECT last FROM gaps WHERE first <= ?1 AND last >= ?1 AND why <> 'reset'
         AND at >= COALESCE((SELECT MAX(at) FROM gaps WHERE why = 'reset'), 0) LIMIT 1`,
      height,
    )
    return found?.last ?? null
  }

  /** Up to `limit` of the newest gaps, newest first. */
  gaps(limit: number): RecordedGap[] {
    return this.all<{ [Name in keyof RecordedGap]: RecordedGap[Name] }>(
      `SELECT first AS "from", last AS "to", why, at AS atMs FROM gaps ORDER BY at DESC, first DESC LIMIT ?`,
      limit,
    )
  }
}
