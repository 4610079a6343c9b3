// POST /platform/checkout.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { Credits } from '../fields.ts'
import { ORDER_EXAMPLE, ShownOrder, shownOrder } from '../order-shapes.ts'
import { FOR_MANAGING, manager } from '../own-account.ts'

const one = 'send "package" or "credits", and not both'

const Wanted = z
  .strictObject({
    package: z.string().max(64).optional().describe('Name of a package of `GET /platform/checkout`'),
    credits: Credits.optional().describe('So many, where they are sold in lots: a multiple of one'),
  })
  .refine((wanted) => (wanted.package === undefined) !== (wanted.credits === undefined), one)

export const checkout = defineEndpoint(
  {
    id: 'checkout',
    method: 'post',
    path: '/platform/checkout',
    summary: 'Order credits for the account',
    description:
      `${FOR_MANAGING} Answers with the order: it is paid at its \`url\`, or by hand as the operator says. Its credits come ` +
      'once it is paid and do not expire. An account orders at most 20 times a day what is not paid yet (429).',
    door: 'service',
    body: { schema: Wanted, optional: false, example: { package: 'small' } },
    answers: {
      201: {
        description: 'The order',
        schema: enveloped(z.object({ order: ShownOrder.describe('The order') })),
        example: inEnvelope({ order: ORDER_EXAMPLE }),
      },
    },
    refusals: [404],
  },
  async ({ identity: { account, keyHash }, body }, { keys, checkout: orders }) => {
    const caller = await manager(keys, keyHash)
    if (!caller.ok) return caller
    const begun = await orders.begin(account, body)
    return begun.ok ? reply(201, inEnvelope({ order: shownOrder(begun.value) })) : begun
  },
)
