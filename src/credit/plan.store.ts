// The plan of an account in its meter, and a line for every period it had: the ledger of what was given and expired.

import type { PlanDecision, PlanState } from './plan-period.ts'

const TABLES = `
  CREATE TABLE IF NOT EXISTS plan (
    one INTEGER PRIMARY KEY CHECK (one = 1), plan TEXT NOT NULL, anchor INTEGER NOT NULL, since INTEGER NOT NULL,
    until INTEGER, micro INTEGER NOT NULL, every INTEGER NOT NULL, used_before INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS periods (
    number INTEGER PRIMARY KEY, plan TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER, granted INTEGER NOT NULL,
    expired INTEGER) STRICT;`

export class PlanStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(TABLES)
  }

  read(): PlanState | null {
    const row = this.#sql
      .exec<Record<string, string | number | null>>(
        `SELECT plan, anchor AS anchorMs, since AS sinceMs, until AS untilMs, micro, every AS everyMicro,
         used_before AS usedBefore FROM plan`,
      )
      .toArray()[0]
    return row === undefined ? null : (row as unknown as PlanState)
  }

  /** The plan after a decision; the period before it gets its end. */
  put({ state, expired }: PlanDecision): void {
    const { plan, anchorMs, sinceMs, untilMs, micro, everyMicro, usedBefore } = state
    this.#sql.exec(
      `INSERT INTO plan VALUES (1, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (one) DO UPDATE SET plan = excluded.plan,
       anchor = excluded.anchor, since = excluded.since, until = excluded.until, micro = excluded.micro,
       every = excluded.every, used_before = excluded.used_before`,
      plan,
      anchorMs,
      sinceMs,
      untilMs,
      micro,
      everyMicro,
      usedBefore,
    )
    this.#sql.exec('UPDATE periods SET until = ?, expired = ? WHERE expired IS NULL', sinceMs, expired)
    this.#sql.exec(
      'INSERT INTO periods (plan, since, until, granted) VALUES (?, ?, ?, ?)',
      plan,
      sinceMs,
      untilMs,
      micro,
    )
  }
}
