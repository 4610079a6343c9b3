// What an account used, summed from the meter's hours; the table is meter.store.ts's. Law: a row of the product `stream`
// counts minutes, any other one calls; the two are never added up.

import type { DayUsage, PlacedUsage, UsagePlace, UsageReport } from './usage.ts'

/** A year of a hundred keys in use every day. */
const DAY_ROWS_MAX = 40_000
/** Keys of a report; of types there are only so many. */
const KEYS_MAX = 1_000

const DAY = 'hour - hour % 86400000'
const SUMS = `sum(iif(product = 'stream', 0, calls)) AS calls, sum(iif(product = 'stream', calls, 0)) AS minutes,
  sum(amount) AS amount`
const HOURS = 'FROM usage WHERE hour >= ?1 AND hour < ?2'
const MOST_FIRST = 'ORDER BY sum(amount) DESC, 1, 2'

type Named<Row> = { [Name in keyof Row]: Row[Name] & SqlStorageValue }

export class UsageReports {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** For gateways of 0.1.0: calls and minutes in one number. */
  byDay(fromMs: number, toMs: number): DayUsage[] {
    return this.#rows<DayUsage>(
      `SELECT ${DAY} AS day, key_hash AS keyHash, sum(calls) AS calls, sum(amount) AS amount
       ${HOURS} GROUP BY day, key_hash ORDER BY day, key_hash LIMIT ${DAY_ROWS_MAX}`,
      fromMs,
      toMs,
    )
  }

  report(fromMs: number, toMs: number): UsageReport {
    const byDay = `SELECT ${DAY} AS day, ${SUMS} ${HOURS} GROUP BY day ORDER BY day`
    const byKey = `SELECT key_hash AS keyHash, ${SUMS} ${HOURS} GROUP BY key_hash ${MOST_FIRST} LIMIT ${KEYS_MAX}`
    const byType = `SELECT product, type, ${SUMS} ${HOURS} GROUP BY product, type ${MOST_FIRST}`
    return {
      byDay: this.#rows(byDay, fromMs, toMs),
      byKey: this.#rows(byKey, fromMs, toMs),
      byType: this.#rows(byType, fromMs, toMs),
    }
  }

  /** At most `limit` rows that come after this place; null: from the first. */
  rows(fromMs: number, toMs: number, after: UsagePlace | null, limit: number): PlacedUsage[] {
    const { day, keyHash, product, type } = after ?? { day: -1, keyHash: '', product: '', type: '' }
    return this.#rows(
      `SELECT ${DAY} AS day, key_hash AS keyHash, product, type, ${SUMS}
       ${HOURS} AND hour >= ?3 AND (${DAY}, key_hash, product, type) > (?3, ?4, ?5, ?6)
       GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 LIMIT ?7`,
      ...[fromMs, toMs, day, keyHash, product, type, limit],
    )
  }

  #rows<Row extends object>(select: string, ...values: readonly SqlStorageValue[]): Row[] {
    return this.#sql.exec<Named<Row>>(select, ...values).toArray()
  }
}
