// Audit log in D1: each request and its outcome. Invariant: rows are only inserted, and only here
// (test/http/docs/migrations.test.ts).

import type { Audit } from './platform-api.ts'

export function auditIn(db: D1Database): Audit {
  return {
    start: async ({ name, role, action, target, account, sent, requestId }, nowMs) => {
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
    finish: async (number, status, account, nowMs) => {
      const insert = 'INSERT INTO audit_outcomes (number, at, status, account) VALUES (?, ?, ?, ?)'
      await db.prepare(insert).bind(number, nowMs, status, account).run()
    },
  }
}
