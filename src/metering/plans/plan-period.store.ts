// The plan of an account in its meter, and a line for every period it had: the ledger of what was given and expired.

import { Tables } from '../../core/tables.store.ts'
import type { PlanDecision, PlanState } from './plan-period.ts'

export class PlanStore extends Tables {
  read(): PlanState | null {
    const row = this.first<Omit<PlanState, 'renews'> & { renews: number }>(
      `SELECT plan, anchor AS anchorMs, since AS sinceMs, until AS untilMs, micro, every AS everyMicro,
         used_before AS usedBefore, renews FROM plan`,
    )
    return row === undefined ? null : { ...row, renews: row.renews === 1 }
  }

  /** What later periods give; the running one stays. Nothing where the account is on another plan, or none that renews. */
  setEvery(plan: string, everyMicro: number): void {
    this.run('UPDATE plan SET every = ? WHERE plan = ? AND renews = 1', everyMicro, plan)
  }

  /** The plan after a decision; the period before it gets its end. */
  put({ state, expired }: PlanDecision): void {
    const { plan, anchorMs, sinceMs, untilMs, micro, everyMicro, usedBefore, renews } = state
    this.run(
      `INSERT INTO plan VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (one) DO UPDATE SET plan = excluded.plan,
       anchor = excluded.anchor, since = excluded.since, until = excluded.until, micro = excluded.micro,
       every = excluded.every, used_before = excluded.used_before, renews = excluded.renews`,
      plan,
      anchorMs,
      sinceMs,
      untilMs,
      micro,
      everyMicro,
      usedBefore,
      renews ? 1 : 0,
    )
    this.run('UPDATE periods SET until = ?, expired = ? WHERE expired IS NULL', sinceMs, expired)
    this.run('INSERT INTO periods (plan, since, until, granted) VALUES (?, ?, ?, ?)', plan, sinceMs, untilMs, micro)
  }
}
