// GET /admin/refusals.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId } from '../fields.ts'
import { Before, Limit, Next, pageOf } from '../page-fields.ts'
import { REFUSED_EXAMPLE, Refused, shownRefusal } from '../refused-shapes.ts'

export const listRefusals = defineEndpoint(
  {
    id: 'listRefusals',
    method: 'get',
    path: '/admin/refusals',
    summary: 'What callers with a key were refused, newest first',
    description:
      'Some seconds late; the newest 500 of each account, and of many at once some: `business` counts them all.',
    door: 'admin',
    query: z.strictObject({
      account: AccountId.optional().describe('Of this account alone'),
      code: z.string().max(64).optional().describe('Of this code alone'),
      before: Before,
      limit: Limit,
    }),
    answers: {
      200: {
        description: 'A page of refusals',
        schema: z.object({ refusals: z.array(Refused).describe('Newest first'), next: Next }),
        example: { refusals: [REFUSED_EXAMPLE], next: null },
      },
    },
    refusals: [],
  },
  async ({ query: { limit, ...filter } }, { business }) => {
    const { rows, next } = pageOf(await business.refusals(filter, limit + 1), limit)
    return reply(200, { refusals: rows.map(shownRefusal), next })
  },
)
