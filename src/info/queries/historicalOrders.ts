// historicalOrders: the last orders of a user and what became of them, newest first, at most 2,000. Wire-equal.

import * as z from 'zod'
import { FRONTEND_ORDER, TIME, USER } from '../../protocol/info/examples.ts'
import { OrderWithStatus } from '../../protocol/info/order-shapes.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const historicalOrders = passThroughQuery({
  type: 'historicalOrders',
  summary: 'The last orders of a user and what became of them',
  example: { request: { user: USER }, response: [{ order: FRONTEND_ORDER, status: 'filled', statusTimestamp: TIME }] },
  request: z.object({ type: z.literal('historicalOrders'), user: UserAddress }),
  response: z.array(OrderWithStatus),
  freshness: { class: 'user' },
})
