// Copies the meters' usage rows to D1 USAGE, maintains hourly and daily sums, and finds the last use of keys. Invariants:
// for each hour the row with the most changes wins, so that repeated, reordered or late copies have no effect, while a
// refund lowers the sum; an hour and a day are the sums of their rows.

import type { KeyHash } from '../../core/ids.ts'
import { DAY_MS, HOUR_MS } from '../../core/time.ts'
import type { UsageRow } from '../../metering/usage.ts'

/** The newest version of each received row. SQLite takes the other columns from the row that has the maximum. */
const SENT = `SELECT value ->> 'keyHash' AS key_hash, value ->> 'hour' AS hour, value ->> 'product' AS product,
  value ->> 'type' AS type, value ->> 'calls' AS calls, value ->> 'amount' AS micro, max(value ->> 'changes') AS changes
  FROM json_each(?) GROUP BY 1, 2, 3, 4`

/** Hourly sums are kept for the charts of two days. */
const HOURS_KEPT_MS = 3 * DAY_MS

/** Adds the difference between the received and the stored rows to sums. Must run before the rows are copied. */
const addTo = (table: string, stepMs: number) => `INSERT INTO ${table}
  SELECT hour - hour % ${stepMs}, product, sum(sent.calls - coalesce(kept.calls, 0)) AS added_calls,
    sum(sent.micro - coalesce(kept.micro, 0)) AS added_micro
  FROM (${SENT}) sent LEFT JOIN usage kept USING (key_hash, hour, product, type)
  WHERE sent.changes > coalesce(kept.changes, 0)
  GROUP BY 1, 2
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, micro = micro + excluded.micro`

const ADD_TO_DAYS = addTo('usage_days', DAY_MS)
const ADD_TO_HOURS = addTo('usage_hours', HOUR_MS)

const COPY = `INSERT INTO usage (key_hash, hour, product, type, calls, micro, changes) SELECT * FROM (${SENT}) WHERE true
  ON CONFLICT DO UPDATE SET calls = excluded.calls, micro = excluded.micro, changes = excluded.changes
  WHERE excluded.changes > changes`

/** Stores and sums all rows in one transaction. */
export async function storeUsage(db: D1Database, rows: readonly UsageRow[]): Promise<void> {
  const text = JSON.stringify(rows)
  const oldest = Math.max(0, ...rows.map(({ hour }) => hour)) - HOURS_KEPT_MS
  await db.batch([
    ...[ADD_TO_DAYS, ADD_TO_HOURS, COPY].map((sql) => db.prepare(sql).bind(text)),
    db.prepare('DELETE FROM usage_hours WHERE hour < ?').bind(oldest),
  ])
}

const LAST_USED = `SELECT value AS hash, (SELECT max(hour) FROM usage WHERE key_hash = value) AS hour FROM json_each(?)`

/** Start of the last hour with charges, by key. Keys without charges are omitted. */
export async function lastUsed(db: D1Database, hashes: readonly KeyHash[]): Promise<ReadonlyMap<string, number>> {
  if (hashes.length === 0) return new Map()
  const found = db.prepare(LAST_USED).bind(JSON.stringify(hashes))
  const { results } = await found.all<{ hash: string; hour: number | null }>()
  return new Map(results.flatMap(({ hash, hour }) => (hour === null ? [] : [[hash, hour]])))
}
