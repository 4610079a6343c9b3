// userTwapSliceFillsByTime: the fills of a user's TWAP orders in a window, at most 2,000. Wire-equal.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { FILL, TIME, USER } from '../shapes/examples.ts'
import { TwapSliceFill } from '../shapes/order-shapes.ts'
import { Flag, isInOrder, Moment, optional, REVERSED_WINDOW, UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserTwapSliceFillsByTimeRequest = z
  .object({
    type: z.literal('userTwapSliceFillsByTime'),
    user: UserAddress,
    startTime: Moment,
    endTime: optional(Moment),
    aggregateByTime: Flag,
  })
  .refine(isInOrder, REVERSED_WINDOW)

export const userTwapSliceFillsByTime = defineQuery({
  type: 'userTwapSliceFillsByTime',
  summary: "The fills of a user's TWAP orders in a window",
  example: { request: { user: USER, startTime: TIME }, response: [{ fill: FILL, twapId: 3 }] },
  request: UserTwapSliceFillsByTimeRequest,
  response: z.array(TwapSliceFill),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
