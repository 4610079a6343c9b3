// historicalOrders: latest orders of a user with their final status, newest first, at most 2,000. Same response as the
// exchange's API.

import * as z from 'zod'
import { FRONTEND_ORDER, TIME } from '../../protocol/info/examples.ts'
import { OrderWithStatus } from '../../protocol/info/order-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const historicalOrders = ofUserQuery({
  type: 'historicalOrders',
  summary: "A user's latest orders, with their status",
  example: [{ order: FRONTEND_ORDER, status: 'filled', statusTimestamp: TIME }],
  response: () => z.array(OrderWithStatus),
})
