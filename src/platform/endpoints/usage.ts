// GET /platform/usage/: what a key's account used. Numbers are the meter's own of this moment.

import * as z from 'zod'
import type { MicroCredits } from '../../credit/amount.ts'
import type { DayUsage } from '../../credit/usage.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { CreditsNumber, creditsNumber, enveloped, inEnvelope } from '../envelope.ts'
import { Day, dayText, UsageQuery, usageWindow } from '../usage-window.ts'

const Usage = z
  .object({
    period: z.object({ from: Day, to: Day }),
    by_day: z
      .array(z.object({ date: Day, premium_credits: CreditsNumber, free_credits: CreditsNumber, calls: z.int() }))
      .describe('Days with any use'),
    aggregate: z.object({
      credits_consumed: CreditsNumber,
      premium_credits: CreditsNumber,
      free_credits: CreditsNumber,
      max_credits: CreditsNumber.nullable().describe('Given by the plan for its present period'),
      plan: z.string(),
      flex_credits: z.object({ limit: z.number() }),
    }),
    by_api_key: z.array(
      z.object({
        apikey: z.string().describe('The key’s first twelve characters'),
        label: z.string(),
        credits_consumed: CreditsNumber,
        calls: z.int(),
      }),
    ),
  })
  .meta({ id: 'Usage' })

export const usage = defineEndpoint(
  {
    id: 'usage',
    method: 'get',
    path: '/platform/usage/',
    summary: 'What the account used, per day and per key',
    description: 'Free of charge, with an API or a service key, with or without the last slash.',
    door: 'key',
    query: UsageQuery,
    answers: {
      200: {
        description: 'The report',
        schema: enveloped(Usage),
        example: inEnvelope({
          period: { from: '2026-10-22', to: '2026-11-22' },
          by_day: [{ date: '2026-11-21', premium_credits: 3.13, free_credits: 0, calls: 4 }],
          aggregate: {
            credits_consumed: 3.13,
            premium_credits: 3.13,
            free_credits: 0,
            max_credits: 10000,
            plan: 'entry',
            flex_credits: { limit: 0 },
          },
          by_api_key: [{ apikey: 'cqt_9fKxWq2T', label: 'bot', credits_consumed: 3.13, calls: 4 }],
        }),
      },
    },
    refusals: [400],
  },
  async ({ query, identity: { account, plan } }, { keys, meterOf, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const meter = meterOf(account)
    const [rows, known, state] = await Promise.all([meter.usageByDay(fromMs, toMs), keys.of(account), meter.plan()])
    const shown = new Map(known.map((key) => [key.hash, key]))
    const consumed = creditsNumber(rows.reduce((sum, row) => sum + row.amount, 0))
    const report = {
      period: { from: dayText(fromMs), to: dayText(toMs - 1) },
      by_day: sumBy(rows, (row) => dayText(row.day)).map(([date, { amount, calls }]) => ({
        date,
        premium_credits: creditsNumber(amount),
        free_credits: 0,
        calls,
      })),
      aggregate: {
        credits_consumed: consumed,
        premium_credits: consumed,
        free_credits: 0,
        max_credits: state === null ? null : creditsNumber(state.micro),
        plan,
        flex_credits: { limit: 0 },
      },
      by_api_key: sumBy(rows, (row) => row.keyHash).map(([hash, { amount, calls }]) => ({
        apikey: shown.get(hash)?.prefix ?? hash.slice(0, 12),
        label: shown.get(hash)?.label ?? '',
        credits_consumed: creditsNumber(amount),
        calls,
      })),
    }
    return reply(200, inEnvelope(report))
  },
)

type Sum = { amount: MicroCredits; calls: number }

/** Sums in the order of their first rows. */
function sumBy(rows: readonly DayUsage[], nameOf: (row: DayUsage) => string): [string, Sum][] {
  const sums = new Map<string, Sum>()
  for (const row of rows) {
    const sum = sums.get(nameOf(row)) ?? { amount: 0, calls: 0 }
    sums.set(nameOf(row), { amount: sum.amount + row.amount, calls: sum.calls + row.calls })
  }
  return [...sums]
}
