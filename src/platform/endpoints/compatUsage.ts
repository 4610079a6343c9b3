// GET /platform/compat/usage/: the account's usage in the words and JSON numbers of another usage API, for reports that were
// made for that one. Our own shape is usage.ts.

import * as z from 'zod'
import { formatCredits, type MicroCredits } from '../../credit/amount.ts'
import { sumOfUsage, type UsageSum } from '../../credit/usage.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { Label } from '../key-shapes.ts'
import { Day, dayText, usageQuery, usageWindow } from '../usage-window.ts'

const CreditsNumber = z.number()
/** A double holds every sum of micro-credits below eight billion credits to the millionth. */
const creditsNumber = (micro: MicroCredits) => Number(formatCredits(micro))

const Consumed = CreditsNumber.describe('Credits spent, to the millionth')
const Premium = CreditsNumber.describe('The same as `credits_consumed`: every credit here is a premium one')
const Free = CreditsNumber.describe('Always 0: no credits here are free of charge')

const CompatUsage = z
  .object({
    period: z.object({ from: Day, to: Day }).describe('The days of the report, both included'),
    by_day: z
      .array(z.object({ date: Day, premium_credits: Premium, free_credits: Free }))
      .describe('Days with any use'),
    aggregate: z
      .object({
        credits_consumed: Consumed,
        premium_credits: Premium,
        free_credits: Free,
        max_credits: CreditsNumber.nullable().describe(
          'Credits of the plan’s current period, whatever the days of the report; null: the plan has no period',
        ),
        plan: z.string().describe('The account’s plan now'),
        flex_credits: z
          .object({ limit: CreditsNumber.describe('Always 0: nothing can be spent beyond the balance') })
          .describe('Credits beyond the balance'),
      })
      .describe('All days together'),
    by_api_key: z
      .array(
        z.object({
          apikey: z.string().nullable().describe('The key’s first twelve characters'),
          label: Label,
          credits_consumed: Consumed,
        }),
      )
      .describe('At most the 1,000 keys that spent most, those first'),
  })
  .meta({ id: 'CompatUsage' })

export const compatUsage = defineEndpoint(
  {
    id: 'compatUsage',
    method: 'get',
    path: '/platform/compat/usage/',
    summary: 'What the account used, in the words of another usage API',
    description:
      'For reports that were made for that API. `GET /platform/usage/` has more, and exact amounts. Free of charge, with an ' +
      'API or a service key, with or without the last slash.',
    door: 'key',
    query: usageQuery({}),
    answers: {
      200: {
        description: 'The report',
        schema: enveloped(CompatUsage),
        example: inEnvelope({
          period: { from: '2026-10-22', to: '2026-11-22' },
          by_day: [{ date: '2026-11-21', premium_credits: 3.13, free_credits: 0 }],
          aggregate: {
            credits_consumed: 3.13,
            premium_credits: 3.13,
            free_credits: 0,
            max_credits: 10000,
            plan: 'entry',
            flex_credits: { limit: 0 },
          },
          by_api_key: [{ apikey: 'cqt_9fKxWq2T', label: 'bot', credits_consumed: 3.13 }],
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
    const [{ byDay, byKey }, state] = await Promise.all([meter.usage(fromMs, toMs), meter.plan()])
    const names = await keys.names(byKey.map(({ keyHash }) => keyHash))
    const asPremium = ({ amount }: UsageSum) => ({ premium_credits: creditsNumber(amount), free_credits: 0 })
    const total = sumOfUsage(byDay)
    return reply(
      200,
      inEnvelope({
        period: { from: dayText(fromMs), to: dayText(toMs - 1) },
        by_day: byDay.map((sum) => ({ date: dayText(sum.day), ...asPremium(sum) })),
        aggregate: {
          credits_consumed: creditsNumber(total.amount),
          ...asPremium(total),
          max_credits: state === null ? null : creditsNumber(state.micro),
          plan,
          flex_credits: { limit: 0 },
        },
        by_api_key: byKey.map(({ keyHash, amount }) => {
          const { prefix = null, label = '' } = names.get(keyHash) ?? {}
          return { apikey: prefix, label, credits_consumed: creditsNumber(amount) }
        }),
      }),
    )
  },
)
