// isVip: whether a user is a VIP, null where the exchange does not say. Wire-equal.

import * as z from 'zod'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const IsVipRequest = z.object({ type: z.literal('isVip'), user: UserAddress })

export const isVip = defineQuery({
  type: 'isVip',
  summary: 'Whether a user is a VIP',
  example: { request: { user: USER }, response: true },
  request: IsVipRequest,
  response: z.boolean().nullable(),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
