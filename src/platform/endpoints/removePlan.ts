// DELETE /admin/plans/{name}.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { PlanName } from '../plan-shapes.ts'

export const removePlan = defineEndpoint(
  {
    id: 'removePlan',
    method: 'delete',
    path: '/admin/plans/{name}',
    summary: 'Remove a plan that no account is on',
    door: 'admin',
    params: { name: PlanName },
    answers: {
      200: { description: 'Removed', schema: z.object({ removed: PlanName }), example: { removed: 'entry' } },
    },
    refusals: [404, 409],
  },
  async ({ params: { name } }, { plans }) => {
    const removed = await plans.remove(name)
    return removed.ok ? reply(200, { removed: name }) : removed
  },
)
