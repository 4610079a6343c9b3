// Tables of refusals in D1 USAGE. Invariants: a batch is stored completely or not at all; each account keeps only its newest
// rows, so a flood of rejections takes bounded space.

import type { RefusalBatch } from './refused-calls.ts'

const ROWS_MAX = 500
const COUNTS_TTL_MS = 90 * 86_400_000

const ROWS = `INSERT INTO refusals (at, request_id, account, key_hash, product, type, code, message)
  SELECT value ->> 'at', value ->> 'requestId', value ->> 'account', value ->> 'keyHash', value ->> 'product',
  value ->> 'type', value ->> 'code', value ->> 'message' FROM json_each(?) ORDER BY key`
const COUNTS = `INSERT INTO refusal_counts (hour, account, code, count)
  SELECT value ->> 'hour', value ->> 'account', value ->> 'code', value ->> 'count' FROM json_each(?) WHERE true
  ON CONFLICT DO UPDATE SET count = count + excluded.count`
const SURPLUS = `DELETE FROM refusals WHERE number IN (SELECT number FROM (
  SELECT number, row_number() OVER (PARTITION BY account ORDER BY at DESC, number DESC) AS place FROM refusals
  WHERE account IN (SELECT value FROM json_each(?))) WHERE place > ${ROWS_MAX})`

export async function storeRefusals(db: D1Database, { rows, counts }: RefusalBatch, nowMs: number): Promise<void> {
  const accounts = [...new Set(rows.map(({ account }) => account))]
  await db.batch([
    db.prepare(ROWS).bind(JSON.stringify(rows)),
    db.prepare(COUNTS).bind(JSON.stringify(counts)),
    db.prepare(SURPLUS).bind(JSON.stringify(accounts)),
    db.prepare('DELETE FROM refusal_counts WHERE hour < ?').bind(nowMs - COUNTS_TTL_MS),
  ])
}
