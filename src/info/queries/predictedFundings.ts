// predictedFundings: the next funding of every perp of the main DEX, here (`HlPerp`) and at other exchanges, null where they
// do not trade it. Wire-equal.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME } from '../../protocol/info/examples.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const PredictedFundingsRequest = z.object({ type: z.literal('predictedFundings') })

const PredictedFunding = z.looseObject({
  fundingRate: Decimal.describe('Hourly rate, as a fraction'),
  nextFundingTime: z.int(),
  fundingIntervalHours: z.int().optional(),
})

export const predictedFundings = defineQuery({
  type: 'predictedFundings',
  summary: 'The next funding rates here and elsewhere',
  example: {
    request: {},
    response: [
      [
        'BTC',
        [
          ['BinPerp', null],
          ['HlPerp', { fundingRate: '0.0000125', nextFundingTime: TIME, fundingIntervalHours: 1 }],
        ],
      ],
    ],
  },
  request: PredictedFundingsRequest,
  response: z.array(
    z.tuple([
      z.string().describe('Coin'),
      z
        .array(
          z.tuple([
            z.string().describe('Exchange; `HlPerp` is this one'),
            PredictedFunding.nullable().describe('Next funding; null: coin not traded there'),
          ]),
        )
        .describe('Rate at each exchange'),
    ]),
  ),
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream'],
  resolve: passThrough,
})
