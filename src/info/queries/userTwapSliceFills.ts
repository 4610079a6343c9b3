// userTwapSliceFills: latest fills of a user's TWAP orders, newest first, at most 2,000. Same response as the
// exchange's API. Fills come from our own files; older ones come from an upstream source.

import * as z from 'zod'
import { FILL, USER } from '../../protocol/info/examples.ts'
import { TwapSliceFill } from '../../protocol/info/order-shapes.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery } from '../query.ts'
import { slicesAnswer } from '../sources/user-fills.ts'

export const userTwapSliceFills = defineQuery({
  type: 'userTwapSliceFills',
  summary: "Latest fills of a user's TWAP orders",
  example: { request: { user: USER }, response: [{ fill: FILL, twapId: 3 }] },
  request: z.object({ type: z.literal('userTwapSliceFills'), user: UserAddress }),
  response: () => z.array(TwapSliceFill),
  freshness: { class: 'user' },
  needs: ['events', 'upstream'],
  resolve: (request, from) => slicesAnswer(request, false, from),
})
