// POST /admin/plans/{name}/apply.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId } from '../fields.ts'
import { PlanName } from '../plan-shapes.ts'

export const applyPlan = defineEndpoint(
  {
    id: 'applyPlan',
    method: 'post',
    path: '/admin/plans/{name}/apply',
    summary: 'Tell accounts on a plan what it gives now',
    description:
      'Ten accounts a call: credits from their next period on, limits at once. Call again with `after` = `next` until ' +
      '`next` is null. Again is the same.',
    door: 'admin',
    params: { name: PlanName },
    query: z.strictObject({ after: AccountId.optional().describe('`next` of the call before') }),
    answers: {
      200: {
        description: 'How far it came',
        schema: z.object({
          told: z.int().describe('Accounts that this call told'),
          next: z.string().nullable().describe('The last one, where there are more; null: all were told'),
        }),
        example: { told: 10, next: 'acct_7YwRzDGpQk2m' },
      },
    },
    refusals: [404],
  },
  async ({ params: { name }, query: { after = '' } }, { plans }) => {
    const applied = await plans.apply(name, after)
    return applied.ok ? reply(200, applied.value) : applied
  },
)
