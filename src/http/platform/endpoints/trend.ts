// GET /admin/business/trend: payments, usage and rejected requests by hour, day or month, for charts. Invariants: each row
// of a table counts in one step; the number of rows read and returned is bounded, whatever the number of accounts.

import * as z from 'zod'
import { moneyText } from '../../../billing/checkout/money.ts'
import { formatCredits } from '../../../core/amount.ts'
import { DAY_MS, HOUR_MS } from '../../../core/time.ts'
import { monthsBefore } from '../../../metering/plans/calendar.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText } from '../fields.ts'
import { CurrencyCode, MoneyText } from './orders.ts'

const PERIODS = ['2d', '30d', '12m'] as const
type Period = (typeof PERIODS)[number]
const STEPS = { '2d': 'hour', '30d': 'day', '12m': 'month' } as const
const HOURS = 48
const DAYS = 30
const MONTHS = 12

/** Start of the hour, day or month of a time, in UTC. */
export function stepStart(step: (typeof STEPS)[Period], ms: number): number {
  if (step === 'hour') return ms - (ms % HOUR_MS)
  const day = ms - (ms % DAY_MS)
  return step === 'day' ? day : day - (new Date(day).getUTCDate() - 1) * DAY_MS
}

/** The first step of a period that ends now. */
export function trendStart(period: Period, nowMs: number): number {
  const last = stepStart(STEPS[period], nowMs)
  if (period === '2d') return last - (HOURS - 1) * HOUR_MS
  return period === '30d' ? last - (DAYS - 1) * DAY_MS : monthsBefore(last, MONTHS - 1)
}

/** `sums`: what is added up. Rows with the same step and name become one, in the order of the first. */
export function mergedBySteps<Sum extends string>(
  rows: readonly ({ readonly start: number; readonly name: string } & Readonly<Record<Sum, number>>)[],
  sums: readonly Sum[],
  step: (typeof STEPS)[Period],
): { readonly start: number; readonly name: string; readonly sums: Readonly<Record<Sum, number>> }[] {
  const merged = new Map<string, { start: number; name: string; sums: Record<Sum, number> }>()
  for (const row of rows) {
    const start = stepStart(step, row.start)
    const key = `${start} ${row.name}`
    const zeros = Object.fromEntries(sums.map((sum) => [sum, 0])) as Record<Sum, number>
    const into = merged.get(key) ?? { start, name: row.name, sums: zeros }
    for (const sum of sums) into.sums[sum] += row[sum]
    merged.set(key, into)
  }
  return [...merged.values()]
}

const UsageRow = z.object({ start: z.int(), name: z.string(), count: z.int(), micro: z.int() })
const CodeRow = z.object({ start: z.int(), name: z.string(), count: z.int() })
const PaidRow = z.object({ start: z.int(), name: z.string(), orders: z.int(), minor: z.int(), refunded: z.int() })

/** The queries of a step. Months are sums of days. */
export const trendQueries = (isHourly: boolean) => {
  const stepMs = isHourly ? HOUR_MS : DAY_MS
  return {
    used: isHourly
      ? 'SELECT hour AS start, product AS name, calls AS count, micro FROM usage_hours WHERE hour >= ? ORDER BY 1, 2'
      : 'SELECT day AS start, product AS name, calls AS count, micro FROM usage_days WHERE day >= ? ORDER BY 1, 2',
    rejected: `SELECT hour - hour % ${stepMs} AS start, code AS name, sum(count) AS count FROM refusal_counts
      WHERE hour >= ? GROUP BY 1, 2 ORDER BY 1, 2`,
    paid: `SELECT paid - paid % ${stepMs} AS start, currency AS name, count(*) AS orders, sum(minor) AS minor,
      sum(refunded) AS refunded FROM orders WHERE state = 'paid' AND paid >= ? GROUP BY 1, 2 ORDER BY 1, 2`,
  }
}

const Start = z.int().describe('Start of the step, Unix milliseconds')

const Trend = z.object({
  step: z.enum(['hour', 'day', 'month']).describe('Length of a step, in UTC'),
  from: z.int().describe('Start of the first step, Unix milliseconds'),
  to: z.int().describe('Start of the step in progress, Unix milliseconds'),
  paid: z
    .array(
      z.object({
        start: Start,
        currency: CurrencyCode,
        orders: z.int().describe('Number of orders paid'),
        amount: MoneyText.describe('Total paid'),
        refunded: MoneyText.describe('Part of it refunded since'),
      }),
    )
    .describe('Payments by step and currency'),
  used: z
    .array(
      z.object({
        start: Start,
        product: z.string().describe('Product'),
        credits: CreditsText.describe('Credits used'),
        count: z.int().describe('Calls; stream minutes of `stream`; rows of `pipeline`'),
      }),
    )
    .describe('Usage by step and product'),
  rejected: z
    .array(
      z.object({
        start: Start,
        code: z.string().describe('Error code'),
        count: z.int().describe('Number of rejections'),
      }),
    )
    .describe('Rejected requests with a known key, by step and error code; the last 90 days'),
})

export const businessTrend = defineEndpoint({
  id: 'businessTrend',
  route: 'GET /admin/business/trend',
  summary: 'Report payments, usage and rejected requests by hour, day or month',
  description: 'Covers all accounts, up to 15 minutes late. Steps without activity are left out.',
  query: z.strictObject({
    period: z
      .enum(PERIODS, `must be one of ${PERIODS.join(', ')}`)
      .default('30d')
      .describe('`2d`: 48 hours; `30d`: 30 days; `12m`: 12 months; each with the step in progress'),
  }),
  responses: okResponse('The report', Trend, {
    step: 'day',
    from: Date.UTC(2026, 9, 24),
    to: Date.UTC(2026, 10, 22),
    paid: [{ start: Date.UTC(2026, 10, 21), orders: 2, amount: '38.00', refunded: '0.00' }],
    used: [{ start: Date.UTC(2026, 10, 21), product: 'info', credits: '119.5', count: 120 }],
    rejected: [{ start: Date.UTC(2026, 10, 21) }],
  }),
  handle: async ({ query: { period } }, { rows, usageRows, now }) => {
    const step = STEPS[period]
    const from = trendStart(period, now())
    const queries = trendQueries(step === 'hour')
    const [paid, used, rejected] = await Promise.all([
      rows(PaidRow, queries.paid, from),
      usageRows(UsageRow, queries.used, from),
      usageRows(CodeRow, queries.rejected, from),
    ])
    return reply(200, {
      step,
      from,
      to: stepStart(step, now()),
      paid: mergedBySteps(paid, ['orders', 'minor', 'refunded'], step).map(({ start, name: currency, sums }) => ({
        start,
        currency,
        orders: sums.orders,
        amount: moneyText(sums.minor, currency),
        refunded: moneyText(sums.refunded, currency),
      })),
      used: mergedBySteps(used, ['count', 'micro'], step).map(({ start, name: product, sums }) => ({
        start,
        product,
        credits: formatCredits(sums.micro),
        count: sums.count,
      })),
      rejected: mergedBySteps(rejected, ['count'], step).map(({ start, name: code, sums }) => ({
        start,
        code,
        count: sums.count,
      })),
    })
  },
})
