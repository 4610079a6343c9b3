// Plans, as the operator sets them.

import * as z from 'zod'
import { AccountId } from '../../../core/ids.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { PlanName, PlanView, planView, SetPlan } from '../plan-shapes.ts'

const PLAN_EXAMPLE = { name: 'entry', credits: '10000', period: 'month', accounts: 12 }

const listPlans = defineEndpoint({
  id: 'listPlans',
  route: 'GET /admin/plans',
  summary: 'All plans, by name',
  responses: okResponse('The plans', z.object({ plans: z.array(PlanView).describe('By name') }), {
    plans: [PLAN_EXAMPLE],
  }),
  handle: async (_, { plans }) => reply(200, { plans: (await plans.list()).map(planView) }),
})

const setPlan = defineEndpoint({
  id: 'setPlan',
  route: 'PUT /admin/plans/{name}',
  summary: 'Add a plan, or change the fields that are sent',
  description:
    'A new plan needs `credits` and `rest_requests_per_second`. New accounts have a change at once, those on the plan as ' +
    '`applyPlan` tells them.',
  params: { name: PlanName },
  body: { schema: SetPlan, optional: false, example: { credits: 12000, rest_requests_per_second: 8 } },
  responses: okResponse('The plan as it is now', PlanView, PLAN_EXAMPLE),
  refusals: [409],
  handle: async ({ params: { name }, body: change }, { plans }) => {
    const plan = await plans.set(name, change)
    return plan.ok ? reply(200, planView(plan.value)) : plan
  },
})

const applyPlan = defineEndpoint({
  id: 'applyPlan',
  route: 'POST /admin/plans/{name}/apply',
  summary: 'Tell accounts on a plan what it gives now',
  description:
    'Ten accounts a call: credits from their next period on, limits at once. Call again with `after` = `next` until ' +
    '`next` is null. Again is the same.',
  params: { name: PlanName },
  query: z.strictObject({ after: AccountId.optional().describe('`next` of the call before') }),
  responses: okResponse(
    'How far it came',
    z.object({
      told: z.int().describe('Accounts that this call told'),
      next: z.string().nullable().describe('The last one, where there are more; null: all were told'),
    }),
    { told: 10, next: 'acct_7YwRzDGpQk2m' },
  ),
  handle: async ({ params: { name }, query: { after = '' } }, { plans }) => {
    const applied = await plans.apply(name, after)
    return applied.ok ? reply(200, applied.value) : applied
  },
})

const removePlan = defineEndpoint({
  id: 'removePlan',
  route: 'DELETE /admin/plans/{name}',
  summary: 'Remove a plan that no account is on',
  params: { name: PlanName },
  responses: okResponse('Removed', z.object({ removed: PlanName }), { removed: 'entry' }),
  refusals: [409],
  handle: async ({ params: { name } }, { plans }) => {
    const removed = await plans.remove(name)
    return removed.ok ? reply(200, { removed: name }) : removed
  },
})

export const PLANS = [listPlans, setPlan, applyPlan, removePlan]
