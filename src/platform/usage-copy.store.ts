// Copies of the meters' usage rows in D1. Law: a row holds the sum of its hour as last reported; since sums only grow,
// a repeated, reordered or late copy changes nothing.

import type { UsageRow } from '../credit/usage.ts'

const COPY = `INSERT INTO usage (key_hash, hour, product, type, calls, micro)
  SELECT value ->> 'keyHash', value ->> 'hour', value ->> 'product', value ->> 'type', value ->> 'calls', value ->> 'amount'
  FROM json_each(?) WHERE true
  ON CONFLICT DO UPDATE SET calls = max(calls, excluded.calls), micro = max(micro, excluded.micro)`

/** One statement for all rows: all are kept or none. */
export async function keepUsage(db: D1Database, rows: readonly UsageRow[]): Promise<void> {
  await db.prepare(COPY).bind(JSON.stringify(rows)).run()
}
