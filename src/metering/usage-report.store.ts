// What an account used, summed from the meter's hours; the table is meter.store.ts's. Laws: a row of the product `stream`
// counts minutes, one of `pipeline` rows, any other one calls; they are never added up. All calls of the account wait meanwhile, so a page
// reads the days that it shows, a report reads each day once, and what is asked all the time reads the last hours alone.

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

/** What an hour cost is settled so long after it began: minutes that a relay could not serve are given back within an hour. */
const SETTLED_MS = 2 * 3_600_000
/** Days whose settled part is remembered. */
const CACHED_DAYS = 16
/** Keys of a report; of types there are only so many. */
const KEYS_MAX = 1_000

const SUMS = `sum(iif(product IN ('stream', 'pipeline'), 0, calls)) AS calls, sum(iif(product = 'stream', calls, 0)) AS minutes,
  sum(iif(product = 'pipeline', calls, 0)) AS rows, sum(amount) AS amount`
const HOURS = 'FROM usage WHERE hour >= ?1 AND hour < ?2'

/** Which rows of a day: those behind a place, so many, or those of one key. */
interface UsageFilter {
  readonly after?: UsagePosition | null
  readonly limit?: number
  readonly keyHash?: KeyHash | null
}

export class UsageReports extends Tables {
  /** By day, what it cost up to a settled hour. */
  readonly #settled = new BoundedMap<number, { readonly untilMs: number; readonly amount: MicroCredits }>(CACHED_DAYS)

  spentByDay(days: readonly number[], nowMs: number): MicroCredits[] {
    return days.map((day) => {
      const endMs = day + DAY_MS
      const known = this.#settled.get(day) ?? { untilMs: day, amount: 0 }
      const untilMs = Math.min(Math.max(hourOf(nowMs) - SETTLED_MS, known.untilMs), endMs)
      // Hours of a day that is over may stand in its first one by now.
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

  /** Of the account, or of one of its keys. */
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

  /** At most `limit` rows that come after this place; null: from the first. */
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

  /** Of each day what the parts used that spent most in all, at most `most` of them, and the others together. */
  stacked(fromMs: number, toMs: number, by: 'key' | 'type', most: number): StackedUsage[] {
    const part = by === 'key' ? 'key_hash' : "product || ' ' || type"
    return this.all<StackedUsage>(
      `WITH top AS (SELECT ${part} AS part ${HOURS} GROUP BY 1 ORDER BY sum(amount) DESC, 1 LIMIT ?3)
       SELECT hour - hour % ${DAY_MS} AS day, iif(${part} IN (SELECT part FROM top), ${part}, '') AS part, sum(amount) AS amount
       ${HOURS} GROUP BY 1, 2 ORDER BY 1, 2`,
      ...[fromMs, toMs, most],
    )
  }

  /** What each of these keys spent from `fromMs` on; one that spent nothing is left out. */
  spentBy(keyHashes: readonly KeyHash[], fromMs: number): ReadonlyMap<string, MicroCredits> {
    const rows = this.all<{ keyHash: KeyHash; amount: number }>(
      `SELECT key_hash AS keyHash, sum(amount) AS amount FROM usage
       WHERE hour >= ? AND key_hash IN (SELECT value FROM json_each(?)) GROUP BY 1`,
      fromMs,
      JSON.stringify(keyHashes),
    )
    return new Map(rows.map(({ keyHash, amount }) => [keyHash, amount]))
  }

  /** Days with any use, oldest first. */
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

/** Those that spent the same in the order of their names. */
function sortedBySpending(sums: ReadonlyMap<string, UsageRecord>): UsageRecord[] {
  return [...sums].sort(([a, { amount: x }], [b, { amount: y }]) => y - x || (a < b ? -1 : 1)).map(([, sum]) => sum)
}
