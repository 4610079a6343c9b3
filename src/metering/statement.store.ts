// Credits granted and charged in a window of whole UTC days, with opening and closing balance, from the meter's rows.
// An hour's cost includes calls that were reported after the balance was exhausted and therefore never charged.
// Invariants (test/metering/statement.worker.test.ts): opening + granted − expired − charged = closing, to the
// micro-credit; a window's closing balance is the next one's opening balance; the closing balance after the last row is
// the current balance.

import type { MicroCredits } from '../core/amount.ts'
import { pairs } from '../core/pairs.ts'
import { Tables } from '../core/tables.store.ts'
import type { Statement, StatementGrant, StatementLine, StatementSums } from './statement.ts'

/** Maximum number of lines in a statement. Further lines are merged into one. */
const LINES_MAX = 5_000
const GIVEN_MAX = 1_000

export class Statements extends Tables {
  /** Adds to the part of an hour's cost that was never charged. */
  addUncharged(hour: number, amount: MicroCredits): void {
    const insert = 'INSERT INTO uncharged VALUES (?, ?) ON CONFLICT DO UPDATE SET amount = amount + excluded.amount'
    this.run(insert, hour, amount)
  }

  /** Unix ms of the first row; null if there is none. */
  since(): number | null {
    const select = `SELECT min(at) AS at FROM (SELECT min(at) AS at FROM grants
      UNION ALL SELECT min(since) FROM periods UNION ALL SELECT min(hour) FROM usage)`
    return this.one<{ at: number | null }>(select).at
  }

  /**
   * Sums of each window between two consecutive times. `times` is in ascending order. `left` is the current balance.
   */
  sums(times: readonly number[], left: MicroCredits): StatementSums[] {
    const sums: StatementSums[] = []
    let closing = this.#openingOf(this.#moved(times.at(-1) ?? 0, Number.MAX_SAFE_INTEGER), left)
    for (const [fromMs, toMs] of pairs(times).reverse()) {
      const moved = this.#moved(fromMs, toMs)
      const opening = this.#openingOf(moved, closing)
      sums.unshift({ opening, ...moved, closing })
      closing = opening
    }
    return sums
  }

  statement(fromMs: number, toMs: number, left: MicroCredits): Statement {
    const closing = this.#openingOf(this.#moved(toMs, Number.MAX_SAFE_INTEGER), left)
    const moved = this.#moved(fromMs, toMs)
    const given = this.all<StatementGrant>(
      `SELECT at, NULL AS plan, amount FROM grants WHERE at >= ?1 AND at < ?2
       UNION ALL SELECT since, plan, granted FROM periods WHERE since >= ?1 AND since < ?2 AND granted > 0
       ORDER BY 1 LIMIT ${GIVEN_MAX}`,
      fromMs,
      toMs,
    )
    return { opening: this.#openingOf(moved, closing), ...moved, closing, given, lines: this.#lines(fromMs, toMs) }
  }

  #lines(fromMs: number, toMs: number): StatementLine[] {
    const rows = this.all<StatementLine>(
      `SELECT key_hash AS keyHash, product, type, sum(calls) AS count, sum(amount) AS amount FROM usage
       WHERE hour >= ? AND hour < ? GROUP BY 1, 2, 3 ORDER BY 5 DESC, 2, 3, 1`,
      fromMs,
      toMs,
    )
    if (rows.length <= LINES_MAX) return rows
    const rest = rows.slice(LINES_MAX)
    const sumOf = (name: 'count' | 'amount') => rest.reduce((sum, line) => sum + line[name], 0)
    return [
      ...rows.slice(0, LINES_MAX),
      { keyHash: null, product: 'other', type: 'other', count: sumOf('count'), amount: sumOf('amount') },
    ]
  }

  #openingOf({ granted, expired, charged }: Omit<StatementSums, 'opening' | 'closing'>, closing: MicroCredits) {
    return closing - granted + expired + charged
  }

  #moved(fromMs: number, toMs: number) {
    const sum = (table: string, what: string, when: string) => `(SELECT coalesce(sum(${what}), 0) FROM ${table}
      WHERE ${when} >= ?1 AND ${when} < ?2)`
    const select = `SELECT ${sum('grants', 'amount', 'at')} + ${sum('periods', 'granted', 'since')} AS granted,
      ${sum('periods', 'expired', 'until')} AS expired, ${sum('uncharged', 'amount', 'hour')} AS writtenOff,
      ${sum('usage', 'amount', 'hour')} AS used`
    type Row = { granted: number; expired: number; writtenOff: number; used: number }
    const { used, ...moved } = this.one<Row>(select, fromMs, toMs)
    return { ...moved, charged: used - moved.writtenOff }
  }
}
