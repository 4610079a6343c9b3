// liquidationFills: fills of liquidations, of everyone and on both sides, all of a block in one frame.

import * as z from 'zod'
import { defineEventChannel, EVERY, ONE_CREDIT } from '../channel.ts'
import { EXAMPLE_LIQUIDATION, encodeFills, fillsFrames, fillView, NodeFill } from '../events/fill-view.ts'

const TYPE = 'liquidationFills'
const VIEW = fillView({ aggregate: false })

export const liquidationFills = defineEventChannel({
  type: TYPE,
  summary: 'Fills of liquidations, of everyone',
  example: { request: {}, frame: { channel: TYPE, fills: [EXAMPLE_LIQUIDATION] } },
  request: z.strictObject({ type: z.literal(TYPE) }),
  ...fillsFrames(TYPE, NodeFill.required({ liquidation: true })),
  price: ONE_CREDIT,
  source: 'events',
  by: null,
  views: [VIEW],
  view: () => VIEW,
  names: () => [EVERY],
  namesOf: ([, { liquidation }]) => (liquidation ? [EVERY] : []),
  framed: 'per body',
  encode: (pieces, meta) => encodeFills(TYPE, pieces, meta),
})
