// GET /admin/business: what was sold and used by day, and what the platform cost. Law: credits and money are exact text;
// the cost is an estimate, and says so.

import * as z from 'zod'
import { moneyText } from '../../../billing/checkout/money.ts'
import { formatCredits } from '../../../core/amount.ts'
import { err } from '../../../core/result.ts'
import { DAY_MS } from '../../../core/time.ts'
import { type Day as BusinessDay, businessDays, dollarsText, soldMicroUsd } from '../business-days.ts'
import { defineEndpoint, okAnswer, reply } from '../endpoint.ts'
import { CreditsText } from '../fields.ts'
import { COST_ASSUMPTIONS, dollarsOfPeriod } from '../list-prices.ts'
import { badField } from '../refusal.ts'
import { Day, dayText, usageQuery, usageWindow } from '../usage-window.ts'
import { CurrencyCode, MoneyText } from './orders.ts'
import { COUNTS } from './usage.ts'

const DAYS_MAX = 92

const Usd = z.string().regex(/^\d+\.\d{2,6}$/)
const SUMS = {
  granted: CreditsText.describe('Credits granted beside those of plans'),
  spent: CreditsText.describe('Credits that calls, minutes and rows cost'),
  ...COUNTS,
  refusals: z.int().describe('Refused requests of known keys'),
}
const Sums = z.object(SUMS)

const Business = z.object({
  from: Day.describe('First UTC day'),
  to: Day.describe('Last UTC day, included'),
  accounts: z.int().describe('Accounts that there are now'),
  keys: z.int().describe('Keys that are not revoked now'),
  open_orders: z.int().describe('Orders that wait for their payment now'),
  paid: z
    .array(
      z.object({
        currency: CurrencyCode,
        orders: z.int().describe('How many'),
        amount: MoneyText.describe('What was paid for them'),
        refunded: MoneyText.describe('What of it was given back, whenever'),
      }),
    )
    .describe('Orders that were paid in the period, by currency'),
  sign_up: z
    .object({
      per_day: z.int().describe('Links that a day has: `perDay` of `SIGNUP_SETTINGS`'),
      links: z.int().describe('Links of the last 24 hours'),
      networks: z.int().describe('Networks (/24 or /48) that asked for them; 0: addresses of callers are not known'),
      most_of_network: z.int().describe('Links of the network with the most'),
      domains: z.int().describe('Domains of mailboxes that they went to'),
      most_of_domain: z.int().describe('Links of the domain with the most'),
    })
    .nullable()
    .describe('How near the sign-up is to its bounds now; null: it is off'),
  totals: Sums.describe('Of the whole period'),
  days: z
    .array(
      z.object({
        date: Day,
        ...SUMS,
        by_product: z.record(z.string(), CreditsText.describe('Credits')).describe('`spent`, by product'),
      }),
    )
    .describe('Days with anything, oldest first'),
  refused: z
    .array(z.object({ code: z.string().describe('As on the wire'), count: z.int().describe('How many') }))
    .describe('By code, the most first'),
  million_usd: Usd.nullable().describe(
    'What a million credits are sold for: `MILLION_CREDITS_USD`; null: it is not said',
  ),
  sold_usd: Usd.nullable().describe(
    'What the granted credits, whether paid or given, are worth at that price, rounded down; null: it is not said',
  ),
  spent_usd: Usd.nullable().describe('The same of the spent ones'),
  cost: z
    .object({
      standing_usd: Usd.describe('Of standing ready, for the period'),
      calls_usd: Usd.describe('Of its calls'),
      total_usd: Usd.describe('Both'),
      relays: z.int().describe('Relays that serve clients now, which the estimate takes for all of the period'),
      assumptions: z.array(z.string()).describe('What the estimate takes for granted'),
    })
    .nullable()
    .describe('An estimate of what the platform costs, at its list prices; null: the log did not answer'),
})

const SUMS_EXAMPLE = { granted: '500', spent: '120.5', calls: 120, stream_minutes: 1, pipeline_rows: 0, refusals: 3 }

export const business = defineEndpoint({
  id: 'business',
  route: 'GET /admin/business',
  summary: 'Credits sold and used, calls and refusals by day, and what the platform cost',
  description: `Of all accounts, about a minute late; at most ${DAYS_MAX} days, the last month unless said.`,
  query: usageQuery({}),
  answers: okAnswer('The report', Business, {
    from: '2026-11-21',
    to: '2026-11-21',
    accounts: 2,
    keys: 3,
    open_orders: 1,
    paid: [{ currency: 'eur', orders: 2, amount: '38.00', refunded: '0.00' }],
    totals: SUMS_EXAMPLE,
    sign_up: { per_day: 200, links: 150, networks: 12, most_of_network: 20, domains: 9, most_of_domain: 90 },
    days: [{ date: '2026-11-21', ...SUMS_EXAMPLE, by_product: { info: '119.5', stream: '1' } }],
    refused: [{ code: 'rate_limited', count: 3 }],
    million_usd: '49.00',
    sold_usd: '0.0245',
    spent_usd: '0.005904',
    cost: {
      standing_usd: '0.53',
      calls_usd: '0.0001',
      total_usd: '0.5301',
      relays: 1,
      assumptions: [...COST_ASSUMPTIONS],
    },
  }),
  answer: async ({ query }, { business, log, hubs, millionMicroUsd, signUpsPerDay, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const days = (toMs - fromMs) / DAY_MS
    if (days > DAYS_MAX) return err(badField('from', `must be within ${DAYS_MAX} days of "to"`))
    const [used, granted, refused, paid, counts, links, status] = await Promise.all([
      business.used(fromMs, toMs),
      business.granted(fromMs, toMs),
      business.refused(fromMs, toMs),
      business.paid(fromMs, toMs),
      business.counts(),
      signUpsPerDay === null ? null : business.signUpLinks(now() - DAY_MS),
      log()
        .status()
        .catch(() => null),
    ])
    const { rows, totals, codes } = businessDays(used, granted, refused)
    const usd = (micro: number) => (millionMicroUsd === null ? null : dollarsText(soldMicroUsd(micro, millionMicroUsd)))
    const relays = status === null ? 0 : status.regions.reduce((sum, region) => sum + region.relays, 0)
    const cost = dollarsOfPeriod(days, totals.calls, { hubs, relays })
    return reply(200, {
      from: dayText(fromMs),
      to: dayText(toMs - 1),
      ...counts,
      totals: shown(totals),
      paid: paid.map(({ currency, orders, minor, refunded }) => ({
        currency,
        orders,
        amount: moneyText(minor, currency),
        refunded: moneyText(refunded, currency),
      })),
      sign_up: signUpsPerDay === null || links === null ? null : { per_day: signUpsPerDay, ...links },
      days: rows.map((row) => ({
        date: dayText(row.day),
        ...shown(row),
        by_product: Object.fromEntries(
          Object.entries(row.byProduct).map(([name, micro]) => [name, formatCredits(micro)]),
        ),
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
              total_usd: estimate(cost.total),
              relays,
              assumptions: [...COST_ASSUMPTIONS],
            },
    })
  },
})

/** To a hundredth of a cent: it is no more certain. */
const estimate = (dollars: number) => dollarsText(BigInt(Math.round(dollars * 1e4)) * 100n)

function shown({ granted, spent, calls, minutes, rows, refusals }: Omit<BusinessDay, 'day' | 'byProduct'>) {
  const counts = { calls, stream_minutes: minutes, pipeline_rows: rows, refusals }
  return { granted: formatCredits(granted), spent: formatCredits(spent), ...counts }
}
