// fundingHistory: the hourly funding rates of a coin, oldest first, at most 500. Wire-equal. Old rows may lack `premium`
// or say NaN.

import * as z from 'zod'
import { CoinName } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME } from '../../protocol/info/examples.ts'
import { EndTime, isInOrder, REVERSED_WINDOW, StartTime } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const FRESH_MS = 10_000

const FundingHistoryRequest = z
  .object({
    type: z.literal('fundingHistory'),
    coin: CoinName.describe(
      'Market: a perp such as `BTC` or `xyz:GOLD`, a spot pair such as `@107`, an outcome such as `#41`',
    ),
    startTime: StartTime,
    endTime: EndTime,
  })
  .refine(isInOrder, REVERSED_WINDOW)

const FundingRate = z.looseObject({
  coin: z.string(),
  fundingRate: Decimal.describe('Hourly rate, as a fraction'),
  premium: z.union([Decimal, z.literal('NaN')]).optional(),
  time: z.int(),
})

export const fundingHistory = defineQuery({
  type: 'fundingHistory',
  summary: 'Hourly funding rates of a coin',
  example: {
    request: { coin: 'BTC', startTime: TIME },
    response: [{ coin: 'BTC', fundingRate: '0.0000125', premium: '-0.0003', time: TIME }],
  },
  request: FundingHistoryRequest,
  response: z.array(FundingRate),
  price: ONE_CREDIT,
  freshness: { class: 'slow', freshMs: FRESH_MS },
  needs: ['upstream'],
  resolve: passThrough,
})
