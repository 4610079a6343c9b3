// Stream tables of a meter: subscriptions with their last minute, the account's state on each relay, and a counter of
// terms changes.

import type { KeyHash } from '../../core/ids.ts'
import { Tables } from '../../core/tables.store.ts'
import type { StreamView } from './stream-api.ts'
import { END_REPORTS_MS, type RelayPresence, type StreamRow, type StreamTable, UNPAID_MS } from './stream-ledger.ts'

/** A row that ended or was last reported this long ago is no longer used by anything. */
const STREAM_MEMORY_MS = END_REPORTS_MS + 60_000

const SELECT = `SELECT id AS subscription, key_hash AS keyHash, body, ordinal, until AS untilMs, borrowed, rest AS restMs,
  kept_until AS keptUntilMs, type, amount, since AS sinceMs, shown FROM streams`
export class StreamStore extends Tables implements StreamTable {
  stream(subscription: string): StreamRow | null {
    return this.#rows(`${SELECT} WHERE id = ?`, subscription)[0] ?? null
  }

  putStream(row: StreamRow): void {
    const { subscription, keyHash, body, ordinal, untilMs, borrowed, restMs, keptUntilMs } = row
    const { type, amount, sinceMs, shown } = row
    this.run(
      `INSERT INTO streams (id, key_hash, body, ordinal, until, borrowed, rest, kept_until, type, amount, since, shown)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body,
       ordinal = excluded.ordinal, until = excluded.until, borrowed = excluded.borrowed, rest = excluded.rest,
       kept_until = excluded.kept_until, type = excluded.type, amount = excluded.amount`,
      ...[subscription, keyHash, body, ordinal, untilMs, borrowed ? 1 : 0, restMs, keptUntilMs],
      ...[type, amount, sinceMs, shown],
    )
  }

  /** Active subscriptions, at most `limit`, most expensive first. */
  view(nowMs: number, limit: number): StreamView {
    const here = this.presences().filter(({ untilMs }) => untilMs > nowMs)
    const sumOf = (name: 'sockets' | 'subscriptions' | 'perMinute') => here.reduce((sum, one) => sum + one[name], 0)
    const running = `${SELECT} WHERE rest IS NULL AND until > ? ORDER BY amount DESC, since, id LIMIT ?`
    const listed = this.#rows(running, nowMs - UNPAID_MS, limit)
    return {
      sockets: sumOf('sockets'),
      subscriptions: sumOf('subscriptions'),
      perMinute: sumOf('perMinute'),
      listed: listed.map(({ keyHash, type, shown, sinceMs, amount }) => ({ keyHash, type, shown, sinceMs, amount })),
    }
  }

  rest(keyHash: KeyHash, body: string, nowMs: number): StreamRow | null {
    const where = 'WHERE key_hash = ? AND body = ? AND rest > 0 AND kept_until > ? ORDER BY rest DESC LIMIT 1'
    return this.#rows(`${SELECT} ${where}`, keyHash, body, nowMs)[0] ?? null
  }

  hasRest(keyHash: KeyHash, nowMs: number): boolean {
    return this.#rows(`${SELECT} WHERE key_hash = ? AND rest > 0 AND kept_until > ? LIMIT 1`, keyHash, nowMs).length > 0
  }

  running(relay: string, nowMs: number): StreamRow[] {
    // Selects all ids that start with the relay's name and a slash. '0' is the character that follows the slash in
    // ASCII.
    return this.#rows(
      `${SELECT} WHERE id > ? AND id < ? AND rest IS NULL AND until > ?`,
      `${relay}/`,
      `${relay}0`,
      nowMs - UNPAID_MS,
    )
  }

  presences(): RelayPresence[] {
    return this.all<RelayPresence>(
      'SELECT relay, life, sockets, subscriptions, per_minute AS perMinute, until AS untilMs FROM relays',
    )
  }

  putPresence({ relay, life, sockets, subscriptions, perMinute, untilMs }: RelayPresence): void {
    if (sockets === 0) {
      this.run('DELETE FROM relays WHERE relay = ?', relay)
      return
    }
    this.run(
      `INSERT INTO relays VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET life = excluded.life, sockets = excluded.sockets,
       subscriptions = excluded.subscriptions, per_minute = excluded.per_minute, until = excluded.until`,
      ...[relay, life, sockets, subscriptions, perMinute, untilMs],
    )
  }

  terms(): number {
    return this.first<{ number: number }>('SELECT number FROM terms')?.number ?? 0
  }

  changeTerms(): void {
    this.run('INSERT INTO terms VALUES (1, 1) ON CONFLICT DO UPDATE SET number = number + 1')
  }

  /** Deletes expired rows. */
  prune(nowMs: number): void {
    this.run('DELETE FROM streams WHERE until < ?1 AND kept_until < ?1', nowMs - STREAM_MEMORY_MS)
    this.run('DELETE FROM relays WHERE until < ?', nowMs)
  }

  /** True while there are rows that `prune` must delete later. */
  hasMortalRows(): boolean {
    return this.has('SELECT 1 FROM streams LIMIT 1') || this.has('SELECT 1 FROM relays LIMIT 1')
  }

  #rows(query: string, ...bindings: (string | number)[]): StreamRow[] {
    return this.all<Omit<StreamRow, 'borrowed'> & { borrowed: number }>(query, ...bindings).map((row) => ({
      ...row,
      borrowed: row.borrowed === 1,
    }))
  }
}
