// builderFills: fills of orders that came through the builders who are named, all of a block in one frame.

import * as z from 'zod'
import { AggregateByTime, WalletAddress, Wallets } from '../body-fields.ts'
import { defineEventChannel, ONE_CREDIT } from '../channel.ts'
import { EXAMPLE_FILL, encodeFills, FILL_VIEWS, fillsFrames, fillView, NodeFill } from '../events/fill-view.ts'

const TYPE = 'builderFills'

export const builderFills = defineEventChannel({
  type: TYPE,
  summary: 'Fills of orders that came through one builder, or up to 1,000',
  example: { request: { builder: EXAMPLE_FILL[1].builder }, frame: { channel: TYPE, fills: [EXAMPLE_FILL] } },
  request: z
    .strictObject({
      type: z.literal(TYPE),
      builder: WalletAddress.optional().describe('Builder address'),
      addresses: Wallets.optional().describe(
        'Builders, in any letter case; send exactly one of `addresses` and `builder`',
      ),
      aggregateByTime: AggregateByTime.describe('Whether partial fills of one order are merged; absent: no'),
    })
    .refine(({ builder, addresses }) => (builder === undefined) !== (addresses === undefined), {
      path: ['builder'],
      message: 'send exactly one of builder (string), addresses (list)',
    })
    .transform(({ builder, addresses, aggregateByTime }) => ({
      builders: [...new Set(addresses ?? [builder!])],
      aggregate: aggregateByTime === true,
    })),
  ...fillsFrames(TYPE, NodeFill.required({ builder: true })),
  price: ONE_CREDIT,
  source: 'events',
  by: 'address',
  views: FILL_VIEWS,
  view: fillView,
  names: ({ builders }) => builders,
  namesOf: ([, { builder }]) => (typeof builder === 'string' ? [builder] : []),
  framed: 'per body',
  encode: (pieces, meta) => encodeFills(TYPE, pieces, meta),
})
