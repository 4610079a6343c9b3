// userTwapSliceFillsByTime: fills of a user's TWAP orders in a time window, newest first, at most 2,000. Same response
// as the exchange's API. Fills come from our own files; older ones come from an upstream source.

import * as z from 'zod'
import { FILL, TIME, USER } from '../../protocol/info/examples.ts'
import { TwapSliceFill } from '../../protocol/info/order-shapes.ts'
import { Flag, UserAddress, WINDOW, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { RowCursor, withOwnCursor } from '../../protocol/info/row-cursor.ts'
import { defineQuery } from '../query.ts'
import { slicesAnswer } from '../sources/user-fills.ts'

export const userTwapSliceFillsByTime = defineQuery({
  type: 'userTwapSliceFillsByTime',
  summary: "Fills of a user's TWAP orders in a time window",
  example: { request: { user: USER, startTime: TIME }, response: [{ fill: FILL, twapId: 3 }] },
  request: withOwnCursor(
    withOrderedWindow(
      z.object({
        type: z.literal('userTwapSliceFillsByTime'),
        user: UserAddress,
        ...WINDOW,
        aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
        cursor: RowCursor,
      }),
    ),
  ),
  response: () => z.array(TwapSliceFill),
  freshness: { class: 'user' },
  needs: ['events', 'upstream'],
  resolve: (request, from) => slicesAnswer(request, true, from),
})
