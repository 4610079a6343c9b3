// What an operator sees of all accounts together, from D1. Invariants: every list is a page behind a cursor, found by an index;
// sums are those of rows that other endpoints show one by one.

import { oneRow } from '../../core/d1.store.ts'
import { DAY_MS } from '../../core/time.ts'
import { ROW_COLUMNS, rowOf, type StoredRow } from '../../pipelines/row.ts'
import type { Business } from './operator-api.ts'

const REFUSED = 'number, at, request_id, account, key_prefix, product, type, code, message'

export function businessIn(db: D1Database): Business {
  const all = async <Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> => {
    const asked = db.prepare(sql).bind(...values.map((value) => value ?? null))
    return (await asked.all<Row>()).results
  }
  return {
    accounts: ({ search, plan, after = '' }, limit, nowMs) => {
      const select = `SELECT id AS account, plan, created,
        (SELECT count(*) FROM keys WHERE account = a.id AND revoked IS NULL AND (expires IS NULL OR expires > ?1)) AS keys,
        (SELECT max((SELECT max(hour) FROM usage WHERE key_hash = k.hash)) FROM keys k WHERE account = a.id) AS last_used
        FROM accounts a WHERE id > ?2 AND (?3 IS NULL OR instr(lower(id), lower(?3)) > 0) AND (?4 IS NULL OR plan = ?4)
        ORDER BY id LIMIT ?5`
      return all(select, nowMs, after, search, plan, limit)
    },
    counts: async () => {
      const select = `SELECT (SELECT count(*) FROM accounts) AS accounts,
        (SELECT count(*) FROM keys WHERE revoked IS NULL) AS keys,
        (SELECT count(*) FROM orders WHERE state = 'open') AS open_orders`
      return oneRow(db.prepare(select))
    },
    signUpLinks: async (sinceMs) => {
      const largest = (column: 'area' | 'domain') =>
        `coalesce((SELECT count(*) FROM day WHERE ${column} IS NOT NULL GROUP BY ${column} ORDER BY 1 DESC LIMIT 1), 0)`
      const select = `WITH day AS (SELECT area, domain FROM signup_links WHERE created > ? AND domain IS NOT NULL)
        SELECT count(*) AS links, count(DISTINCT area) AS networks, ${largest('area')} AS most_of_network,
          count(DISTINCT domain) AS domains, ${largest('domain')} AS most_of_domain FROM day`
      return oneRow(db.prepare(select).bind(sinceMs))
    },
    paid: (fromMs, toMs) => {
      const select = `SELECT currency, count(*) AS orders, sum(minor) AS minor, sum(refunded) AS refunded FROM orders
        WHERE state = 'paid' AND paid >= ? AND paid < ? GROUP BY 1 ORDER BY 1`
      return all(select, fromMs, toMs)
    },
    grants: (account, before, limit) => {
      const select = `SELECT rowid AS number, account, id, micro, created FROM grants
        WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR rowid < ?2) ORDER BY rowid DESC LIMIT ?3`
      return all(select, account, before, limit)
    },
    refusals: ({ account, code, before }, limit) => {
      const select = `SELECT ${REFUSED} FROM refusals WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR code = ?2)
        AND (?3 IS NULL OR number < ?3) ORDER BY number DESC LIMIT ?4`
      return all(select, account, code, before, limit)
    },
    pipelines: async (account, before, limit) => {
      const select = `SELECT rowid AS number, ${ROW_COLUMNS} FROM pipelines WHERE removed IS NULL
        AND (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR rowid < ?2) ORDER BY rowid DESC LIMIT ?3`
      const rows = await all<StoredRow & { number: number }>(select, account, before, limit)
      return rows.map(({ number, ...row }) => ({ number, row: rowOf(row) }))
    },
    used: (fromMs, toMs) => {
      const select = `SELECT day, product, calls AS count, micro FROM usage_days WHERE day >= ? AND day < ? ORDER BY 1, 2`
      return all(select, fromMs, toMs)
    },
    granted: (fromMs, toMs) => {
      const select = `SELECT created - created % ${DAY_MS} AS day, sum(micro) AS micro FROM grants
        WHERE created >= ? AND created < ? GROUP BY 1 ORDER BY 1`
      return all(select, fromMs, toMs)
    },
    refused: (fromMs, toMs) => {
      const select = `SELECT hour - hour % ${DAY_MS} AS day, code, sum(count) AS count FROM refusal_counts
        WHERE hour >= ? AND hour < ? GROUP BY 1, 2 ORDER BY 1, 2`
      return all(select, fromMs, toMs)
    },
    keysLike: (text, limit) => {
      // As a range, which an index finds; what follows the text in it is of base58.
      const select = `SELECT hash, prefix, label, account, revoked FROM keys
        WHERE hash = ?1 OR (prefix >= ?1 AND prefix < ?1 || '~') ORDER BY created DESC LIMIT ?2`
      return all(select, text, limit)
    },
    refusalsOf: (requestId, limit) =>
      all(`SELECT ${REFUSED} FROM refusals WHERE request_id = ? ORDER BY number DESC LIMIT ?`, requestId, limit),
  }
}
