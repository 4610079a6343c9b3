// allFills: fills of everyone, of one market or of all, all of a block in one frame.

import * as z from 'zod'
import { CoinName } from '../../protocol/feed/block.ts'
import { AggregateByTime } from '../body-fields.ts'
import { defineEventChannel, EVERY, ONE_CREDIT } from '../channel.ts'
import { EXAMPLE_FILL, encodeFills, FILL_VIEWS, fillsFrames, fillView } from '../events/fill-view.ts'

export const allFills = defineEventChannel({
  type: 'allFills',
  summary: 'Fills of everyone, in one market or in all',
  example: { request: { coin: 'BTC' }, frame: { channel: 'allFills', fills: [EXAMPLE_FILL] } },
  request: z
    .strictObject({
      type: z.literal('allFills'),
      coin: CoinName.optional().describe('One market; absent: all'),
      aggregateByTime: AggregateByTime.describe('Whether partial fills of one order are merged; absent: no'),
    })
    .transform(({ coin, aggregateByTime }) => ({ coin: coin ?? EVERY, aggregate: aggregateByTime === true })),
  ...fillsFrames('allFills'),
  price: ONE_CREDIT,
  source: 'events',
  by: 'coin',
  views: FILL_VIEWS,
  view: fillView,
  names: ({ coin }) => [coin],
  namesOf: ([, { coin }]) => [coin, EVERY],
  framed: 'per body',
  encode: (pieces, meta) => encodeFills('allFills', pieces, meta),
})
