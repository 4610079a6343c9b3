// Copies of the meters' usage rows in D1, and their sums by day. Invariants: a row holds the sum of its hour as last
// reported; since sums only grow, a repeated, reordered or late copy changes nothing; a day is the sum of its rows.

import type { UsageRow } from '../../metering/usage.ts'

/** The rows that were sent, each once. */
const SENT = `SELECT value ->> 'keyHash' AS key_hash, value ->> 'hour' AS hour, value ->> 'product' AS product,
  value ->> 'type' AS type, max(value ->> 'calls') AS calls, max(value ->> 'amount') AS micro
  FROM json_each(?) GROUP BY 1, 2, 3, 4`

/** Before the rows themselves: what they have beyond those that are there. */
const ADD_TO_DAYS = `INSERT INTO usage_days
  SELECT hour - hour % 86400000, product, sum(max(0, sent.calls - coalesce(kept.calls, 0))) AS added_calls,
    sum(max(0, sent.micro - coalesce(kept.micro, 0))) AS added_micro
  FROM (${SENT}) sent LEFT JOIN usage kept USING (key_hash, hour, product, type)
  GROUP BY 1, 2 HAVING added_calls > 0 OR added_micro > 0
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, micro = micro + excluded.micro`

const COPY = `INSERT INTO usage (key_hash, hour, product, type, calls, micro) SELECT * FROM (${SENT}) WHERE true
  ON CONFLICT DO UPDATE SET calls = max(calls, excluded.calls), micro = max(micro, excluded.micro)`

/** One transaction for all rows: all are kept, and counted, or none. */
export async function keepUsage(db: D1Database, rows: readonly UsageRow[]): Promise<void> {
  const text = JSON.stringify(rows)
  await db.batch([ADD_TO_DAYS, COPY].map((sql) => db.prepare(sql).bind(text)))
}
