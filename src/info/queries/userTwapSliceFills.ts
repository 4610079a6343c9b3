// userTwapSliceFills: the last fills of a user's TWAP orders, newest first, at most 2,000. Wire-equal.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { FILL, USER } from '../shapes/examples.ts'
import { TwapSliceFill } from '../shapes/order-shapes.ts'
import { UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserTwapSliceFillsRequest = z.object({ type: z.literal('userTwapSliceFills'), user: UserAddress })

export const userTwapSliceFills = defineQuery({
  type: 'userTwapSliceFills',
  summary: "The last fills of a user's TWAP orders",
  example: { request: { user: USER }, response: [{ fill: FILL, twapId: 3 }] },
  request: UserTwapSliceFillsRequest,
  response: z.array(TwapSliceFill),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
