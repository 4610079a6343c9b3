// Usage reports of an account, from the hourly rows of meter.store.ts. A report blocks all other calls of the account.
// A page therefore reads only its own days, a report reads each day once, and frequent queries read only the last few
// hours. Invariant: `calls` counts minutes in `stream` rows, rows in `pipeline` rows, and calls in all other rows.
// These counts are never added together.

import type { MicroCredits } from '../core/amount.ts'
import { BoundedMap } from '../core/bounded-map.ts'
import type { KeyHash } from '../core/ids.ts'
import { Tables } from '../core/tables.store.ts'
import { DAY_MS } from '../core/time.ts'
import {
  hourOf,
  type StackedUsage,
  sumOfUsage,
  type UsagePage,
  type UsagePosition,
  type UsageRecord,
  type UsageReport,
  type UsageSum,
} from './usage.ts'

/** An hour's cost is final after this time: relays refund unserved minutes within an hour. */
const SETTLED_MS = 2 * 3_600_000
/** Maximum number of days whose settled cost is cached. */
const CACHED_DAYS = 16
/** Maximum number of keys in a report. The number of types is small by design. */
const KEYS_MAX = 1_000

const SUMS = `sum(iif(product IN ('stream', 'pipeline'), 0, calls)) AS calls, sum(iif(product = 'stream', calls, 0)) AS minutes,
  sum(iif(product = 'pipeline', calls, 0)) AS rows, sum(amount) AS amount`
const HOURS = 'FROM usage WHERE hour >= ?1 AND hour < ?2'

/** Selects rows of a day: those after a cursor, at most `limit`, or those of one key. */
interface UsageFilter {
  readonly after?: UsagePosition | null
  readonly limit?: number
  readonly keyHash?: KeyHash | null
}

export class UsageReports extends Tables {
  /** Cost of each day up to its last hour whose cost is final. */
  readonly #settled = new BoundedMap<number, { readonly untilMs: number; readonly amount: MicroCredits }>(CACHED_DAYS)

  spentByDay(days: readonly number[], nowMs: number): MicroCredits[] {
    return days.map((day) => {
      const endMs = day + DAY_MS
      const known = this.#settled.get(day) ?? { untilMs: day, amount: 0 }
      const untilMs = Math.min(Math.max(hourOf(nowMs) - SETTLED_MS, known.untilMs), endMs)
      // The hours of a finished day may have been merged into its first hour, so the whole day is read again.
      const before = untilMs === endMs && known.untilMs < endMs ? { untilMs: day, amount: 0 } : known
      const amount = before.amount + this.#spentIn(before.untilMs, untilMs)
      this.#settled.set(day, { untilMs, amount })
      return amount + this.#spentIn(untilMs, endMs)
    })
  }

