// userFills: fills of the wallets that are named, all of a block in one frame. Who names one wallet by `user` has its
// fills in the public server's shape besides: its SDKs send `user`, read `data`, and fail without it.

import * as z from 'zod'
import { Address, Fill } from '../../protocol/feed/block.ts'
import { AggregateByTime, oneOfWallets, WALLETS, walletsOf } from '../body-fields.ts'
import { defineEventChannel, ONE_CREDIT } from '../channel.ts'
import {
  EXAMPLE_FILL,
  encodeFills,
  FILL_VIEWS,
  fillsFrames,
  fillView,
  NodeFill,
  withoutWallets,
} from '../events/fill-view.ts'

const TYPE = 'userFills'
const FRAMES = fillsFrames(TYPE)

/** Where the subscription has `user`: its fills once more. */
const ofUser = <Shown extends z.ZodType>(fill: Shown) => ({
  data: z.object({ user: Address, fills: z.array(fill) }).optional(),
})

export const userFills = defineEventChannel({
  type: TYPE,
  summary: 'Fills of up to 1,000 wallets',
  example: { request: { addresses: [EXAMPLE_FILL[0]] }, frame: { channel: TYPE, fills: [EXAMPLE_FILL] } },
  request: z
    .strictObject({
      type: z.literal(TYPE),
      ...WALLETS,
      aggregateByTime: AggregateByTime.describe('Whether partial fills of one order are merged; absent: no'),
    })
    .superRefine(oneOfWallets)
    .transform((sent) => ({
      addresses: walletsOf(sent),
      aggregate: sent.aggregateByTime === true,
      isOfUser: sent.user !== undefined,
    })),
  frame: FRAMES.frame.extend(ofUser(Fill)),
  published: FRAMES.published.extend(ofUser(NodeFill)),
  price: ONE_CREDIT,
  source: 'events',
  by: 'address',
  views: FILL_VIEWS,
  view: fillView,
  names: ({ addresses }) => addresses,
  namesOf: ([user]) => [user],
  framed: 'per body',
  encode: (pieces, meta, user, { isOfUser }) => {
    const data = isOfUser ? `,"data":{"user":"${user}","fills":[${withoutWallets(pieces).join(',')}]}` : ''
    return encodeFills(TYPE, pieces, meta, data)
  },
})
