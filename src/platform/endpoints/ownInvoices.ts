// GET /platform/invoices/: the months of the account.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { InvoiceSums, monthTimes, SUMS_EXAMPLE, shownSums } from '../invoice.ts'
import { FOR_READING } from '../own-account.ts'

export const ownInvoices = defineEndpoint(
  {
    id: 'ownInvoices',
    method: 'get',
    path: '/platform/invoices/',
    summary: 'What the account was given and charged, a UTC month each',
    description: `${FOR_READING} Newest first, at most thirteen months; the first one is this month so far.`,
    door: 'key',
    answers: {
      200: {
        description: 'The months',
        schema: enveloped(z.object({ invoices: z.array(InvoiceSums).describe('Newest first') })),
        example: inEnvelope({ invoices: [SUMS_EXAMPLE] }),
      },
    },
    refusals: [],
  },
  async ({ identity: { account } }, { meterOf, now }) => {
    const nowMs = now()
    const times = monthTimes(nowMs)
    const { sinceMs, sums } = await meterOf(account).statementSums(times)
    const invoices = sums
      .map((each, i) => ({ each, fromMs: times[i]!, toMs: times[i + 1]! }))
      .filter(({ toMs }) => sinceMs !== null && toMs > sinceMs)
      .map(({ each, fromMs, toMs }) => shownSums(each, fromMs, toMs, nowMs))
    return reply(200, inEnvelope({ invoices: invoices.reverse() }))
  },
)
