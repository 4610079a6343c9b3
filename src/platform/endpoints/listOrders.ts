// GET /admin/orders.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId } from '../fields.ts'
import { ORDER_EXAMPLE, OrderState, ShownOrder, shownOrder } from '../order-shapes.ts'

const PAGE = 100
const cursor = 'must be the "next" of the page before'

const Asked = z.strictObject({
  account: AccountId.optional().describe('Orders of this account alone'),
  state: OrderState.optional(),
  before: z
    .string()
    .regex(/^\d{1,12}$/, cursor)
    .transform(Number)
    .optional()
    .describe('`next` of the page before'),
})

export const listOrders = defineEndpoint(
  {
    id: 'listOrders',
    method: 'get',
    path: '/admin/orders',
    summary: 'Orders of credits, newest first',
    door: 'admin',
    query: Asked,
    answers: {
      200: {
        description: `At most ${PAGE} orders`,
        schema: z.object({
          orders: z.array(ShownOrder).describe('Newest first'),
          next: z.string().nullable().describe('`before` of the next page; null: this is the last'),
        }),
        example: { orders: [ORDER_EXAMPLE], next: null },
      },
    },
    refusals: [],
  },
  async ({ query }, { checkout }) => {
    const orders = await checkout.list({ ...query, limit: PAGE })
    return reply(200, {
      orders: orders.map(shownOrder),
      next: orders.length < PAGE ? null : String(orders.at(-1)!.seq),
    })
  },
)
