// POST /admin/orders/{number}/void.

import { defineEndpoint, reply } from '../endpoint.ts'
import { ORDER_EXAMPLE, ORDER_PARAMS, ShownOrder, shownOrder } from '../order-shapes.ts'

export const voidOrder = defineEndpoint(
  {
    id: 'voidOrder',
    method: 'post',
    path: '/admin/orders/{number}/void',
    summary: 'Make an order void, so that it is not paid any more',
    description:
      'Where a provider takes the money its session is ended first; an order that is paid is refused with 409.',
    door: 'admin',
    role: 'billing',
    params: ORDER_PARAMS,
    answers: {
      200: {
        description: 'It is void',
        schema: ShownOrder,
        example: { ...ORDER_EXAMPLE, state: 'void', note: 'made void by the operator' },
      },
    },
    refusals: [404, 409],
  },
  async ({ params: { number } }, { checkout }) => {
    const order = await checkout.void(number)
    return order.ok ? reply(200, shownOrder(order.value)) : order
  },
)
