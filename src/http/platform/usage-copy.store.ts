// Copies of the meters' usage rows in D1, and their sums by day. Invariants: a row holds the sums of its hour of the most
// changes, so that a repeated, reordered or late copy changes nothing, and a refund lowers it; a day is the sum of its rows.

import type { UsageRow } from '../../metering/usage.ts'

/** The rows that were sent, of each the newest: SQLite takes the other columns from the row of the maximum. */
const SENT = `SELECT value ->> 'keyHash' AS key_hash, value ->> 'hour' AS hour, value ->> 'product' AS product,
  value ->> 'type' AS type, value ->> 'calls' AS calls, value ->> 'amount' AS micro, max(value ->> 'changes') AS changes
  FROM json_each(?) GROUP BY 1, 2, 3, 4`

/** Before the rows themselves: by how much they differ from those that are there. */
const ADD_TO_DAYS = `INSERT INTO usage_days
  SELECT hour - hour % 86400000, product, sum(sent.calls - coalesce(kept.calls, 0)) AS added_calls,
    sum(sent.micro - coalesce(kept.micro, 0)) AS added_micro
  FROM (${SENT}) sent LEFT JOIN usage kept USING (key_hash, hour, product, type)
  WHERE sent.changes > coalesce(kept.changes, 0)
  GROUP BY 1, 2
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, micro = micro + excluded.micro`

const COPY = `INSERT INTO usage (key_hash, hour, product, type, calls, micro, changes) SELECT * FROM (${SENT}) WHERE true
  ON CONFLICT DO UPDATE SET calls = excluded.calls, micro = excluded.micro, changes = excluded.changes
  WHERE excluded.changes > changes`

/** One transaction for all rows: all are kept, and counted, or none. */
export async function storeUsage(db: D1Database, rows: readonly UsageRow[]): Promise<void> {
  const text = JSON.stringify(rows)
  await db.batch([ADD_TO_DAYS, COPY].map((sql) => db.prepare(sql).bind(text)))
}
