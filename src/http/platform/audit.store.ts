// The audit in D1: who asked for what, and what came of it. Invariant: rows are only added, here and nowhere else
// (test/http/docs/migrations.test.ts).

import type { Audit, AuditEntry } from './operator-api.ts'

export function auditIn(db: D1Database): Audit {
  const selected = async (where: string, values: readonly unknown[], limit: number) => {
    const select = `SELECT a.number, a.at, a.actor, a.role, a.action, a.target, coalesce(a.account, o.account) AS account,
      a.sent, a.request_id, o.status FROM audit a LEFT JOIN audit_outcomes o ON o.number = a.number
      WHERE ${where} ORDER BY a.number DESC LIMIT ?`
    const found = db.prepare(select).bind(...values, limit)
    return (await found.all<AuditEntry>()).results
  }
  return {
    begin: async ({ name, role, action, target, account, sent, requestId }, nowMs) => {
      const insert = `INSERT INTO audit (at, actor, role, action, target, account, sent, request_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
      const row = [nowMs, name, role, action, target, account, sent, requestId]
      return (
        await db
          .prepare(insert)
          .bind(...row)
          .run()
      ).meta.last_row_id
    },
    end: async (number, status, account, nowMs) => {
      const insert = 'INSERT INTO audit_outcomes (number, at, status, account) VALUES (?, ?, ?, ?)'
      await db.prepare(insert).bind(number, nowMs, status, account).run()
    },
    page: ({ actor, action, account, from, to, before }, limit) => {
      const wanted = [
        ['a.actor = ?', actor],
        ['a.action = ?', action],
        ['a.at >= ?', from],
        ['a.at < ?', to],
        ['a.number < ?', before],
        [
          'a.number IN (SELECT number FROM audit WHERE account = ? UNION SELECT number FROM audit_outcomes WHERE account = ?)',
          account,
        ],
      ].filter((each): each is [string, string | number] => each[1] !== undefined)
      const values = wanted.flatMap(([sql, value]) => Array.from(sql.matchAll(/\?/g), () => value))
      return selected(wanted.map(([sql]) => sql).join(' AND ') || 'true', values, limit)
    },
    ofRequest: (requestId, limit) => selected('a.request_id = ?', [requestId], limit),
  }
}
