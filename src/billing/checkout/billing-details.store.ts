// Billing details in D1. Invariant: rows are never changed or removed, because invoices refer to them.

import { DAY_MS } from '../../core/time.ts'
import { BILLING_CHANGES_MAX, type Billing, type BillingChange, type BillingDetails } from './billing-details.ts'

interface Row extends Omit<BillingChange, 'details'> {
  readonly details: string
}

export function billingIn(db: D1Database, nowMs: () => number): Billing {
  async function changes(account: string, limit: number): Promise<readonly BillingChange[]> {
    const select = `SELECT b.details, b.created AS at, coalesce(k.prefix, b.root) AS "by", b.member
      FROM billing_details b LEFT JOIN keys k ON k.hash = b.root WHERE b.account = ? ORDER BY b.id DESC LIMIT ?`
    const { results } = await db.prepare(select).bind(account, limit).all<Row>()
    return results.map((row) => ({ ...row, details: JSON.parse(row.details) as BillingDetails }))
  }

  return {
    changes,
    async set(account, details, author) {
      const insert = `INSERT INTO billing_details (account, details, created, root, member) SELECT ?1, ?2, ?3, ?4, ?7
        WHERE (SELECT count(*) FROM billing_details WHERE account = ?1 AND created > ?5) < ?6
        AND ?2 IS NOT (SELECT details FROM billing_details WHERE account = ?1 ORDER BY id DESC LIMIT 1)`
      const text = JSON.stringify(details)
      const now = nowMs()
      const { root = null, member = null } = author ?? {}
      const values = [account, text, now, root, now - DAY_MS, BILLING_CHANGES_MAX, member]
      const { meta } = await db
        .prepare(insert)
        .bind(...values)
        .run()
      if (meta.changes > 0) return true
      const [current] = await changes(account, 1)
      return JSON.stringify(current?.details) === text
    },
  }
}
