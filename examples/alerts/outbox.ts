// The memory of the alert bot, in SQLite: the fills that it has seen, the block up to which it has read, and the alerts
// that the webhook has not accepted yet. Invariant: a fill is seen if and only if its alert is stored or was delivered.

import { DatabaseSync } from 'node:sqlite'
import { type LiquidationFill, nameOf } from './liquidation-groups.ts'
import type { Alert } from './messages.ts'

/** Above this, the oldest alerts are dropped and counted. */
const MAX_QUEUED = 1_000
/** The stream resumes at most five minutes back, so older fills never come again. */
const SEEN_FOR_MS = 3_600_000

export class Outbox {
  readonly #database: DatabaseSync
  readonly #maxQueued: number

  /** `file`: database, or `:memory:`. */
  constructor(file: string, maxQueued = MAX_QUEUED) {
    this.#database = new DatabaseSync(file)
    this.#maxQueued = maxQueued
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS seen (name TEXT PRIMARY KEY, time INTEGER) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS seen_by_time ON seen (time);
      CREATE TABLE IF NOT EXISTS queue (id INTEGER PRIMARY KEY AUTOINCREMENT, alert TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY CHECK (id = 1), height INTEGER, dropped INTEGER NOT NULL);
      INSERT INTO place VALUES (1, NULL, 0) ON CONFLICT DO NOTHING;
    `)
  }

  get #place(): { height: number | null; dropped: number } {
    return this.#database.prepare('SELECT height, dropped FROM place').get() as {
      height: number | null
      dropped: number
    }
  }

  /** Block up to which every liquidation was stored; null at the first start. */
  get height(): number | null {
    return this.#place.height
  }

  set height(height: number) {
    this.#database.prepare('UPDATE place SET height = ?').run(height)
  }

  /** Alerts dropped since the last delivery. */
  get dropped(): number {
    return this.#place.dropped
  }

  has(fill: LiquidationFill): boolean {
    return this.#database.prepare('SELECT 1 FROM seen WHERE name = ?').get(nameOf(fill)) !== undefined
  }

  /** Marks the fills of a group as seen, and queues its alert in the same transaction. Null: it is too small to report. */
  store(fills: readonly string[], time: number, alert: Alert | null): void {
    this.#database.exec('BEGIN')
    const see = this.#database.prepare('INSERT INTO seen VALUES (?, ?) ON CONFLICT DO NOTHING')
    for (const name of fills) see.run(name, time)
    this.#database.prepare('DELETE FROM seen WHERE time < ?').run(time - SEEN_FOR_MS)
    if (alert) this.#database.prepare('INSERT INTO queue (alert) VALUES (?)').run(JSON.stringify(alert))
    const excess = 'SELECT id FROM queue ORDER BY id DESC LIMIT -1 OFFSET ?'
    const { changes } = this.#database.prepare(`DELETE FROM queue WHERE id IN (${excess})`).run(this.#maxQueued)
    this.#database.prepare('UPDATE place SET dropped = dropped + ?').run(changes)
    this.#database.exec('COMMIT')
  }

  /** The oldest queued alerts. */
  first(count: number): { id: number; alert: Alert }[] {
    const rows = this.#database.prepare('SELECT id, alert FROM queue ORDER BY id LIMIT ?').all(count)
    return (rows as { id: number; alert: string }[]).map(({ id, alert }) => ({ id, alert: JSON.parse(alert) as Alert }))
  }

  /** The webhook has accepted the alerts up to this one, and the count of dropped ones. */
  delivered(lastId: number, dropped: number): void {
    this.#database.exec('BEGIN')
    this.#database.prepare('DELETE FROM queue WHERE id <= ?').run(lastId)
    this.#database.prepare('UPDATE place SET dropped = dropped - ?').run(dropped)
    this.#database.exec('COMMIT')
  }

  close(): void {
    this.#database.close()
  }
}
