// GET /admin/business: credits sold and used by day, and the estimated platform cost at list prices. Invariants: a day
// is the sum of its products, and totals are the sums of the days; credits and money are exact strings in whole
// millionths of a dollar; the cost is an estimate and never affects credits.

import * as z from 'zod'
import { IMPORT_GRANT } from '../../../accounts/exported-account.ts'
import { moneyText } from '../../../billing/checkout/money.ts'
import { formatCredits, type MicroCredits } from '../../../core/amount.ts'
import { err } from '../../../core/result.ts'
import { DAY_MS } from '../../../core/time.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText } from '../fields.ts'
import { ASSUMED, CALL_USD, type DeploymentSize, dollarsPerMonth, STREAM_MINUTE_USD } from '../month-bill.ts'
import { badField } from '../refusal.ts'
import { Day, dayText, usageQuery, usageWindow } from '../usage-window.ts'
import { CurrencyCode, MoneyText } from './orders.ts'
import { COUNTS } from './usage.ts'

const ZERO_SUMS = { granted: 0, spent: 0, calls: 0, stream_minutes: 0, pipeline_rows: 0, refusals: 0 }
/** Amounts in micro-credits. */
type Sums = Readonly<typeof ZERO_SUMS>
const SUM_NAMES = Object.keys(ZERO_SUMS) as (keyof Sums)[]

interface BusinessDay extends Sums {
  readonly day: number
  readonly byProduct: Readonly<Record<string, MicroCredits>>
}

const UsageDayRow = z.object({ day: z.int(), product: z.string(), count: z.int(), micro: z.int() })
const GrantDayRow = z.object({ day: z.int(), micro: z.int() })
const RefusalDayRow = z.object({ day: z.int(), code: z.string(), count: z.int() })
const PaidOrdersRow = z.object({ currency: z.string(), orders: z.int(), minor: z.int(), refunded: z.int() })
const USED = 'SELECT day, product, calls AS count, micro FROM usage_days WHERE day >= ? AND day < ? ORDER BY 1, 2'
const GRANTED = `SELECT created - created % ${DAY_MS} AS day, sum(micro) AS micro FROM grants
  WHERE created >= ? AND created < ? AND id NOT LIKE '${IMPORT_GRANT}%' GROUP BY 1 ORDER BY 1`
const REFUSED = `SELECT hour - hour % ${DAY_MS} AS day, code, sum(count) AS count FROM refusal_counts
  WHERE hour >= ? AND hour < ? GROUP BY 1, 2 ORDER BY 1, 2`
const PAID = `SELECT currency, count(*) AS orders, sum(minor) AS minor, sum(refunded) AS refunded FROM orders
  WHERE state = 'paid' AND paid >= ? AND paid < ? GROUP BY 1 ORDER BY 1`
const COUNTS_NOW = `SELECT (SELECT count(*) FROM accounts) AS accounts,
  (SELECT count(*) FROM keys WHERE revoked IS NULL) AS keys,
  (SELECT count(*) FROM orders WHERE state = 'open') AS open_orders`
const largest = (column: 'area' | 'domain') =>
  `coalesce((SELECT count(*) FROM day WHERE ${column} IS NOT NULL GROUP BY ${column} ORDER BY 1 DESC LIMIT 1), 0)`
/** Excludes the links that existing accounts received beyond the limits. */
export const SIGN_UP_LINKS = `WITH day AS (SELECT area, domain FROM signup_links WHERE created > ? AND domain IS NOT NULL)
  SELECT count(*) AS links, count(DISTINCT area) AS networks, ${largest('area')} AS most_of_network,
    count(DISTINCT domain) AS domains, ${largest('domain')} AS most_of_domain FROM day`

const ZERO_COUNTS = { accounts: 0, keys: 0, open_orders: 0 }
/** Count field of each product; all other products use `calls`. */
const COUNT_FIELDS: Readonly<Record<string, keyof Sums>> = { stream: 'stream_minutes', pipeline: 'pipeline_rows' }

/** Returns the days, oldest first, and the error codes, most frequent first. */
export function businessDays(
  used: readonly z.infer<typeof UsageDayRow>[],
  granted: readonly z.infer<typeof GrantDayRow>[],
  refused: readonly z.infer<typeof RefusalDayRow>[],
): {
  readonly rows: readonly BusinessDay[]
  readonly totals: Sums
  readonly codes: readonly { readonly code: string; readonly count: number }[]
} {
  const days = new Map<number, BusinessDay>()
  const add = (day: number, change: (row: BusinessDay) => Partial<BusinessDay>) => {
    const row = days.get(day) ?? { day, ...ZERO_SUMS, byProduct: {} }
    days.set(day, { ...row, ...change(row) })
  }
  for (const { day, product, count, micro } of used) {
    const counted = COUNT_FIELDS[product] ?? 'calls'
    add(day, (row) => ({
      spent: row.spent + micro,
      [counted]: row[counted] + count,
      byProduct: { ...row.byProduct, [product]: (row.byProduct[product] ?? 0) + micro },
    }))
  }
  for (const { day, micro } of granted) add(day, (row) => ({ granted: row.granted + micro }))
  const codes = new Map<string, number>()
  for (const { day, code, count } of refused) {
    add(day, (row) => ({ refusals: row.refusals + count }))
    codes.set(code, (codes.get(code) ?? 0) + count)
  }
  const rows = [...days.values()].sort((a, b) => a.day - b.day)
  const totals = { ...ZERO_SUMS }
  for (const row of rows) for (const name of SUM_NAMES) totals[name] += row[name]
  return {
    rows,
    totals,
    codes: [...codes].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count),
  }
}

