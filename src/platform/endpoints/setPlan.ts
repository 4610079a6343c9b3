// PUT /admin/plans/{name}.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { WARNINGS, warned } from '../fields.ts'
import { PLAN_EXAMPLE, PlanName, SetPlan, ShownPlan, shownPlan } from '../plan-shapes.ts'

export const setPlan = defineEndpoint(
  {
    id: 'setPlan',
    method: 'put',
    path: '/admin/plans/{name}',
    summary: 'Add a plan, or change the fields that are sent',
    description:
      'A new plan needs `credits` and `rest_requests_per_second`. New accounts have a change at once, those on the plan as ' +
      '`applyPlan` tells them.',
    door: 'admin',
    params: { name: PlanName },
    body: { schema: SetPlan, optional: false, example: { credits: 12000, rest_requests_per_second: 8 } },
    answers: {
      200: {
        description: 'The plan as it is now',
        schema: z.object({ ...ShownPlan.shape, ...WARNINGS }),
        example: PLAN_EXAMPLE,
      },
    },
    refusals: [409],
  },
  async ({ params: { name }, body: { warnings, ...change } }, { plans }) => {
    const plan = await plans.set(name, change)
    return plan.ok ? reply(200, { ...shownPlan(plan.value), ...warned(warnings) }) : plan
  },
)
