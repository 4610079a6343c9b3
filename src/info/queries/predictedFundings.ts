// predictedFundings: next funding of every perp of the main DEX, here (`HlPerp`) and on other exchanges; null if not
// traded there. Same response as the exchange's API.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME } from '../../protocol/info/examples.ts'
import { bareQuery } from '../sources/pass-through.ts'

const PredictedFunding = () =>
  z.looseObject({
    fundingRate: Decimal.describe('Hourly rate, as a fraction'),
    nextFundingTime: z.int(),
    fundingIntervalHours: z.int().optional(),
  })

export const predictedFundings = bareQuery({
  type: 'predictedFundings',
  summary: 'Next funding rates here and on other exchanges',
  example: [
    [
      'BTC',
      [
        ['BinPerp', null],
        ['HlPerp', { fundingRate: '0.0000125', nextFundingTime: TIME, fundingIntervalHours: 1 }],
      ],
    ],
  ],
  response: () =>
    z.array(
      z.tuple([
        z.string().describe('Coin'),
        z
          .array(
            z.tuple([
              z.string().describe('Exchange; `HlPerp` is this one'),
              PredictedFunding().nullable().describe('Next funding; null: coin not traded there'),
            ]),
          )
          .describe('Rate at each exchange'),
      ]),
    ),
  freshness: { class: 'tick' },
})