  #spentIn(fromMs: number, toMs: number): MicroCredits {
    if (fromMs >= toMs) return 0
    const [sum] = this.all<{ amount: number | null }>(`SELECT sum(amount) AS amount ${HOURS}`, fromMs, toMs)
    return sum?.amount ?? 0
  }

  /** Usage of the account, or of one key. */
  report(fromMs: number, toMs: number, keyHash: KeyHash | null = null): UsageReport {
    const byDay: (UsageSum & { day: number })[] = []
    const byKey = new Map<string, UsageRecord>()
    const byType = new Map<string, UsageRecord>()
    for (const day of this.#days(fromMs, toMs)) {
      const rows = this.#ofDay(day, fromMs, toMs, { keyHash })
      if (rows.length > 0) byDay.push({ day, ...sumOfUsage(rows) })
      for (const row of rows) {
        add(byKey, row.keyHash, row)
        add(byType, `${row.product} ${row.type}`, row)
      }
    }
    return {
      byDay,
      byKey: sortedBySpending(byKey)
        .slice(0, KEYS_MAX)
        .map(({ keyHash, ...row }) => ({ keyHash, ...sumOfUsage([row]) })),
      byType: sortedBySpending(byType).map(({ product, type, ...row }) => ({ product, type, ...sumOfUsage([row]) })),
    }
  }

  /** At most `limit` rows after the cursor; null: from the start. */
  page(fromMs: number, toMs: number, after: UsagePosition | null, limit: number): UsagePage {
    const [total] = this.all<UsageSum>(`SELECT ${SUMS} ${HOURS} HAVING count(*) > 0`, fromMs, toMs)
    const rows: UsageRecord[] = []
    for (const day of this.#days(Math.max(fromMs, after?.day ?? 0), toMs)) {
      const room = limit - rows.length
      if (room === 0) break
      rows.push(...this.#ofDay(day, fromMs, toMs, { after: day === after?.day ? after : null, limit: room }))
    }
    return { total: total ?? sumOfUsage([]), rows }
  }

  /** Daily usage of each of the `maxParts` parts with the highest totals, and the sum of all other parts. */
  stacked(fromMs: number, toMs: number, by: 'key' | 'type', maxParts: number): StackedUsage[] {
    const part = by === 'key' ? 'key_hash' : "product || ' ' || type"
    return this.all<StackedUsage>(
      `WITH top AS (SELECT ${part} AS part ${HOURS} GROUP BY 1 ORDER BY sum(amount) DESC, 1 LIMIT ?3)
       SELECT hour - hour % ${DAY_MS} AS day, iif(${part} IN (SELECT part FROM top), ${part}, '') AS part, sum(amount) AS amount
       ${HOURS} GROUP BY 1, 2 ORDER BY 1, 2`,
      ...[fromMs, toMs, maxParts],
    )
  }

  /** Spending of each key since `fromMs`; keys without spending are omitted. */
  spentBy(keyHashes: readonly KeyHash[], fromMs: number): ReadonlyMap<string, MicroCredits> {
    const rows = this.all<{ keyHash: KeyHash; amount: number }>(
      `SELECT key_hash AS keyHash, sum(amount) AS amount FROM usage
       WHERE hour >= ? AND key_hash IN (SELECT value FROM json_each(?)) GROUP BY 1`,
      fromMs,
      JSON.stringify(keyHashes),
    )
    return new Map(rows.map(({ keyHash, amount }) => [keyHash, amount]))
  }

  /** Days with usage, oldest first. */
  *#days(fromMs: number, toMs: number): Generator<number> {
    const first = `SELECT hour ${HOURS} ORDER BY hour LIMIT 1`
    for (let next = fromMs; ; ) {
      const [row] = this.all<{ hour: number }>(first, next, toMs)
      if (row === undefined) return
      const day = row.hour - (row.hour % DAY_MS)
      yield day
      next = day + DAY_MS
    }
  }

  #ofDay(day: number, fromMs: number, toMs: number, only: UsageFilter = {}): UsageRecord[] {
    const { after = null, limit = -1, keyHash = null } = only
    return this.all<UsageRecord>(
      `SELECT ?3 AS day, key_hash AS keyHash, product, type, ${SUMS}
       ${HOURS} AND (key_hash, product, type) > (?4, ?5, ?6) AND key_hash = coalesce(?8, key_hash) GROUP BY 2, 3, 4 ORDER BY 2, 3, 4 LIMIT ?7`,
      ...[Math.max(day, fromMs), Math.min(day + DAY_MS, toMs)],
      ...[day, after?.keyHash ?? '', after?.product ?? '', after?.type ?? '', limit, keyHash],
    )
  }
}

function add(sums: Map<string, UsageRecord>, name: string, row: UsageRecord): void {
  const sum = sums.get(name)
  sums.set(name, sum === undefined ? row : { ...row, ...sumOfUsage([sum, row]) })
}

/** Equal spending is ordered by name. */
function sortedBySpending(sums: ReadonlyMap<string, UsageRecord>): UsageRecord[] {
  return [...sums].sort(([a, { amount: x }], [b, { amount: y }]) => y - x || (a < b ? -1 : 1)).map(([, sum]) => sum)
}
