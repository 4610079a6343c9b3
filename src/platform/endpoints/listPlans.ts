// GET /admin/plans.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { PLAN_EXAMPLE, ShownPlan, shownPlan } from '../plan-shapes.ts'

export const listPlans = defineEndpoint(
  {
    id: 'listPlans',
    method: 'get',
    path: '/admin/plans',
    summary: 'All plans, by name',
    door: 'admin',
    answers: {
      200: {
        description: 'The plans',
        schema: z.object({ plans: z.array(ShownPlan).describe('By name') }),
        example: { plans: [PLAN_EXAMPLE] },
      },
    },
    refusals: [],
  },
  async (_, { plans }) => reply(200, { plans: (await plans.list()).map(shownPlan) }),
)
