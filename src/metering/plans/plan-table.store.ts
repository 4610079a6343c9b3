// Table of plans in D1, and terms of individual accounts. Invariants: a plan in use cannot be removed, and an account
// cannot be put on a missing plan; each change is one statement, so there are no races.

import * as z from 'zod'
import { LIMITS_SQL } from '../../accounts/key-records.store.ts'
import { Limits } from '../../accounts/limits.ts'
import type { AccountTerms, ListedPlan, Plan } from './plan.ts'

/** Terms that are stored with an account. Absent fields come from its plan. */
const StoredTerms = Limits.extend({ micro: z.number() }).partial()

const PlanRow = z
  .object({
    name: z.string(),
    micro: z.number(),
    period: z.enum(['once', 'month']),
    days: z.number().nullable(),
    limits: z.string(),
    custom: z.number(),
    accounts: z.number(),
  })
  .transform(
    ({ name, micro, period, days, limits, custom, accounts }): ListedPlan => ({
      name,
      terms: { micro, period, days },
      limits: Limits.parse(JSON.parse(limits)),
      custom: custom === 1,
      accounts,
    }),
  )

const COLUMNS = `p.name, p.micro, p.period, p.days, p.custom, ${LIMITS_SQL} AS limits`
const SELECT = `SELECT ${COLUMNS}, (SELECT count(*) FROM accounts WHERE plan = p.name) AS accounts FROM plans p`

interface PlanAccount {
  readonly id: string
  readonly terms: AccountTerms
}

export class PlanTable {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  async list(): Promise<ListedPlan[]> {
    const { results } = await this.#db.prepare(`${SELECT} ORDER BY p.name`).all()
    return results.map((row) => PlanRow.parse(row))
  }

  /** Those of these plans that exist. Their accounts are not counted. */
  async existing(names: readonly string[]): Promise<Plan[]> {
    const query = `SELECT ${COLUMNS}, 0 AS accounts FROM plans p WHERE p.name IN (SELECT value FROM json_each(?)) ORDER BY p.name`
    const { results } = await this.#db.prepare(query).bind(JSON.stringify(names)).all()
    return results.map((row) => PlanRow.parse(row))
  }

  async named(name: string): Promise<ListedPlan | null> {
    const row = await this.#db.prepare(`${SELECT} WHERE p.name = ?`).bind(name).first()
    return row === null ? null : PlanRow.parse(row)
  }

  /** Adds or replaces the plan. */
  async put({ name, terms, limits, custom }: Plan): Promise<void> {
    await this.#db
      .prepare('INSERT OR REPLACE INTO plans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .bind(
        name,
        terms.micro,
        terms.period,
        terms.days,
        limits.requestsPerSecond,
        limits.infoRequestsPerSecond,
        limits.streamConnections,
        limits.streamSubscriptions,
        limits.streamMessagesPerMinute,
        custom ? 1 : 0,
      )
      .run()
  }

  /** Returns false and changes nothing if accounts use the plan. */
  async remove(name: string): Promise<boolean> {
    const remove = 'DELETE FROM plans WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM accounts WHERE plan = ?1)'
    return (await this.#db.prepare(remove).bind(name).run()).meta.changes > 0
  }

  /** Accounts on the plan with ids after `after`, at most `limit`. */
  async accountsOn(name: string, after: string, limit: number): Promise<PlanAccount[]> {
    const select = 'SELECT id, terms FROM accounts WHERE plan = ? AND id > ? ORDER BY id LIMIT ?'
    const { results } = await this.#db.prepare(select).bind(name, after, limit).all<{ id: string; terms: string }>()
    return results.map(({ id, terms }) => ({ id, terms: termsFrom(terms) }))
  }
}

/** Parses the terms of an account row. */
export function termsFrom(stored: string | null): AccountTerms {
  return StoredTerms.parse(JSON.parse(stored ?? '{}'))
}
