// What the BlockLog keeps in tables, all of it written rarely: who fed it, coins of the epoch, and gaps.
// Blocks are in segment.store.ts, whose writes hold no frame back. See schemas/storage.md.

import type { Roster } from './roster.ts'
import type { Gap } from './status-shape.ts'

export class BlockLogStore {
  readonly #sql: SqlStorage
  readonly #transaction: <T>(closure: () => T) => T

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql
    this.#transaction = (closure) => storage.transactionSync(closure)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)`)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS coins (coin TEXT PRIMARY KEY) WITHOUT ROWID`)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS gaps (first INTEGER PRIMARY KEY, last INTEGER NOT NULL)`)
    // Beside it: 0.1.0 inserts two values, and after a roll-back does so again.
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS gap_notes (first INTEGER PRIMARY KEY, why TEXT NOT NULL, at INTEGER NOT NULL)`,
    )
    this.#sql.exec(`CREATE INDEX IF NOT EXISTS gap_notes_by_time ON gap_notes (at)`)
  }

  /** Feeders as they were when last noted. */
  roster(): Roster {
    return this.#meta<Roster>('feeders') ?? []
  }

  saveRoster(roster: Roster): void {
    this.#setMeta('feeders', roster)
  }

  #meta<T>(key: string): T | null {
    const row = this.#sql.exec<{ value: string }>(`SELECT value FROM meta WHERE key = ?`, key).toArray()[0]
    return row ? (JSON.parse(row.value) as T) : null
  }

  #setMeta(key: string, value: object): void {
    this.#sql.exec(`INSERT OR REPLACE INTO meta VALUES (?, ?)`, key, JSON.stringify(value))
  }

  /** Names of the coins that have a book in the present epoch. */
  coins(): string[] {
    return this.#sql
      .exec<{ coin: string }>(`SELECT coin FROM coins`)
      .toArray()
      .map(({ coin }) => coin)
  }

  /** Replaces the coins of the epoch. */
  setCoins(coins: Iterable<string>): void {
    this.#transaction(() => {
      this.#sql.exec(`DELETE FROM coins`)
      this.addCoins(coins)
    })
  }

  addCoins(coins: Iterable<string>): void {
    for (const coin of coins) this.#sql.exec(`INSERT OR IGNORE INTO coins VALUES (?)`, coin)
  }

  addGap({ from, to, why, atMs }: { readonly [Name in keyof Gap]: NonNullable<Gap[Name]> }): void {
    this.#transaction(() => {
      this.#sql.exec(`INSERT OR REPLACE INTO gaps (first, last) VALUES (?, ?)`, from, to)
      this.#sql.exec(`INSERT OR REPLACE INTO gap_notes VALUES (?, ?, ?)`, from, why, atMs)
    })
  }

  /** The last height of the gap of the present chain that has `height`, null where none has. */
  gapAt(height: number): number | null {
    // Heights of before a reset are those of another chain, which may have had gaps where this one has blocks.
    const [found] = this.#sql
      .exec<{ last: number }>(
        `SELECT last FROM gaps LEFT JOIN gap_notes AS notes USING (first) WHERE first <= ? AND last >= ?
         AND COALESCE(notes.why, '') <> 'reset'
         AND COALESCE(notes.at, 0) >= COALESCE((SELECT MAX(at) FROM gap_notes WHERE why = 'reset'), 0) LIMIT 1`,
        height,
        height,
      )
      .toArray()
    return found?.last ?? null
  }

  /** The newest gaps, newest first, at most `limit`. */
  gaps(limit: number): Gap[] {
    const select = (sql: string, most: number) =>
      this.#sql.exec<{ [Name in keyof Gap]: Gap[Name] }>(sql, most).toArray()
    const noted = select(
      `SELECT first AS "from", last AS "to", notes.why, notes.at AS atMs FROM gap_notes AS notes JOIN gaps USING (first)
       ORDER BY notes.at DESC, first DESC LIMIT ?`,
      limit,
    )
    if (noted.length === limit) return noted
    const unnoted = select(
      `SELECT first AS "from", last AS "to", NULL AS why, NULL AS atMs FROM gaps
       WHERE first NOT IN (SELECT first FROM gap_notes) ORDER BY first DESC LIMIT ?`,
      limit - noted.length,
    )
    return [...noted, ...unnoted]
  }
}