/** Value of credits in millionths of a dollar, at `millionMicroUsd` per million credits. */
export const soldMicroUsd = (micro: MicroCredits, millionMicroUsd: number): bigint =>
  (BigInt(micro) * BigInt(millionMicroUsd)) / 1_000_000_000_000n

/** Dollar amount with 2 to 6 decimals. */
export function dollarsText(microUsd: bigint): string {
  const cents = String(microUsd % 1_000_000n)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')
  return `${microUsd / 1_000_000n}.${cents}`
}

/** Estimated cost of a period in dollars. */
export function dollarsOfPeriod(
  days: number,
  used: { readonly calls: number; readonly streamMinutes: number },
  { hubs, relays }: Pick<DeploymentSize, 'hubs' | 'relays'>,
) {
  const standing = (dollarsPerMonth({ ...ASSUMED, hubs, relays }) * days) / 30
  const calls = CALL_USD * used.calls
  const streams = STREAM_MINUTE_USD * used.streamMinutes
  return { standing, calls, streams, total: standing + calls + streams }
}

const COST_ASSUMPTIONS = [
  `The log, the hubs and the relays that serve clients now never sleep, at ${ASSUMED.blocksPerSecond} blocks per second and ${ASSUMED.coins} coins.`,
  'The cost per call assumes a key that calls once per second, and the cost per stream minute an account with one stream.',
  'The plan’s included calls, rows and D1 rows are not deducted from calls and streams. Pipelines, files and upstream traffic are not included.',
] as const

const DAYS_MAX = 92

const Usd = z.string().regex(/^\d+\.\d{2,6}$/)
const SUMS = {
  granted: CreditsText.describe('Credits granted, not including plan credits'),
  spent: CreditsText.describe('Credits used by calls, stream minutes and pipeline rows'),
  ...COUNTS,
  refusals: z.int().describe('Rejected requests with a known key'),
}
const Sums = z.object(SUMS)

const Counts = z.object({
  accounts: z.int().describe('Current number of accounts'),
  keys: z.int().describe('Current number of keys that are not revoked'),
  open_orders: z.int().describe('Current number of unpaid orders'),
})
export const SignUpLinks = z.object({
  links: z.int().describe('Links sent in the last 24 hours'),
  networks: z.int().describe('Number of networks (/24 or /48) that requested links; 0: client addresses are unknown'),
  most_of_network: z.int().describe('Largest number of links requested by one network'),
  domains: z.int().describe('Number of recipient domains'),
  most_of_domain: z.int().describe('Largest number of links to one domain'),
})

const Business = z.object({
  from: Day.describe('First UTC day'),
  to: Day.describe('Last UTC day, inclusive'),
  ...Counts.shape,
  paid: z
    .array(
      z.object({
        currency: CurrencyCode,
        orders: z.int().describe('Number of orders'),
        amount: MoneyText.describe('Total paid'),
        refunded: MoneyText.describe('Part refunded since'),
      }),
    )
    .describe('Orders paid in the period, by currency'),
  sign_up: z
    .object({
      per_day: z.int().describe('Daily limit: `perDay` of `SIGNUP_SETTINGS`'),
      ...SignUpLinks.shape,
    })
    .nullable()
    .describe('Sign-up usage against its limits; null: sign-up is off'),
  totals: Sums.describe('Totals of the period'),
  days: z
    .array(
      z.object({
        date: Day,
        ...SUMS,
        by_product: z.record(z.string(), CreditsText.describe('Credits')).describe('`spent` by product'),
      }),
    )
    .describe('Days with activity, oldest first'),
  refused: z
    .array(z.object({ code: z.string().describe('Error code'), count: z.int().describe('Number of rejections') }))
    .describe('Rejected requests by code, most frequent first'),
  million_usd: Usd.nullable().describe('Price of a million credits (`MILLION_CREDITS_USD`); null: not set'),
  sold_usd: Usd.nullable().describe(
    'Value of the granted credits at that price, rounded down, even if nobody paid for them; null: price not set',
  ),
  spent_usd: Usd.nullable().describe('Value of the spent credits at that price; null: price not set'),
  cost: z
    .object({
      standing_usd: Usd.describe('Base cost of the period'),
      calls_usd: Usd.describe('Cost of the calls'),
      streams_usd: Usd.describe('Cost of metering the stream minutes'),
      total_usd: Usd.describe('Total cost'),
      relays: z.int().describe('Number of relays that serve clients now; the estimate assumes it for the whole period'),
      assumptions: z.array(z.string()).describe('Assumptions of the estimate'),
    })
    .nullable()
    .describe('Estimated platform cost at list prices; null: log unavailable'),
})

