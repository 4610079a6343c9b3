// GET /platform/key/usage/: what the key that asks used, and no other key of its account.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { Label } from '../key-shapes.ts'
import { REPORTED, shownReport, shownUsed, TYPE_USED_EXAMPLE, TypeUsed, USED, USED_EXAMPLE } from '../usage-shapes.ts'
import { Day, dayText, usageQuery, usageWindow } from '../usage-window.ts'

const KeyUsage = z
  .object({
    prefix: z.string().nullable().describe('The key’s first twelve characters'),
    label: Label,
    ...REPORTED,
    by_day: z.array(z.object({ date: Day, ...USED })).describe('Days with any use, oldest first'),
    by_type: z.array(TypeUsed).describe('What it was spent on, the most first'),
  })
  .meta({ id: 'KeyUsage' })

export const ownKeyUsage = defineEndpoint(
  {
    id: 'ownKeyUsage',
    method: 'get',
    path: '/platform/key/usage/',
    summary: 'What the key itself used, per day and per type',
    description: 'Free of charge, with or without the last slash.',
    door: 'key',
    everyKey: true,
    query: usageQuery({}),
    answers: {
      200: {
        description: 'The report',
        schema: enveloped(KeyUsage),
        example: inEnvelope({
          prefix: 'cqt_9fKxWq2T',
          label: 'bot',
          period: { from: '2026-10-22', to: '2026-11-22' },
          totals: USED_EXAMPLE,
          by_day: [{ date: '2026-11-21', ...USED_EXAMPLE }],
          by_type: [TYPE_USED_EXAMPLE],
        }),
      },
    },
    refusals: [400],
  },
  async ({ query, identity: { account, keyHash } }, { keys, meterOf, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const [key, report] = await Promise.all([keys.hashed(keyHash), meterOf(account).usageOfKey(keyHash, fromMs, toMs)])
    return reply(
      200,
      inEnvelope({
        prefix: key?.prefix ?? null,
        label: key?.label ?? '',
        ...shownReport(report, window.value),
        by_day: report.byDay.map((sum) => ({ date: dayText(sum.day), ...shownUsed(sum) })),
      }),
    )
  },
)
