// isVip: whether a user is a VIP, null where the exchange does not say. Wire-equal.

import * as z from 'zod'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const isVip = passThroughQuery({
  type: 'isVip',
  summary: 'Whether a user is a VIP',
  example: { request: { user: USER }, response: true },
  request: z.object({ type: z.literal('isVip'), user: UserAddress }),
  response: z.boolean().nullable(),
  freshness: { class: 'user' },
})
