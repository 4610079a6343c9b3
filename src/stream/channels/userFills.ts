// userFills: fills of the wallets that are named, all of a block in one frame.

import * as z from 'zod'
import { AggregateByTime, oneOfWallets, WALLETS, walletsOf } from '../body-fields.ts'
import { defineEventChannel, ONE_CREDIT } from '../channel.ts'
import { EXAMPLE_FILL, encodeFills, FILL_VIEWS, fillsFrame, fillView } from '../events/fill-view.ts'

export const userFills = defineEventChannel({
  type: 'userFills',
  summary: 'Fills of up to 1,000 wallets',
  example: { request: { addresses: [EXAMPLE_FILL[0]] }, frame: { channel: 'userFills', fills: [EXAMPLE_FILL] } },
  request: z
    .strictObject({ type: z.literal('userFills'), ...WALLETS, aggregateByTime: AggregateByTime })
    .superRefine(oneOfWallets)
    .transform((sent) => ({ addresses: walletsOf(sent), aggregate: sent.aggregateByTime === true })),
  frame: fillsFrame('userFills'),
  price: ONE_CREDIT,
  source: 'events',
  by: 'address',
  views: FILL_VIEWS,
  view: fillView,
  names: ({ addresses }) => addresses,
  namesOf: ([user]) => [user],
  framed: 'per body',
  encode: (pieces, meta) => encodeFills('userFills', pieces, meta),
})
