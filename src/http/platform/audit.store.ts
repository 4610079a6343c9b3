// The audit in D1: who asked for what, and what came of it. Invariant: rows are only added, here and nowhere else
// (test/http/docs/migrations.test.ts).

import type { AuditRow } from './audit.ts'
import type { Audit, AuditEntry, AuditFilter } from './operator-api.ts'

export class AuditStore implements Audit {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  /** Its number. Rejects where it could not be written: then nothing must be done. */
  async begin({ name, role, action, target, account, sent, requestId }: AuditRow, nowMs: number): Promise<number> {
    const insert = `INSERT INTO audit (at, actor, role, action, target, account, sent, request_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
    const { meta } = await this.#db
      .prepare(insert)
      .bind(nowMs, name, role, action, target, account, sent, requestId)
      .run()
    return meta.last_row_id
  }

  async end(number: number, status: number, account: string | null, nowMs: number): Promise<void> {
    const insert = 'INSERT INTO audit_outcomes (number, at, status, account) VALUES (?, ?, ?, ?)'
    await this.#db.prepare(insert).bind(number, nowMs, status, account).run()
  }

  /** Newest first. */
  async page({ actor, action, account, from, to, before }: AuditFilter, limit: number): Promise<AuditEntry[]> {
    const wanted = [
      ['a.actor = ?', actor],
      ['a.action = ?', action],
      ['a.at >= ?', from],
      ['a.at < ?', to],
      ['a.number < ?', before],
      [
        `a.number IN (SELECT number FROM audit WHERE account = ? UNION SELECT number FROM audit_outcomes WHERE account = ?)`,
        account,
      ],
    ].filter((each): each is [string, string | number] => each[1] !== undefined)
    const values = wanted.flatMap(([sql, value]) => Array.from(sql.matchAll(/\?/g), () => value))
    return this.#select(wanted.map(([sql]) => sql).join(' AND ') || 'true', values, limit)
  }

  /** Rows of one request. */
  async ofRequest(requestId: string, limit: number): Promise<AuditEntry[]> {
    return this.#select('a.request_id = ?', [requestId], limit)
  }

  async #select(where: string, values: readonly unknown[], limit: number): Promise<AuditEntry[]> {
    const select = `SELECT a.number, a.at, a.actor, a.role, a.action, a.target, coalesce(a.account, o.account) AS account,
      a.sent, a.request_id, o.status FROM audit a LEFT JOIN audit_outcomes o ON o.number = a.number
      WHERE ${where} ORDER BY a.number DESC LIMIT ?`
    const found = this.#db.prepare(select).bind(...values, limit)
    return (await found.all<AuditEntry>()).results
  }
}
