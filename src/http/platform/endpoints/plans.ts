// Operator endpoints for plans.

import * as z from 'zod'
import { AccountId } from '../../../core/ids.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { PlanName, PlanView, planView, SetPlan } from '../plan-shapes.ts'

const PLAN_EXAMPLE = { name: 'entry', credits: '10000', period: 'month', accounts: 12 }

const listPlans = defineEndpoint({
  id: 'listPlans',
  route: 'GET /admin/plans',
  summary: 'List all plans, sorted by name',
  responses: okResponse('The plans', z.object({ plans: z.array(PlanView).describe('Plans, sorted by name') }), {
    plans: [PLAN_EXAMPLE],
  }),
  handle: async (_, { plans }) => reply(200, { plans: (await plans.list()).map(planView) }),
})

const setPlan = defineEndpoint({
  id: 'setPlan',
  route: 'PUT /admin/plans/{name}',
  summary: 'Add a plan, or change the given fields of an existing plan',
  description:
    'A new plan needs `credits` and `rest_requests_per_second`. Changes apply to new accounts immediately, and to existing accounts when you call `applyPlan`.',
  params: { name: PlanName },
  body: { schema: SetPlan, optional: false, example: { credits: 12000, rest_requests_per_second: 8 } },
  responses: okResponse('The updated plan', PlanView, PLAN_EXAMPLE),
  refusals: [409],
  handle: async ({ params: { name }, body: change }, { plans }) => {
    const plan = await plans.set(name, change)
    return plan.ok ? reply(200, planView(plan.value)) : plan
  },
})

const applyPlan = defineEndpoint({
  id: 'applyPlan',
  route: 'POST /admin/plans/{name}/apply',
  summary: 'Apply a changed plan to its accounts',
  description:
    'Updates ten accounts per call: limits change immediately, credits starting with the next period. Repeat with `after` = `next` until `next` is null. Idempotent.',
  params: { name: PlanName },
  query: z.strictObject({ after: AccountId.optional().describe('Value of `next` from the previous call') }),
  responses: okResponse(
    'The progress',
    z.object({
      told: z.int().describe('Number of accounts updated by this call'),
      next: z.string().nullable().describe('Cursor for the next call; null: all accounts are updated'),
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
  summary: 'Remove a plan that no account uses',
  params: { name: PlanName },
  responses: okResponse('Removed', z.object({ removed: PlanName }), { removed: 'entry' }),
  refusals: [409],
  handle: async ({ params: { name } }, { plans }) => {
    const removed = await plans.remove(name)
    return removed.ok ? reply(200, { removed: name }) : removed
  },
})

export const PLANS = [listPlans, setPlan, applyPlan, removePlan]
