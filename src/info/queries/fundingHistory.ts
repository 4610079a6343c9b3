// fundingHistory: hourly funding rates of a coin, oldest first, at most 500. Same response as the exchange's API. In
// old rows `premium` can be missing or NaN.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME } from '../../protocol/info/examples.ts'
import { Market, WINDOW, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

const FundingRate = () =>
  z.looseObject({
    coin: z.string(),
    fundingRate: Decimal.describe('Hourly rate, as a fraction'),
    premium: z.union([Decimal, z.literal('NaN')]).optional(),
    time: z.int(),
  })

export const fundingHistory = passThroughQuery({
  type: 'fundingHistory',
  summary: 'Hourly funding rates of a coin',
  example: {
    request: { coin: 'BTC', startTime: TIME },
    response: [{ coin: 'BTC', fundingRate: '0.0000125', premium: '-0.0003', time: TIME }],
  },
  request: withOrderedWindow(
    z.object({
      type: z.literal('fundingHistory'),
      coin: Market,
      ...WINDOW,
    }),
  ),
  response: () => z.array(FundingRate()),
  freshness: { class: 'slow', freshMs: 10_000 },
})
