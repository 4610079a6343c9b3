// GET /platform/balances/: the account's balance day by day.

import * as z from 'zod'
import { DAY_MS } from '../../core/time.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { AMOUNTS, AMOUNTS_EXAMPLE, shownAmounts } from '../invoice.ts'
import { FOR_READING } from '../own-account.ts'
import { Day, dayText, KEPT_DAYS, usageQuery, usageWindow } from '../usage-window.ts'

const BalanceDay = z.object({ date: Day, ...AMOUNTS }).meta({ id: 'BalanceDay' })

export const ownBalances = defineEndpoint(
  {
    id: 'ownBalances',
    method: 'get',
    path: '/platform/balances/',
    summary: 'The balance of the account, a UTC day each, and what moved it',
    description: `${FOR_READING} Without parameters the last month. Days before the account’s first credits, and of more than 400 days ago, are left out; the last one is today so far.`,
    door: 'key',
    query: usageQuery({}),
    answers: {
      200: {
        description: 'The days',
        schema: enveloped(z.object({ days: z.array(BalanceDay).describe('Oldest first') })),
        example: inEnvelope({ days: [{ date: '2026-11-01', ...AMOUNTS_EXAMPLE }] }),
      },
    },
    refusals: [400],
  },
  async ({ query, identity: { account } }, { meterOf, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const times = Array.from({ length: (toMs - fromMs) / DAY_MS + 1 }, (_, i) => fromMs + i * DAY_MS)
    const { sinceMs, sums } = await meterOf(account).statementSums(times)
    const nowMs = now()
    // Of days before, what came is known, and not all that was spent.
    const keptMs = nowMs - KEPT_DAYS * DAY_MS
    const days = sums.flatMap((each, i) => {
      const beginMs = times[i]!
      const endMs = times[i + 1]!
      const isKnown = sinceMs !== null && endMs > sinceMs && beginMs > keptMs && beginMs <= nowMs
      return isKnown ? [{ date: dayText(beginMs), ...shownAmounts(each) }] : []
    })
    return reply(200, inEnvelope({ days }))
  },
)
