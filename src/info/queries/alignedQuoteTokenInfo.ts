// alignedQuoteTokenInfo: whether a quote token is aligned with the exchange, and what its issuer owes. Same response as
// the exchange's API.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME } from '../../protocol/info/examples.ts'
import { SpotToken } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const alignedQuoteTokenInfo = passThroughQuery({
  type: 'alignedQuoteTokenInfo',
  summary: 'Alignment of a quote token',
  example: {
    request: { token: 268 },
    response: {
      isAligned: true,
      firstAlignedTime: TIME,
      evmMintedSupply: '1000000.0',
      dailyAmountOwed: [['2026-10-01', '82.5']],
      predictedRate: '0.0412',
    },
  },
  request: z.object({
    type: z.literal('alignedQuoteTokenInfo'),
    token: SpotToken,
  }),
  response: () =>
    z
      .looseObject({
        isAligned: z.boolean(),
        firstAlignedTime: z.int().nullable().describe('Time in Unix ms'),
        evmMintedSupply: Decimal,
        dailyAmountOwed: z.array(z.tuple([z.string().describe('Date'), Decimal.describe('Amount')])),
        predictedRate: Decimal,
      })
      .nullable(),
  freshness: { class: 'fixed' },
})
