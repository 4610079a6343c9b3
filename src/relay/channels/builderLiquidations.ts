// builderLiquidations: liquidations of positions that were last traded through a builder, all of a block in one frame. The
// log knows which (block-log/position-builders.ts); here the builder stands in the fill, which has none of its own.

import * as z from 'zod'
import { aggregateFills } from '../../archive/merged-fills.ts'
import { dexOf } from '../../core/coin.ts'
import type { UserFill } from '../../protocol/feed/block.ts'
import { AggregateByTime, WalletAddress } from '../body-fields.ts'
import { defineEventChannel, type EventView, ONE_CREDIT } from '../channel.ts'
import { EXAMPLE_FILL, EXAMPLE_LIQUIDATION, encodeFills, fillsFrames, NodeFill } from '../events/fill-view.ts'

const TYPE = 'builderLiquidations'
const MAIN_DEX = 'main'
const { builder: BUILDER } = EXAMPLE_FILL[1]

const LIQUIDATIONS: EventView<UserFill> = {
  items: ({ fills, through = [] }) =>
    through.flatMap(([index, builder]): UserFill[] => {
      const [user, fill] = fills[index] ?? []
      return user && fill ? [[user, { ...fill, builder }]] : []
    }),
  text: JSON.stringify,
}
const MERGED: EventView<UserFill> = { ...LIQUIDATIONS, items: (block) => aggregateFills(LIQUIDATIONS.items(block)) }

export const builderLiquidations = defineEventChannel({
  type: TYPE,
  summary: 'Liquidations of positions last traded through a builder',
  example: {
    request: { builder: BUILDER },
    frame: { channel: TYPE, fills: [[EXAMPLE_LIQUIDATION[0], { ...EXAMPLE_LIQUIDATION[1], builder: BUILDER }]] },
  },
  request: z
    .strictObject({
      type: z.literal(TYPE),
      builder: WalletAddress.describe('Builder address'),
      dex: z
        .string()
        .regex(/^[\x21-\x7e]{1,64}$/, `must be the name of a DEX, or "${MAIN_DEX}"`)
        .optional()
        .describe('DEX to limit liquidations to: `main` or a name'),
      aggregateByTime: AggregateByTime.describe('Whether partial fills of one order are merged; absent: no'),
    })
    .transform(({ builder, dex, aggregateByTime }) => ({
      dex: dex === MAIN_DEX ? '' : dex,
      name: dex === undefined ? builder : nameOf(builder, dex),
      aggregate: aggregateByTime === true,
    })),
  ...fillsFrames(TYPE, NodeFill.required({ builder: true, liquidation: true })),
  price: ONE_CREDIT,
  source: 'events',
  by: 'address',
  views: [LIQUIDATIONS, MERGED],
  view: ({ aggregate }) => (aggregate ? MERGED : LIQUIDATIONS),
  names: ({ name }) => [name],
  namesOf: ([, { builder, coin }]) => [String(builder), nameOf(String(builder), dexOf(coin) || MAIN_DEX)],
  needs: 'events',
  framed: 'per body',
  encode: (pieces, meta) => encodeFills(TYPE, pieces, meta),
})

/** Of one builder on one DEX. */
function nameOf(builder: string, dex: string): string {
  return `${builder} ${dex}`
}
