// GET /platform/usage/: what a key's account used. Numbers are the meter's own of this moment.

import * as z from 'zod'
import { formatCredits } from '../../credit/amount.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { CreditsText } from '../fields.ts'
import { Label } from '../key-shapes.ts'
import { REPORTED, shownReport, shownUsed, TYPE_USED_EXAMPLE, TypeUsed, USED, USED_EXAMPLE } from '../usage-shapes.ts'
import { Day, dayText, usageQuery, usageWindow } from '../usage-window.ts'

const STACK_TEXT = 'Splits each day by key or by type: the forty that spent most in all, and the others together'
const PARTS_TEXT = 'Where `stack` was asked for: they add up to the day'

const Part = z.object({
  part: z.string().describe('The key’s first twelve characters, or product and type; empty: all others together'),
  label: Label,
  credits: CreditsText.describe('What it cost'),
})

const Usage = z
  .object({
    ...REPORTED,
    by_day: z
      .array(z.object({ date: Day, ...USED, parts: z.array(Part).optional().describe(PARTS_TEXT) }))
      .describe('Days with any use, oldest first'),
    by_key: z
      .array(
        z.object({
          prefix: z.string().nullable().describe('The key’s first twelve characters'),
          label: Label,
          ...USED,
        }),
      )
      .describe('At most the 1,000 keys that spent most, those first'),
    by_type: z.array(TypeUsed).describe('What it was spent on, the most first'),
  })
  .meta({ id: 'Usage' })

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
          totals: USED_EXAMPLE,
          by_day: [{ date: '2026-11-21', ...USED_EXAMPLE }],
          by_key: [{ prefix: 'cqt_9fKxWq2T', label: 'bot', ...USED_EXAMPLE }],
          by_type: [TYPE_USED_EXAMPLE],
        }),
      },
    },
    refusals: [400],
  },
  async ({ query, identity: { account } }, { keys, meterOf, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const meter = meterOf(account)
    const { stack } = query
    const [report, stacked] = await Promise.all([
      meter.usage(fromMs, toMs),
      stack === undefined ? [] : meter.usageStack(fromMs, toMs, stack),
    ])
    const names = await keys.names(report.byKey.map(({ keyHash }) => keyHash))
    const nameOf = (keyHash: string) => {
      const { prefix = null, label = '' } = names.get(keyHash) ?? {}
      return { prefix, label }
    }
    const partsOf = (day: number) => ({
      parts: stacked
        .filter((each) => each.day === day)
        .map(({ part, amount }) => {
          const { prefix, label } = nameOf(part)
          return { part: prefix ?? part, label, credits: formatCredits(amount) }
        }),
    })
    return reply(
      200,
      inEnvelope({
        ...shownReport(report, window.value),
        by_day: report.byDay.map((sum) => ({
          date: dayText(sum.day),
          ...shownUsed(sum),
          ...(stack === undefined ? {} : partsOf(sum.day)),
        })),
        by_key: report.byKey.map((sum) => ({ ...nameOf(sum.keyHash), ...shownUsed(sum) })),
      }),
    )
  },
)
