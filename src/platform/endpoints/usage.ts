// GET /platform/usage/: what a key's account used. Numbers are the meter's own of this moment.

import * as z from 'zod'
import { sumOfUsage, type UsageSum } from '../../credit/usage.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { CreditsNumber, creditsNumber, enveloped, inEnvelope } from '../envelope.ts'
import { Label } from '../key-shapes.ts'
import { COUNTS, shownCounts, USED_TYPE } from '../usage-shapes.ts'
import { Day, dayText, usageQuery, usageWindow } from '../usage-window.ts'

const STACK_TEXT = 'Splits each day by key or by type: the forty that spent most in all, and the others together'

const Consumed = CreditsNumber.describe('Credits spent, to the millionth')
const Premium = CreditsNumber.describe('The same as `credits_consumed`: every credit here is a premium one')
const Free = z.number().describe('Always 0: no credits here are free of charge')

const PARTS_TEXT = 'Where `stack` was asked for: they add up to the day'
const Part = z.object({
  part: z.string().describe('The key’s first twelve characters, or product and type; empty: all others together'),
  label: Label,
  premium_credits: Premium,
})

const Usage = z
  .object({
    period: z.object({ from: Day, to: Day }).describe('The days of the report, both included'),
    by_day: z
      .array(
        z.object({
          date: Day,
          premium_credits: Premium,
          free_credits: Free,
          ...COUNTS,
          parts: z.array(Part).optional().describe(PARTS_TEXT),
        }),
      )
      .describe('Days with any use'),
    aggregate: z
      .object({
        credits_consumed: Consumed,
        premium_credits: Premium,
        free_credits: Free,
        ...COUNTS,
        max_credits: CreditsNumber.nullable().describe(
          'Credits that the plan gave for its present period, whatever days the report is of; grants beside the plan are ' +
            'not in it, so it may be 0 beside a balance. Null: the plan has no period',
        ),
        plan: z.string().describe('The account’s plan now'),
        flex_credits: z
          .object({ limit: z.number().describe('Always 0: nothing can be spent beyond the balance') })
          .describe('Credits beyond the balance'),
      })
      .describe('All days together'),
    by_api_key: z
      .array(
        z.object({
          apikey: z.string().nullable().describe('The key’s first twelve characters'),
          label: Label,
          credits_consumed: Consumed,
          ...COUNTS,
        }),
      )
      .describe('At most the 1,000 keys that spent most, those first'),
    by_type: z
      .array(z.object({ ...USED_TYPE, credits_consumed: Consumed, ...COUNTS }))
      .describe('What it was spent on, the most first'),
  })
  .meta({ id: 'Usage' })

const COUNTS_EXAMPLE = { calls: 4, stream_minutes: 0, pipeline_rows: 0 }
const SUM_EXAMPLE = { credits_consumed: 3.13, ...COUNTS_EXAMPLE }

export const usage = defineEndpoint(
  {
    id: 'usage',
    method: 'get',
    path: '/platform/usage/',
    summary: 'What the account used, per day, per key and per type',
    description: 'Free of charge, with an API or a service key, with or without the last slash.',
    door: 'key',
    query: usageQuery({ stack: z.enum(['key', 'type'], 'must be "key" or "type"').optional().describe(STACK_TEXT) }),
    answers: {
      200: {
        description: 'The report',
        schema: enveloped(Usage),
        example: inEnvelope({
          period: { from: '2026-10-22', to: '2026-11-22' },
          by_day: [{ date: '2026-11-21', premium_credits: 3.13, free_credits: 0, ...COUNTS_EXAMPLE }],
          aggregate: {
            ...SUM_EXAMPLE,
            premium_credits: 3.13,
            free_credits: 0,
            max_credits: 10000,
            plan: 'entry',
            flex_credits: { limit: 0 },
          },
          by_api_key: [{ apikey: 'cqt_9fKxWq2T', label: 'bot', ...SUM_EXAMPLE }],
          by_type: [{ product: 'info', type: 'l2Book', ...SUM_EXAMPLE }],
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
    const { stack } = query
    const [{ byDay, byKey, byType }, state, stacked] = await Promise.all([
      ...([meter.usage(fromMs, toMs), meter.plan()] as const),
      stack === undefined ? [] : meter.usageStack(fromMs, toMs, stack),
    ])
    const names = await keys.names(byKey.map(({ keyHash }) => keyHash))
    const partsOf = (day: number) => ({
      parts: stacked
        .filter((each) => each.day === day)
        .map(({ part, amount }) => {
          const name = stack === 'key' ? names.get(part) : undefined
          return { part: name?.prefix ?? part, label: name?.label ?? '', premium_credits: creditsNumber(amount) }
        }),
    })
    const total = sumOfUsage(byDay)
    const consumed = (sum: UsageSum) => ({ credits_consumed: creditsNumber(sum.amount), ...shownCounts(sum) })
    const asPremium = ({ amount }: UsageSum) => ({ premium_credits: creditsNumber(amount), free_credits: 0 })
    const report = {
      period: { from: dayText(fromMs), to: dayText(toMs - 1) },
      by_day: byDay.map((sum) => ({
        ...{ date: dayText(sum.day), ...asPremium(sum), ...shownCounts(sum) },
        ...(stack === undefined ? {} : partsOf(sum.day)),
      })),
      aggregate: {
        ...consumed(total),
        ...asPremium(total),
        max_credits: state === null ? null : creditsNumber(state.micro),
        plan,
        flex_credits: { limit: 0 },
      },
      by_api_key: byKey.map((sum) => {
        const name = names.get(sum.keyHash)
        return { apikey: name?.prefix ?? null, label: name?.label ?? '', ...consumed(sum) }
      }),
      by_type: byType.map((sum) => ({ product: sum.product, type: sum.type, ...consumed(sum) })),
    }
    return reply(200, inEnvelope(report))
  },
)
