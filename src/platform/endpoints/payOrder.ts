// POST /admin/orders/{number}/paid.

import { defineEndpoint, reply } from '../endpoint.ts'
import { ORDER_PARAMS, PAID_EXAMPLE, ShownOrder, shownOrder } from '../order-shapes.ts'

export const payOrder = defineEndpoint(
  {
    id: 'payOrder',
    method: 'post',
    path: '/admin/orders/{number}/paid',
    summary: 'Mark an order paid, which grants its credits once',
    description:
      'The number of the order is the id of its grant: again is the same. Also for an order whose payment was refused or ' +
      'came too late.',
    door: 'admin',
    role: 'billing',
    params: ORDER_PARAMS,
    answers: {
      200: { description: 'It is paid, and its credits are there', schema: ShownOrder, example: PAID_EXAMPLE },
    },
    refusals: [404, 409],
  },
  async ({ params: { number } }, { checkout }) => {
    const order = await checkout.pay(number)
    return order.ok ? reply(200, shownOrder(order.value)) : order
  },
)
