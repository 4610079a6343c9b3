// orderStatus: order of a user by order id or client order id. Same response as the exchange's API. An unknown order
// returns `{"status":"unknownOid"}`.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { FRONTEND_ORDER, TIME, USER } from '../../protocol/info/examples.ts'
import { OrderWithStatus } from '../../protocol/info/order-shapes.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

const Oid = z.union(
  [
    z.int().min(0),
    z
      .string()
      .regex(/^0x[0-9a-fA-F]{32}$/)
      .toLowerCase(),
  ],
  'must be an order id (an integer) or a cloid (0x and 32 hex digits)',
)

export const orderStatus = passThroughQuery({
  type: 'orderStatus',
  summary: 'An order, looked up by order id or client order id',
  example: {
    request: { user: USER, oid: 7 },
    response: { status: 'order', order: { order: FRONTEND_ORDER, status: 'open', statusTimestamp: TIME } },
  },
  request: z.object({
    type: z.literal('orderStatus'),
    user: UserAddress,
    oid: Oid.describe('Order id or client order id (`cloid`)'),
  }),
  response: () => kindsBy('status', { order: { order: OrderWithStatus }, unknownOid: {} }),
  freshness: { class: 'user' },
})
