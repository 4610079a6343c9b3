// PUT /admin/plans/{name}.

import { defineEndpoint, reply } from '../endpoint.ts'
import { PLAN_EXAMPLE, PlanName, SetPlan, ShownPlan, shownPlan } from '../plan-shapes.ts'

export const setPlan = defineEndpoint(
  {
    id: 'setPlan',
    method: 'put',
    path: '/admin/plans/{name}',
    summary: 'Add a plan, or change the fields that are sent',
    description:
      'A new plan needs `credits` and `requests_per_second`. New accounts have a change at once, those on the plan as ' +
      '`applyPlan` tells them.',
    door: 'admin',
    params: { name: PlanName },
    body: { schema: SetPlan, optional: false, example: { credits: 12000, requests_per_second: 8 } },
    answers: { 200: { description: 'The plan as it is now', schema: ShownPlan, example: PLAN_EXAMPLE } },
    refusals: [409],
  },
  async ({ params: { name }, body }, { plans }) => {
    const plan = await plans.set(name, body)
    return plan.ok ? reply(200, shownPlan(plan.value)) : plan
  },
)