const SUMS_EXAMPLE = { granted: '500', spent: '120.5', calls: 120, refusals: 3 }

export const business = defineEndpoint({
  id: 'business',
  route: 'GET /admin/business',
  summary: 'Report credits sold and used, calls, rejections and platform cost by day',
  description: `Covers all accounts, up to 15 minutes late. At most ${DAYS_MAX} days; default: the last month.`,
  query: usageQuery({}),
  responses: okResponse('The report', Business, {
    from: '2026-11-21',
    to: '2026-11-21',
    accounts: 2,
    keys: 3,
    open_orders: 1,
    paid: [{ orders: 2, amount: '38.00' }],
    totals: SUMS_EXAMPLE,
    sign_up: { per_day: 200, links: 150, networks: 12, most_of_network: 20, domains: 9, most_of_domain: 90 },
    days: [{ ...SUMS_EXAMPLE, by_product: { info: '119.5', stream: '1' } }],
    million_usd: '49.00',
    sold_usd: '0.0245',
    spent_usd: '0.005904',
    cost: {
      standing_usd: '0.53',
      calls_usd: '0.0001',
      streams_usd: '0.00',
      total_usd: '0.5301',
      relays: 1,
      assumptions: [...COST_ASSUMPTIONS],
    },
  }),
  handle: async ({ query }, { rows, usageRows, logStatus, hubs, millionMicroUsd, signUpsPerDay, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const days = (toMs - fromMs) / DAY_MS
    if (days > DAYS_MAX) return err(badField('from', `must be within ${DAYS_MAX} days of "to"`))
    const [used, granted, refused, paid, [counts = ZERO_COUNTS], [links], status] = await Promise.all([
      usageRows(UsageDayRow, USED, fromMs, toMs),
      rows(GrantDayRow, GRANTED, fromMs, toMs),
      usageRows(RefusalDayRow, REFUSED, fromMs, toMs),
      rows(PaidOrdersRow, PAID, fromMs, toMs),
      rows(Counts, COUNTS_NOW),
      signUpsPerDay === null ? [] : rows(SignUpLinks, SIGN_UP_LINKS, now() - DAY_MS),
      logStatus().catch(() => null),
    ])
    const { rows: byDay, totals, codes } = businessDays(used, granted, refused)
    const usd = (micro: number) => (millionMicroUsd === null ? null : dollarsText(soldMicroUsd(micro, millionMicroUsd)))
    const relays = status === null ? 0 : status.regions.reduce((sum, region) => sum + region.relays, 0)
    const cost = dollarsOfPeriod(days, { calls: totals.calls, streamMinutes: totals.stream_minutes }, { hubs, relays })
    return reply(200, {
      from: dayText(fromMs),
      to: dayText(toMs - 1),
      ...counts,
      totals: sumsView(totals),
      paid: paid.map(({ currency, orders, minor, refunded }) => ({
        currency,
        orders,
        amount: moneyText(minor, currency),
        refunded: moneyText(refunded, currency),
      })),
      sign_up: signUpsPerDay === null || links === undefined ? null : { per_day: signUpsPerDay, ...links },
      days: byDay.map(({ day, byProduct, ...sums }) => ({
        date: dayText(day),
        ...sumsView(sums),
        by_product: Object.fromEntries(Object.entries(byProduct).map(([name, micro]) => [name, formatCredits(micro)])),
      })),
      refused: codes,
      million_usd: millionMicroUsd === null ? null : dollarsText(BigInt(millionMicroUsd)),
      sold_usd: usd(totals.granted),
      spent_usd: usd(totals.spent),
      cost:
        status === null
          ? null
          : {
              standing_usd: estimate(cost.standing),
              calls_usd: estimate(cost.calls),
              streams_usd: estimate(cost.streams),
              total_usd: estimate(cost.total),
              relays,
              assumptions: [...COST_ASSUMPTIONS],
            },
    })
  },
})

/** Rounded to a hundredth of a cent, because the estimate is not more precise. */
const estimate = (dollars: number) => dollarsText(BigInt(Math.round(dollars * 1e4)) * 100n)

const sumsView = ({ granted, spent, ...counts }: Sums) => {
  return { granted: formatCredits(granted), spent: formatCredits(spent), ...counts }
}
