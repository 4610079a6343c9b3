// What the BlockLog keeps in its SQLite: the state of the chain, segments of blocks, and gaps.
// See schemas/storage.md.

import { fromChunks, toChunks } from '../core/chunks.ts'
import { type ChainState, EMPTY_CHAIN } from './chain.ts'
import type { EventsSegment, HeightAndTime } from './held-fills.ts'
import type { NewSegment } from './pending-segment.ts'
import type { Roster } from './roster.ts'
import type { SegmentKind } from './segment.ts'
import type { Gap } from './status-shape.ts'

/** Rows looked at in one turn, however small they are. */
const SEGMENTS_AT_ONCE = 64

export class BlockLogStore {
  readonly #sql: SqlStorage
  readonly #transaction: <T>(closure: () => T) => T

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql
    this.#transaction = (closure) => storage.transactionSync(closure)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)`)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS segments (
      kind TEXT NOT NULL, first INTEGER NOT NULL, part INTEGER NOT NULL, last INTEGER NOT NULL,
      time INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, first, part)) WITHOUT ROWID`)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS coins (coin TEXT PRIMARY KEY) WITHOUT ROWID`)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS gaps (first INTEGER PRIMARY KEY, last INTEGER NOT NULL)`)
    // Beside it: 0.1.0 inserts two values, and after a roll-back does so again.
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS gap_notes (first INTEGER PRIMARY KEY, why TEXT NOT NULL, at INTEGER NOT NULL)`,
    )
    this.#sql.exec(`CREATE INDEX IF NOT EXISTS gap_notes_by_time ON gap_notes (at)`)
  }

  /** The chain as of the last durable height. */
  chain(): ChainState {
    return this.#meta<ChainState>('chain') ?? EMPTY_CHAIN
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

  /** One transaction: the segment (null: none), the chain as it stands after it, and what is now too old. */
  save(segment: NewSegment | null, chain: ChainState, oldestMs: number): void {
    this.#transaction(() => {
      if (segment) for (const kind of ['books', 'events'] as const) this.#insert(kind, segment)
      this.#setMeta('chain', chain)
      this.#sql.exec(`DELETE FROM segments WHERE time < ?`, oldestMs)
    })
  }

  #insert(kind: SegmentKind, { first, last, time, lines }: NewSegment): void {
    toChunks(lines[kind]).forEach((chunk, part) => {
      this.#sql.exec(`INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?, ?, ?)`, kind, first, part, last, time, chunk)
    })
  }

  /** Lines of the segment that holds `height`, or null; they may begin before it. */
  segmentWith(kind: SegmentKind, height: number): readonly string[] | null {
    const found = this.#sql
      .exec<{ first: number; last: number }>(
        `SELECT first, last FROM segments WHERE kind = ? AND first <= ? AND part = 0 ORDER BY first DESC LIMIT 1`,
        kind,
        height,
      )
      .toArray()[0]
    if (!found || found.last < height) return null
    return this.#text(kind, found.first).split('\n')
  }

  #text(kind: SegmentKind, first: number): string {
    const chunks = this.#sql
      .exec<{ body: ArrayBuffer }>(`SELECT body FROM segments WHERE kind = ? AND first = ? ORDER BY part`, kind, first)
      .toArray()
    return fromChunks(chunks.map(({ body }) => body))
  }

  /** Height and time of the newest stored block, null while there is none. */
  newest(): HeightAndTime | null {
    const sql = `SELECT last AS height, time FROM segments WHERE kind = 'events' ORDER BY first DESC LIMIT 1`
    return this.#sql.exec<{ height: number; time: number }>(sql).toArray()[0] ?? null
  }

  /** Segments of events that begin below `before`, newest first: as many as it takes to reach `minChars`. */
  eventsBefore(before: number, minChars: number): { segments: EventsSegment[]; next: number | null } {
    const firsts = this.#sql
      .exec<{ first: number; last: number }>(
        `SELECT first, last FROM segments WHERE kind = 'events' AND part = 0 AND first < ? ORDER BY first DESC LIMIT ?`,
        before,
        SEGMENTS_AT_ONCE + 1,
      )
      .toArray()
    const segments: EventsSegment[] = []
    let chars = 0
    for (const { first, last } of firsts.slice(0, SEGMENTS_AT_ONCE)) {
      if (chars >= minChars) break
      const text = this.#text('events', first)
      segments.push({ last, text })
      chars += text.length
    }
    return { segments, next: segments.length < firsts.length ? firsts[segments.length - 1]!.first : null }
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

  /** The last height of the gap that has `height`, null where none has. */
  gapAt(height: number): number | null {
    const [found] = this.#sql
      .exec<{ last: number }>(`SELECT last FROM gaps WHERE first <= ? AND last >= ? LIMIT 1`, height, height)
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

  /** Forgets the chain and its segments; gaps stay, for the record. */
  reset(): void {
    this.#transaction(() => {
      this.#sql.exec(`DELETE FROM segments`)
      this.#sql.exec(`DELETE FROM meta WHERE key = 'chain'`)
    })
  }
}
