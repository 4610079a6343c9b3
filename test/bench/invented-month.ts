// A hundred days of fills, by key: the last ten are written whole, of the months before whoever is asked for.

import type { FileSpan } from '../../src/archive/files/levels.ts'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { addressInSql, addressOf, inventedFill } from './invented-fills.ts'

const DAY_MS = 86_400_000
const BLOCKS_A_DAY = 1_250_000
const START_MS = Date.UTC(2026, 0, 1)
export const MONTHS = 3
/** Days behind the months. */
export const DAYS = 10
const USERS = 50_000
const QUIET_AT = USERS
const STEADY_AT = USERS + 1
const HEAVY_AT = USERS + 2
const BUILDER_AT = USERS + 3
/** Quiet: two fills in ten days; steady: some every day; of the others each has some every day too. */
export const PEOPLE = {
  quiet: addressOf(QUIET_AT),
  steady: addressOf(STEADY_AT),
  heavy: addressOf(HEAVY_AT),
  unknown: addressOf(2 * USERS),
} as const
export const BUILDER = addressOf(BUILDER_AT)

export interface KeyedFill {
  readonly key: string
  readonly line: string
  readonly fill: UserFill
}

/** Of as many days. */
const spanOf = (firstDay: number, days: number): FileSpan => ({
  first: firstDay * BLOCKS_A_DAY,
  last: (firstDay + days) * BLOCKS_A_DAY - 1,
  firstMs: START_MS + firstDay * DAY_MS,
  lastMs: START_MS + (firstDay + days) * DAY_MS - 1,
})
const MONTH_DAYS = [31, 28, 31]
const daysBefore = (month: number) => MONTH_DAYS.slice(0, month).reduce((sum, days) => sum + days, 0)
export const dayAt = (day: number): FileSpan => spanOf(daysBefore(MONTHS) + day, 1)
export const monthAt = (month: number): FileSpan => spanOf(daysBefore(month), MONTH_DAYS[month]!)

/** A day in order; `share`: of its fills, for a smoke run. 5 million in ten days, a fifth of them of one, and 2 million of a builder. */
export function* fillsOfDay(day: number, share = 1): Generator<KeyedFill> {
  const span = dayAt(day)
  yield* fillsOf('b', BUILDER_AT, span, 200_000 * share)
  for (let user = 0; user < USERS * share; user++) yield* fillsOf('u', user, span, user % 10 === 0 ? 44 : 4)
  yield* fillsOf('u', QUIET_AT, span, day === 2 || day === 8 ? 1 : 0)
  yield* fillsOf('u', STEADY_AT, span, 20)
  yield* fillsOf('u', HEAVY_AT, span, 100_000 * share)
}

/** Of a month, those that are asked for. */
export function* fillsOfMonth(month: number): Generator<KeyedFill> {
  const span = monthAt(month)
  yield* fillsOf('u', QUIET_AT, span, month === 0 ? 1 : 0)
  yield* fillsOf('u', STEADY_AT, span, 600)
}

let tids = 0

function* fillsOf(kind: 'u' | 'b', of: number, { first, last, firstMs, lastMs }: FileSpan, count: number) {
  const address = addressOf(of)
  const blocks = last + 1 - first
  const ms = lastMs + 1 - firstMs
  for (let at = 0; at < count; at++) {
    const behind = Math.floor((at * blocks) / count)
    const height = first + behind
    const time = firstMs + Math.floor((behind * ms) / blocks)
    const tid = ++tids
    const user = kind === 'u' ? address : addressOf(tid % USERS)
    const fill = inventedFill(user, tid, time, kind === 'b' ? address : undefined)
    yield { key: `${kind}:${address}`, line: `${height}\t${time}\t1\t[${JSON.stringify(fill)}]`, fill }
  }
}

/** The index of a month that is written by its index alone: keys of all others, and objects of as many bytes as they would have. */
export function indexOfMonth(chain: string, month: number): string {
  const { first, last, firstMs, lastMs } = monthAt(month)
  const objects = 2_000
  const rows = 3 * USERS
  const counted = (most: number) => `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${most})`
  return `INSERT INTO file_objects (chain, level, first, number, bytes, etag)
      ${counted(objects)} SELECT '${chain}', 3, ${first}, n, 8388608, 'none' FROM c;
    INSERT INTO file_month_keys (chain, key, first_height, last_height, min_ms, max_ms, rows, first, number, offset, bytes)
      ${counted(rows)} SELECT '${chain}', 'u:' || ${addressInSql(`n % ${USERS}`)}, ${first} + n, ${last} - n,
      ${firstMs}, ${lastMs}, 1600, ${first}, 1 + n % ${objects}, 0, 131072 FROM c;
    INSERT INTO file_month_keys (chain, key, first_height, last_height, min_ms, max_ms, rows, first, number, offset, bytes)
      ${counted(1_800)} SELECT '${chain}', 'u:${PEOPLE.heavy}', ${first} + n, ${first} + n, ${firstMs}, ${lastMs}, 1600, ${first},
      1 + n % ${objects}, 0, 131072 FROM c`
}
